"""Full-text search in PostgreSQL for queries of another language, and its fusion with the search by vectors.

A query comes as concepts, each said by weighted terms: what a lexicon makes of the words of a query
(:mod:`isogloss.lexical.translation`). PostgreSQL's own ranking knows neither weights of terms nor which are rare, so
the score is put together of what it does know, in one statement:

    score(q, d) = sum_c n_c idf(c) max_t w_t r(t, d)        idf(c) = ln(1 + (N - df(c) + .5) / (df(c) + .5))

r is ``ts_rank``, which grows with the occurrences of a term to a bound and is divided by 1 + ln |d|; df(c) counts the
documents with any term of the concept. The maximum, and not the sum, since translations of one word are one piece of
evidence. Terms go through the same configuration as the documents.

    fused(d) = w / (60 + rank_vectors(d)) + (1 - w) / (60 + rank_words(d))

(reciprocal rank fusion: Cormack, Clarke and Büttcher 2009). A document that a list does not hold has the rank after its
last, as in :mod:`isogloss.search.fusion`, which stands to the right of this room and can fuse the same two lists by
their scores.
"""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.lexical.bm25 import Concept
from isogloss.stores.pgvector_connection import Connection
from isogloss.stores.pgvector_layout import Layout
from isogloss.stores.pgvector_search import Scope
from isogloss.stores.pgvector_writing import sayable
from isogloss.stores.store import Answer, Found

_CONSTANT = 60


def search_words(
    connection: Connection, layout: Layout, scope: Scope, queries: Sequence[Sequence[Concept]], k: int
) -> list[Answer]:
    """The ``k`` best documents for each query, of those that hold any of its terms.

    What a filter takes away is taken away last: a document has one score for a query, filtered or not.
    """
    if not layout.full_text:
        raise InputError(f"{layout.name}: this store keeps no words; make it again with full_text=True")
    return [_search(connection, layout, scope, concepts, k) for concepts in queries]


def fused(by_vectors: Answer, by_words: Answer, k: int, weight: float) -> Answer:
    """The ``k`` best of two lists by their ranks; ``weight`` is that of the vectors.

    >>> one, other = (Answer((Found(first, 1.0), Found(second, 0.5))) for first, second in ("ab", "bc"))
    >>> [hit.id for hit in fused(one, other, 2, 0.5).found]
    ['b', 'a']
    """
    shares: dict[str, float] = dict.fromkeys((hit.id for hit in (*by_vectors.found, *by_words.found)), 0.0)
    for answer, share in ((by_vectors, weight), (by_words, 1 - weight)):
        ranks = {hit.id: rank for rank, hit in enumerate(answer.found, start=1)}
        for id_ in shares:
            shares[id_] += share / (_CONSTANT + ranks.get(id_, len(ranks) + 1))
    best = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:k]
    return Answer(tuple(Found(*item) for item in best))


def _search(connection: Connection, layout: Layout, scope: Scope, concepts: Sequence[Concept], k: int) -> Answer:
    terms = [
        (number, concept.times * weight, term)
        for number, concept in enumerate(concepts)
        for term, weight in concept.terms
        if sayable(term)
    ]
    statement = layout.statement(
        """
        WITH asked AS MATERIALIZED (
            SELECT concept, weight, plainto_tsquery(configuration::regconfig, term) AS query
            FROM unnest(%(concepts)s::integer[], %(weights)s::float8[], %(terms)s::text[]) AS a (concept, weight, term)
            CROSS JOIN {languages} WHERE language = %(language)s
        ), met AS MATERIALIZED (
            SELECT id, concept, max(weight * ts_rank('{{1,1,1,1}}', words, query, 1)) AS strength
            FROM asked JOIN {documents} ON words @@ query
            WHERE language = %(language)s AND numnode(query) > 0
            GROUP BY id, concept
        ), total AS (
            SELECT count(*) AS documents FROM {documents} WHERE language = %(language)s
        ), telling AS (
            SELECT concept, ln(1 + (documents - count(*) + 0.5) / (count(*) + 0.5)) AS idf
            FROM met CROSS JOIN total GROUP BY concept, documents
        )
        SELECT id, sum(strength * idf)::float8 AS score FROM met JOIN telling USING (concept)
        WHERE {chosen} GROUP BY id ORDER BY score DESC, id LIMIT %(limit)s
        """,
        chosen=_chosen(layout, scope),
    )
    numbers, weights, words = zip(*terms, strict=True) if terms else ((), (), ())
    asked = {"concepts": list(numbers), "weights": list(weights), "terms": list(words), "limit": k}
    return Answer(tuple(Found(*row) for row in connection.execute(statement, scope.values | asked)))


def _chosen(layout: Layout, scope: Scope) -> sql.Composable:
    if not scope.filters:
        return sql.SQL("true")
    return layout.statement("id IN (SELECT id FROM {vectors} WHERE {condition})", condition=scope.condition)

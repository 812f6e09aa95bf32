"""The best documents of a language by inner product: exactly, or through the HNSW index and then in exact order.

    score(q, d) = sum_i q_i d_i        of the vectors as they are kept, summed in float64, rounded once to float32

pgvector sums in float32, in an order of its own, so its scores may be off by m = (n u / (1 - n u)) |q| |d| (Higham
2002, eq. 3.5, u the unit roundoff). It therefore only chooses: the first k and a few more come with their vectors and
are scored again as above. If the last of those few is not below the k-th by more than 2 m, some that were left out
might belong to the first k; then all within 2 m of the k-th are looked at, as a stream. So the ranking, scores and ties
are those of the embedded exact index, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from isogloss.stores.pgvector_connection import Connection
from isogloss.stores.pgvector_layout import Layout
from isogloss.stores.pgvector_writing import sayable
from isogloss.stores.store import Answer, Filters, Found, Matrix

_MORE = 16  # than k that are fetched: enough, unless scores are equal or nearly so
_TOGETHER = 64  # queries sent at a time
_STREAMED = 2_000  # rows at a time
_CANDIDATES = 2  # times k, from HNSW
_FEW = 4_000  # rows that are scored faster than they are met by chance in a graph
MOST_FOUND = 1_000  # by HNSW: the largest hnsw.ef_search

Row = tuple[Any, ...]


class Scope(NamedTuple):
    """Where to look: a language, and the fields that a document must have."""

    language: str
    filters: Filters | None = None

    @property
    def is_sayable(self) -> bool:
        """Whether there can be such documents in PostgreSQL."""
        return sayable(self.language) and all(map(sayable, self.keys))

    @property
    def keys(self) -> list[str]:
        """The filters as documents keep their fields."""
        return [f"{name}={value}" for name, value in (self.filters or {}).items()]

    @property
    def condition(self) -> sql.SQL:
        """The same in SQL."""
        return sql.SQL("language = %(language)s AND keys @> %(keys)s" if self.filters else "language = %(language)s")

    @property
    def values(self) -> dict[str, Any]:
        """What the condition asks for."""
        return {"language": self.language, "keys": self.keys}


def search_exactly(connection: Connection, layout: Layout, scope: Scope, queries: Matrix, k: int) -> list[Answer]:
    """The ``k`` best for each query: every vector of the language is looked at.

    The 0 that is added keeps PostgreSQL from taking an HNSW index for it.
    """
    statement = layout.statement(
        "SELECT id, {sent}, score, (SELECT %(rate)s * longest + %(least)s FROM {settings}) FROM ("
        " SELECT id, vector, ({wide} <#> %(query)s::vector) + 0 AS score FROM {vectors}"
        " WHERE {condition} ORDER BY score, id LIMIT %(limit)s) best ORDER BY score, id",
        condition=scope.condition,
    )
    asked = [scope.values | _asked(query) | {"limit": k + _MORE} for query in queries]
    found = _each(connection, statement, asked)
    answers = []
    for query, values, rows in zip(queries, asked, found, strict=True):
        near = _all_near(connection, layout, scope, values, k) if _is_in_doubt(rows, k) else [rows]
        answers.append(_best(layout, query, near, k))
    return answers


def search_hnsw(
    connection: Connection, layout: Layout, scope: Scope, queries: Matrix, k: int, ef_search: int
) -> list[Answer]:
    """The ``k`` best for each query of those that HNSW finds; with a filter it goes on until there are enough."""
    statement = layout.statement(
        "SELECT id, {sent} FROM (SELECT id, vector FROM {vectors} WHERE {condition}"
        " ORDER BY vector <#> %(query)s::{type} LIMIT %(limit)s) near",
        condition=scope.condition,
    )
    asked = [scope.values | {"query": in_text(query), "limit": _CANDIDATES * k} for query in queries]
    with connection.pipeline():  # one journey for both
        connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(ef_search),))
        found = list(_each(connection, statement, asked))
    return [_best(layout, query, [rows], k) for query, rows in zip(queries, found, strict=True)]


def lets_few_pass(connection: Connection, layout: Layout, scope: Scope) -> bool:
    """Whether a filter lets so few documents pass, as PostgreSQL's statistics have it, that all of them are scored.

    An HNSW index would be walked far before enough were met: at one in a hundred of 100,000 that took 14 times as long.
    """
    if not scope.filters:
        return False
    statement = layout.statement(
        "EXPLAIN (FORMAT json) SELECT 1 FROM {vectors} WHERE {condition}", condition=scope.condition
    )
    found = connection.execute(statement, scope.values).fetchone()
    return found is not None and int(found[0][0]["Plan"]["Plan Rows"]) <= _FEW


def in_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it, every bit of it.

    >>> in_text(np.asarray([0.5, -2], dtype=np.float32))
    '[0.5,-2.0]'
    """
    return f"[{','.join(map(repr, vector.tolist()))}]"


def _asked(query: NDArray[np.float32]) -> dict[str, Any]:
    """A query, and 2 m as ``rate`` times the longest vector and ``least``: twice what is needed, to be sure."""
    about, length = np.finfo(np.float32), float(np.linalg.norm(query.astype(np.float64)))
    terms = 2 * (len(query) + 4) if length else 0
    return {
        "query": in_text(query),
        "rate": float(terms * float(about.eps) * length),
        "least": float(terms * float(about.tiny)),
    }


def _each(connection: Connection, statement: sql.Composed, asked: Sequence[Mapping[str, Any]]) -> Iterator[list[Row]]:
    """What a statement gives for each of some values, sent together."""
    for start in range(0, len(asked), _TOGETHER):
        with connection.cursor(binary=True) as cursor:
            cursor.executemany(statement, asked[start : start + _TOGETHER], returning=True)
            answers = [cursor.fetchall()]
            while cursor.nextset():
                answers.append(cursor.fetchall())
        yield from answers


def _is_in_doubt(rows: list[Row], k: int) -> bool:
    """Whether the rows that were left out might be as good as the k-th."""
    if len(rows) < k + _MORE:
        return False
    last, kth, margin = float(rows[-1][2]), float(rows[k - 1][2]), float(rows[0][3])
    return margin > 0 and last <= kth + margin


def _all_near(
    connection: Connection, layout: Layout, scope: Scope, values: Mapping[str, Any], k: int
) -> Iterator[list[Row]]:
    """All that may be among the first ``k``, as a stream."""
    statement = layout.statement(
        "WITH scored AS NOT MATERIALIZED ("
        " SELECT id, vector, ({wide} <#> %(query)s::vector) + 0 AS score FROM {vectors} WHERE {condition})"
        " SELECT id, {sent} FROM scored WHERE score <= (SELECT %(rate)s * longest + %(least)s FROM {settings})"
        " + (SELECT max(score) FROM (SELECT score FROM scored ORDER BY score LIMIT %(limit)s) first)",
        condition=scope.condition,
    )
    with connection.transaction(), connection.cursor("isogloss_near", binary=True) as cursor:
        cursor.execute(statement, {**values, "limit": k})
        while rows := cursor.fetchmany(_STREAMED):
            yield rows


def _best(layout: Layout, query: NDArray[np.float32], streams: Iterator[list[Row]] | list[list[Row]], k: int) -> Answer:
    """The first ``k`` of some rows, scored anew; ties by id."""
    best: list[Found] = []
    for rows in streams:
        vectors = layout.kind.unpacked([row[1] for row in rows], layout.dimension)
        scores = np.einsum("rd,d->r", vectors, query.astype(np.float64)).astype(np.float32)
        best += map(Found, (row[0] for row in rows), scores.tolist())
        best = sorted(best, key=lambda found: (-found.score, found.id))[:k]
    return Answer(tuple(best))

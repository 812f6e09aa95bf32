"""The best documents of a language by inner product: exactly, through the HNSW index and then in exact order, or by
postings.

    score(q, d) = sum_i q_i d_i        of the vectors as they are stored, summed in float64, rounded once to float32

pgvector sums in float32, in an order of its own, so its scores may be off by m = (n u / (1 - n u)) |q| |d| (Higham
2002, eq. 3.5, u the unit roundoff). It therefore only selects: the first k and a few more come with their vectors and
are re-scored as above. If the last of those few is not below the k-th by more than 2 m, some that were left out might
belong to the first k; then all within 2 m of the k-th are re-scored, as a stream. So the ranking, scores and ties are
those of the exact index in files, to the last bit. A document scores like the best of its points.

Sparse products are sums over a plain table of postings, in float64, rounded once to float32. ``benchmarks/engines.py``
measures how long that takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from isogloss.engines.base import EngineHit, Filters, Matrix
from isogloss.engines.postgres.connection import Connection
from isogloss.engines.postgres.schema import Schema
from isogloss.engines.postgres.writing import is_storable, own_dimensions
from isogloss.systems.sparse import SparseVector

_SPARE = 16  # rows beyond k that are fetched: enough, unless scores are equal or nearly so
_BATCH = 64  # queries sent at a time
_CHUNK = 2_000  # rows of a stream fetched at a time
_CANDIDATES = 2  # times k, from HNSW
_MORE = 4  # times as many points are fetched where the first ones are of too few documents
_MOST_POINTS = 4_000  # of HNSW, after which the search is exact
_FEW = 4_000  # rows that are scored faster than they are met by chance in a graph

Row = tuple[Any, ...]


class Scope(NamedTuple):
    """What is searched: a language, the fields that a document must have, the documents if only some are meant."""

    language: str
    filters: Filters | None = None
    ids: Sequence[str] | None = None

    @property
    def is_storable(self) -> bool:
        """Whether there can be such documents in PostgreSQL."""
        return is_storable(self.language) and all(map(is_storable, self.keys))

    @property
    def keys(self) -> list[str]:
        """The filters as documents have their fields."""
        return [f"{name}={value}" for name, value in (self.filters or {}).items()]

    @property
    def condition(self) -> sql.Composed:
        """The same in SQL."""
        parts = [sql.SQL("language = %(language)s")]
        parts += [sql.SQL("keys @> %(keys)s")] if self.filters else []
        parts += [sql.SQL("id = ANY(%(ids)s)")] if self.ids is not None else []
        return sql.SQL(" AND ").join(parts)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the condition."""
        return {"language": self.language, "keys": self.keys, "ids": [*filter(is_storable, self.ids or ())]}


def search_exact(
    connection: Connection, schema: Schema, scope: Scope, queries: Matrix, k: int
) -> list[list[EngineHit]]:
    """The ``k`` best for each query, of all vectors of the language.

    The 0 that is added keeps PostgreSQL from taking an HNSW index for it.
    """
    statement = schema.statement(
        "SELECT id, vector, score, (SELECT %(rate)s * max_norm + %(least)s FROM {settings}) FROM ("
        " SELECT id, vector, ({float32} <#> %(query)s::vector) + 0 AS score FROM {vectors}"
        " WHERE {condition} ORDER BY score, id LIMIT %(limit)s) best ORDER BY score, id",
        condition=scope.condition,
    )
    parameters = [scope.parameters | _bounded(query) | {"limit": k + _SPARE} for query in queries]
    found = _execute_each(connection, statement, parameters)
    answers = []
    for query, values, first in zip(queries, parameters, found, strict=True):
        rows, limit = first, k + _SPARE
        while len(rows) == limit and _kth_score(rows, k) is None:  # some documents have many of the best points
            limit *= _MORE
            (rows,) = _execute_each(connection, statement, [values | {"limit": limit}])
        kth = _kth_score(rows, k)
        chunks: Iterable[list[Row]] = [rows]
        if kth is not None and len(rows) == limit and _is_in_doubt(rows, kth):
            chunks = _near_ties(connection, schema, scope, values, kth)
        answers.append(_rescored(query, chunks, k))
    return answers


def search_hnsw(
    connection: Connection, schema: Schema, scope: Scope, queries: Matrix, k: int, ef_search: int
) -> list[list[EngineHit]]:
    """The ``k`` best for each query of those that HNSW finds; with a filter it goes on until there are enough."""
    statement = schema.statement(
        "SELECT id, vector FROM {vectors} WHERE {condition} ORDER BY vector <#> %(query)s::{type} LIMIT %(limit)s",
        condition=scope.condition,
    )
    parameters = [scope.parameters | {"query": query, "limit": _CANDIDATES * k} for query in queries]
    with connection.pipeline():  # one round trip for both
        connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(ef_search),))
        found = list(_execute_each(connection, statement, parameters))
    answers = []
    for query, values, first in zip(queries, parameters, found, strict=True):
        rows, limit = first, _CANDIDATES * k
        while len(rows) == limit < _MOST_POINTS and len({row[0] for row in rows}) < k:
            limit *= _MORE
            (rows,) = _execute_each(connection, statement, [values | {"limit": limit}])
        answers.append(_rescored(query, [rows], k))
    return answers


def search_sparse(
    connection: Connection, schema: Schema, scope: Scope, queries: Sequence[SparseVector], k: int
) -> list[list[EngineHit]]:
    """The ``k`` best for each query by sparse products, of those that share a dimension with it."""
    return [_best_by_postings(connection, schema, scope, query, k) for query in queries]


def _best_by_postings(
    connection: Connection, schema: Schema, scope: Scope, query: SparseVector, k: int
) -> list[EngineHit]:
    """Only the best points are joined with their documents, unless the search is restricted; then all are."""
    restricted = bool(scope.filters) or scope.ids is not None
    statement = schema.statement(
        "SELECT id, score FROM (SELECT p.number, sum(p.weight::float8 * q.weight)::real AS score"
        " FROM unnest(%(dimensions)s::integer[], %(weights)s::float8[]) AS q(dimension, weight)"
        " JOIN {postings} p USING (dimension) GROUP BY p.number ORDER BY score DESC LIMIT %(inner)s) best"
        " {join} JOIN (SELECT id, number FROM {vectors} WHERE {condition}) found USING (number)"
        " ORDER BY score DESC LIMIT %(limit)s",
        condition=scope.condition,
        join=sql.SQL("" if restricted else "LEFT"),
    )
    dimensions, weights = own_dimensions(scope.language, query.dimensions), query.weights.astype(np.float64).tolist()
    limit = k + _SPARE
    while True:
        values = {"dimensions": dimensions, "weights": weights, "limit": limit, "inner": None if restricted else limit}
        with connection.cursor(binary=True) as cursor:
            rows = cursor.execute(statement, {**scope.parameters, **values}).fetchall()
        best: dict[str, float] = {}
        for id_, score in rows:
            if id_ is not None:  # a point of another language whose dimension is the same by chance
                best.setdefault(id_, score)
        scores = list(best.values())
        if len(rows) < limit or (len(scores) > k and rows[-1][1] < scores[k - 1]):
            hits = [EngineHit(id_, score) for id_, score in best.items()]
            return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]
        limit *= _MORE


def is_selective(connection: Connection, schema: Schema, scope: Scope) -> bool:
    """Whether a filter lets so few documents pass, by PostgreSQL's statistics, that all of them are scored.

    An HNSW index would be walked far before enough were met: at one in a hundred of 100,000 that took 14 times as long.
    """
    if not scope.filters:
        return False
    statement = schema.statement(
        "EXPLAIN (FORMAT json) SELECT 1 FROM {vectors} WHERE {condition}", condition=scope.condition
    )
    found = connection.execute(statement, scope.parameters).fetchone()
    return found is not None and int(found[0][0]["Plan"]["Plan Rows"]) <= _FEW


def _bounded(query: NDArray[np.float32]) -> dict[str, Any]:
    """A query, and 2 m as ``rate`` times the longest norm and ``least``: twice what is needed, to be sure."""
    about, norm = np.finfo(np.float32), float(np.linalg.norm(query.astype(np.float64)))
    terms = 2 * (len(query) + 4) if norm else 0
    return {"query": query, "rate": terms * float(about.eps) * norm, "least": terms * float(about.tiny)}


def _execute_each(
    connection: Connection, statement: sql.Composed, parameters: Sequence[Mapping[str, Any]]
) -> Iterator[list[Row]]:
    """The rows of a statement for each of some parameters, sent together."""
    for start in range(0, len(parameters), _BATCH):
        with connection.cursor(binary=True) as cursor:
            cursor.executemany(statement, parameters[start : start + _BATCH], returning=True)
            found = [cursor.fetchall()]
            while cursor.nextset():
                found.append(cursor.fetchall())
        yield from found


def _kth_score(rows: list[Row], k: int) -> float | None:
    """The score, as the server sums it, of the k-th document; None if there are fewer in these rows."""
    first = {row[0]: float(row[2]) for row in reversed(rows) if row[2] is not None}
    return sorted(first.values())[k - 1] if len(first) >= k else None


def _is_in_doubt(rows: list[Row], kth: float) -> bool:
    """Whether the rows that were left out might be as good as the k-th document."""
    last, margin = rows[-1][2], float(rows[0][3])
    return margin > 0 and last is not None and float(last) <= kth + margin


def _near_ties(
    connection: Connection, schema: Schema, scope: Scope, parameters: Mapping[str, Any], kth: float
) -> Iterator[list[Row]]:
    """All that may be among the first, as a stream."""
    statement = schema.statement(
        "SELECT id, vector FROM (SELECT id, vector, ({float32} <#> %(query)s::vector) + 0 AS score FROM {vectors}"
        " WHERE {condition}) scored WHERE score <= (SELECT %(rate)s * max_norm + %(least)s FROM {settings}) + %(kth)s",
        condition=scope.condition,
    )
    with connection.transaction(), connection.cursor("isogloss_near_ties", binary=True) as cursor:
        cursor.execute(statement, {**parameters, "kth": kth})
        while rows := cursor.fetchmany(_CHUNK):
            yield rows


def _rescored(query: NDArray[np.float32], chunks: Iterable[list[Row]], k: int) -> list[EngineHit]:
    """The first ``k`` of some rows by their exact scores; ties by id."""
    best: dict[str, float] = {}
    for chunk in chunks:
        rows = [row for row in chunk if row[1] is not None]
        if rows:
            vectors = np.stack([row[1].to_numpy() for row in rows]).astype(np.float64)
            scores = np.einsum("rd,d->r", vectors, query.astype(np.float64)).astype(np.float32)
            for row, score in zip(rows, scores.tolist(), strict=True):
                best[row[0]] = max(score, best.get(row[0], -np.inf))
            best = dict(sorted(best.items(), key=lambda found: (-found[1], found[0]))[:k])
    return [EngineHit(*found) for found in best.items()]

"""The best documents of a language by inner product: exactly, or through the HNSW index and then in exact order.

    score(q, d) = sum_i q_i d_i        of the vectors as they are stored, summed in float64, rounded once to float32

pgvector sums in float32, in an order of its own, so its scores may be off by m = (n u / (1 - n u)) |q| |d| (Higham
2002, eq. 3.5, u the unit roundoff). It therefore only selects: the first k and a few more come with their vectors and
are re-scored as above. If the last of those few is not below the k-th by more than 2 m, some that were left out might
belong to the first k; then all within 2 m of the k-th are re-scored, as a stream. So the ranking, scores and ties are
those of the exact index in files, to the last bit.
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
from isogloss.engines.postgres.writing import is_storable

MAX_EF_SEARCH = 1_000
_SPARE = 16  # rows beyond k that are fetched: enough, unless scores are equal or nearly so
_BATCH = 64  # queries sent at a time
_CHUNK = 2_000  # rows of a stream fetched at a time
_CANDIDATES = 2  # times k, from HNSW
_FEW = 4_000  # rows that are scored faster than they are met by chance in a graph

Row = tuple[Any, ...]


class Scope(NamedTuple):
    """What is searched: a language, and the fields that a document must have."""

    language: str
    filters: Filters | None = None

    @property
    def is_storable(self) -> bool:
        """Whether there can be such documents in PostgreSQL."""
        return is_storable(self.language) and all(map(is_storable, self.keys))

    @property
    def keys(self) -> list[str]:
        """The filters as documents have their fields."""
        return [f"{name}={value}" for name, value in (self.filters or {}).items()]

    @property
    def condition(self) -> sql.SQL:
        """The same in SQL."""
        return sql.SQL("language = %(language)s AND keys @> %(keys)s" if self.filters else "language = %(language)s")

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the condition."""
        return {"language": self.language, "keys": self.keys}


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
    for query, values, rows in zip(queries, parameters, found, strict=True):
        chunks = _near_ties(connection, schema, scope, values, k) if _is_in_doubt(rows, k) else [rows]
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
    return [_rescored(query, [rows], k) for query, rows in zip(queries, found, strict=True)]


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


def _is_in_doubt(rows: list[Row], k: int) -> bool:
    """Whether the rows that were left out might be as good as the k-th."""
    if len(rows) < k + _SPARE:
        return False
    last, kth, margin = float(rows[-1][2]), float(rows[k - 1][2]), float(rows[0][3])
    return margin > 0 and last <= kth + margin


def _near_ties(
    connection: Connection, schema: Schema, scope: Scope, parameters: Mapping[str, Any], k: int
) -> Iterator[list[Row]]:
    """All that may be among the first ``k``, as a stream."""
    statement = schema.statement(
        "WITH scored AS NOT MATERIALIZED ("
        " SELECT id, vector, ({float32} <#> %(query)s::vector) + 0 AS score FROM {vectors} WHERE {condition})"
        " SELECT id, vector FROM scored WHERE score <= (SELECT %(rate)s * max_norm + %(least)s FROM {settings})"
        " + (SELECT max(score) FROM (SELECT score FROM scored ORDER BY score LIMIT %(limit)s) first)",
        condition=scope.condition,
    )
    with connection.transaction(), connection.cursor("isogloss_near_ties", binary=True) as cursor:
        cursor.execute(statement, {**parameters, "limit": k})
        while rows := cursor.fetchmany(_CHUNK):
            yield rows


def _rescored(query: NDArray[np.float32], chunks: Iterable[list[Row]], k: int) -> list[EngineHit]:
    """The first ``k`` of some rows by their exact scores; ties by id."""
    best: list[EngineHit] = []
    for rows in chunks:
        if rows:
            vectors = np.stack([row[1].to_numpy() for row in rows]).astype(np.float64)
            scores = np.einsum("rd,d->r", vectors, query.astype(np.float64)).astype(np.float32)
            best += map(EngineHit, (row[0] for row in rows), scores.tolist())
            best = sorted(best, key=lambda found: (-found.score, found.id))[:k]
    return best

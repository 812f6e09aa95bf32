"""HNSW indexes of pgvector: built on request, one a language, and measured before they are trusted.

    recall@k = |first k of HNSW  and  first k exactly| / k        over queries made of the vectors themselves

``hnsw.ef_search``, the number of candidates that a search follows, is raised until the recall is what the embedded
index asks for; that and the recall are written into the store. A depth at which it is not reached is searched exactly.

Vectors scaled for the smooth cosine are shorter than 1, and the usual advice is to index (d, sqrt(1 - |d|^2)), so that
inner product and distance give one order. pgvector's inner-product operators do without: they build and walk the graph
by q . d itself. On clustered vectors of the smooth cosine both reached about the same recall@10 at ef_search 40 (.995
plain, .998 with the component, of 50,000 x 64), the plain one 1.4 times as fast; with lengths spread from .05 to 1 the
plain one reached more (.998 against .983 of 20,000 x 64). What is lost now and then is a query whole, in either graph.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.index.recall import sample_queries
from isogloss.index.vector_tuning import DEPTHS
from isogloss.stores.pgvector_connection import Connection
from isogloss.stores.pgvector_layout import Layout
from isogloss.stores.pgvector_search import MOST_FOUND, Scope, search_exactly, search_hnsw
from isogloss.stores.store import Answer, Matrix

_EFFORTS = (40, 64, 100, 160, 250, 400, 640, MOST_FOUND)
_QUERIES, _FEWEST_QUERIES = 400, 100  # to measure with: a query that is lost is lost whole, so 100 say little
_LOOKED_AT = 400_000_000  # vectors that exact searches may look at meanwhile
_SAMPLED = 2_000  # vectors that they are made of


def build(
    connection: Connection, layout: Layout, language: str, m: int, ef_construction: int, memory: str | None
) -> dict[str, Any]:
    """Build the index of a language in place of the one it may have; what is to be noted of it.

    Readers go on meanwhile, writers of the language wait.
    """
    if layout.dimension > layout.kind.most_indexed:
        most = f"an HNSW index takes {layout.kind.most_indexed:,} in {layout.storage}"
        way = "search exactly" if layout.storage == "float16" else "keep float16 (up to 4,000) or search exactly"
        raise InputError(f"{layout.name}: vectors of {layout.dimension:,} components, but {most}; {way}")
    begun = time.monotonic()
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout TO 0")
        if memory is not None:
            connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", (memory,))
        before = _indexes(connection, layout, language)
        connection.execute(
            layout.statement(
                "CREATE INDEX ON {part} USING hnsw (vector {operators}) WITH (m = {m}, ef_construction = {effort})",
                part=layout.partition("vectors", language),
                operators=sql.SQL(f"{layout.kind.type_name}_ip_ops"),
                m=sql.Literal(m),
                effort=sql.Literal(ef_construction),
            )
        )
        _drop(connection, layout, before)
        connection.execute(layout.statement("ANALYZE {part}", part=layout.partition("vectors", language)))
    return {"m": m, "ef_construction": ef_construction, "seconds": round(time.monotonic() - begun, 3)}


def drop_indexes(connection: Connection, layout: Layout, language: str) -> None:
    """Drop the index of a language, if it has one."""
    _drop(connection, layout, _indexes(connection, layout, language))


def measure(connection: Connection, layout: Layout, language: str, target: float) -> dict[str, Any]:
    """For each depth the least ``ef_search`` that reaches the target, and the recall it has, among so many rows.

    A small table may be searched by sorting, which would reach everything, until it has grown: not while we measure.
    """
    rows = _count(connection, layout, language)
    count = min(_QUERIES, max(_FEWEST_QUERIES, _LOOKED_AT // max(rows, 1)))
    queries = sample_queries(_sample(connection, layout, language, rows), count)
    with connection.transaction():
        connection.execute("SET LOCAL enable_sort TO off")
        levels = [
            _level(connection, layout, language, queries[: count * DEPTHS[0] // k], k, target)
            for k in DEPTHS
            if len(queries)
        ]
    return {"rows": rows, "levels": levels}


def _level(
    connection: Connection, layout: Layout, language: str, queries: Matrix, k: int, target: float
) -> dict[str, Any]:
    scope = Scope(language)
    wanted = search_exactly(connection, layout, scope, queries, k)
    for effort in _EFFORTS:
        if effort >= k or effort == MOST_FOUND:
            found = search_hnsw(connection, layout, scope, queries, k, effort)
            reached = _recall(found, wanted)
            if reached >= target:
                break
    return {"k": k, "ef_search": effort, "recall": round(reached, 4), "reached": reached >= target}


def _recall(found: list[Answer], wanted: list[Answer]) -> float:
    ids = ([{hit.id for hit in answer.found} for answer in answers] for answers in (found, wanted))
    pairs = list(zip(*ids, strict=True))
    count = sum(len(there) for _, there in pairs)
    return sum(len(one & there) for one, there in pairs) / count if count else 1.0


def _count(connection: Connection, layout: Layout, language: str) -> int:
    part = layout.partition("vectors", language)
    counted = connection.execute(layout.statement("SELECT count(*) FROM {part}", part=part)).fetchone()
    assert counted is not None
    return int(counted[0])


def _sample(connection: Connection, layout: Layout, language: str, rows: int) -> Matrix:
    """Some vectors of a language, the same each time."""
    part, share = layout.partition("vectors", language), min(100.0, 100.0 * _SAMPLED / max(rows, 1))
    with connection.cursor(binary=True) as cursor:
        cursor.execute(
            layout.statement("SELECT {sent} FROM {part} TABLESAMPLE BERNOULLI (%s) REPEATABLE (1)", part=part), (share,)
        )
        sampled = [row[0] for row in cursor]
    return layout.kind.unpacked(sampled, layout.dimension).astype(np.float32)


def _indexes(connection: Connection, layout: Layout, language: str) -> list[str]:
    """The HNSW indexes that a language has."""
    found = connection.execute(
        "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = indexrelid JOIN pg_class t ON t.oid = indrelid"
        " JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_am a ON a.oid = i.relam"
        " WHERE nspname = %s AND t.relname = %s AND amname = 'hnsw'",
        (layout.name, f"vectors_{language}"),
    )
    return [name for (name,) in found]


def _drop(connection: Connection, layout: Layout, indexes: list[str]) -> None:
    for index in indexes:
        connection.execute(layout.statement("DROP INDEX {index}", index=sql.Identifier(layout.name, index)))

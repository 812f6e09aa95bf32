"""HNSW indexes of pgvector: where they pay, how they are built, and the recall they are measured to reach.

``hnsw.ef_search`` is the ``ef`` of :mod:`isogloss.engines.recall`; it and the recall are recorded in the schema.

Vectors scaled for the smooth cosine are shorter than 1, and the usual advice is to index (d, sqrt(1 - |d|^2)), so that
inner product and distance give one order. pgvector's inner-product operators do without: they build and walk the graph
by q . d itself. On clustered vectors of the smooth cosine both reached about the same recall@10 at ef_search 40 (.995
plain, .998 with the component, of 50,000 x 64), the plain one 1.4 times as fast; with norms spread from .05 to 1 the
plain one reached more (.998 against .983 of 20,000 x 64). What is lost now and then is a query whole, in either graph.
"""

from __future__ import annotations

import json
import time

import numpy as np
from psycopg import sql

from isogloss.engines.postgres.connection import Connection
from isogloss.engines.postgres.schema import Schema
from isogloss.engines.postgres.searching import Scope, search_exact, search_hnsw
from isogloss.engines.recall import Metadata, measured_levels
from isogloss.retrieval.vectors.approximate import sample_queries
from isogloss.storage.errors import InputError

_QUERIES, _FEWEST_QUERIES = 400, 100  # to measure with: a query that is lost is lost whole, so 100 say little
_SCORED = 400_000_000  # vectors that exact searches may score meanwhile
_SAMPLED = 2_000  # vectors that the queries are made of
_GRAPH_BYTES = 450  # of a vector in the graph, beside its components
_LEAST_MB, _MOST_MB = 64, 4_096  # PostgreSQL's own default, and what most servers have to spare
_FRESH = 1.0  # seconds


def build_memory(rows: int, schema: Schema) -> str:
    """What the server may take to build, so that the graph fits where it can: a larger one is built far slower.

    >>> build_memory(1_000_000, Schema("pages", 64))
    '673MB'
    """
    wanted = rows * (4 * schema.dimension + _GRAPH_BYTES) // 2**20
    return f"{min(max(wanted, _LEAST_MB), _MOST_MB)}MB"


def build_index(
    connection: Connection, schema: Schema, language: str, m: int, ef_construction: int, memory: str | None
) -> Metadata:
    """Build the index of a language in place of the one it may have; what is to be recorded of it.

    Readers go on meanwhile, writers of the language wait.
    """
    if schema.dimension > schema.kind.max_indexed:
        most = f"an HNSW index takes {schema.kind.max_indexed:,} in {schema.storage}"
        way = "search exactly" if schema.storage == "float16" else "keep float16 (up to 4,000) or search exactly"
        raise InputError(f"{schema.name}: vectors of {schema.dimension:,} components, but {most}; {way}")
    start, partition = time.monotonic(), schema.partition("vectors", language)
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout TO 0")
        if memory is not None:
            connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", (memory,))
        old = index_names(connection, schema, language)
        connection.execute(
            schema.statement(
                "CREATE INDEX ON {partition} USING hnsw (vector {operators}) WITH (m = {m}, ef_construction = {ef})",
                partition=partition,
                operators=sql.SQL(f"{schema.kind.type_name}_ip_ops"),
                m=sql.Literal(m),
                ef=sql.Literal(ef_construction),
            )
        )
        drop_indexes(connection, schema, old)
        connection.execute(schema.statement("ANALYZE {partition}", partition=partition))
    return {"m": m, "ef_construction": ef_construction, "seconds": round(time.monotonic() - start, 3)}


def index_names(connection: Connection, schema: Schema, language: str) -> list[str]:
    """The HNSW indexes of a language: one, or none."""
    found = connection.execute(
        "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = indexrelid JOIN pg_class t ON t.oid = indrelid"
        " JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_am a ON a.oid = i.relam"
        " WHERE nspname = %s AND t.relname = %s AND amname = 'hnsw'",
        (schema.name, f"vectors_{language}"),
    )
    return [name for (name,) in found]


def drop_indexes(connection: Connection, schema: Schema, names: list[str]) -> None:
    """Drop indexes; readers of their language wait until the transaction ends."""
    for name in names:
        connection.execute(schema.statement("DROP INDEX {index}", index=sql.Identifier(schema.name, name)))


def measure_recall(connection: Connection, schema: Schema, language: str, target: float) -> Metadata:
    """For each depth the least ``ef_search`` that reaches the target, and its recall, among so many rows.

    A small table may be searched by sorting, which would reach everything until it has grown: not while we measure.
    """
    partition = schema.partition("vectors", language)
    counted = connection.execute(schema.statement("SELECT count(*) FROM {partition}", partition=partition)).fetchone()
    rows = int(counted[0]) if counted else 0
    count = min(_QUERIES, max(_FEWEST_QUERIES, _SCORED // max(rows, 1)))
    sample = schema.statement(
        "SELECT vector FROM {partition} TABLESAMPLE BERNOULLI (%s) REPEATABLE (1) WHERE vector IS NOT NULL",
        partition=partition,
    )
    with connection.cursor(binary=True) as cursor:
        cursor.execute(sample, (min(100.0, 100.0 * _SAMPLED / max(rows, 1)),))
        vectors = [vector.to_numpy() for (vector,) in cursor]
    if not vectors:
        return {"rows": rows, "levels": []}
    queries = sample_queries(np.stack(vectors).astype(np.float32), count)
    with connection.transaction():
        connection.execute("SET LOCAL enable_sort TO off")
        scope = Scope(language)
        levels = measured_levels(
            queries,
            lambda some, k: search_exact(connection, schema, scope, some, k),
            lambda some, k, ef: search_hnsw(connection, schema, scope, some, k, ef),
            target,
        )
    return {"rows": rows, "levels": levels}


class HnswMetadata:
    """The record of the HNSW indexes of a schema; threads may share it.

    A search reads it again after a second: other processes build indexes too.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._cached: dict[str, Metadata | None] = {}
        self._cached_until = 0.0

    def read(self, connection: Connection) -> dict[str, Metadata | None]:
        """What is recorded of each language; None where there is no index."""
        statement = self._schema.statement("SELECT language, hnsw FROM {languages} ORDER BY language")
        self._cached = dict(connection.execute(statement).fetchall())
        self._cached_until = time.monotonic() + _FRESH
        return self._cached

    def write(self, connection: Connection, language: str, metadata: Metadata | None) -> None:
        """Record something of a language; None, that it has no index."""
        statement = self._schema.statement("UPDATE {languages} SET hnsw = %s WHERE language = %s")
        connection.execute(statement, (None if metadata is None else json.dumps(metadata), language))
        self._cached_until = 0.0

    def recent(self, connection: Connection) -> dict[str, Metadata | None]:
        """The same, at most a second old."""
        return self._cached if time.monotonic() < self._cached_until else self.read(connection)

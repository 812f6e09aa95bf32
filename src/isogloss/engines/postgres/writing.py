"""Documents into the tables: copied in bulk into a temporary table, and from there merged.

COPY is the fastest way into PostgreSQL, but it cannot replace rows; so a batch is copied beside the tables, a row a
point, and a few statements merge it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector, Vector
from psycopg import sql

from isogloss.data.documents import Document, page_object
from isogloss.engines.base import Points
from isogloss.engines.postgres.connection import Connection
from isogloss.engines.postgres.schema import Schema
from isogloss.retrieval.field_lists import field_keys
from isogloss.storage.errors import InputError

_MAX_ID_BYTES = 2_000  # an index of PostgreSQL takes 2,704


def write_batch(connection: Connection, schema: Schema, documents: Sequence[Document], points: Points) -> None:
    """Add or replace documents of a batch that was checked; the caller has begun a transaction."""
    if not documents:
        return
    if points.dense is not None:
        connection.execute(  # it bounds the rounding errors of scores
            schema.statement("UPDATE {settings} SET max_norm = %(norm)s WHERE max_norm < %(norm)s"),
            {"norm": _max_norm(documents, points, schema)},
        )
    connection.execute(
        schema.statement(
            "CREATE TEMPORARY TABLE IF NOT EXISTS isogloss_batch ("
            'language text COLLATE "C", id text COLLATE "C", passage integer, page json, keys text[], vector {type},'
            " dimensions integer[], weights real[]) ON COMMIT DELETE ROWS"
        )
    )
    with connection.cursor().copy("COPY pg_temp.isogloss_batch FROM STDIN (FORMAT binary)") as copy:
        types = ["text", "text", "int4", "text", "text[]", schema.kind.type_name, "int4[]", "float4[]"]
        copy.set_types(types)  # JSON is sent as text is
        for document, *ends in zip(documents, points.starts, points.starts[1:], strict=False):
            for row in _rows(schema, document, points, range(*ends)):
                copy.write_row(row)
    _merge(connection, schema)


def _rows(schema: Schema, document: Document, points: Points, places: range) -> Iterator[tuple[Any, ...]]:
    """The rows of a document's points; the first has the whole document."""
    vector_class = HalfVector if schema.storage == "float16" else Vector
    keys = _keys(document)
    for passage, place in enumerate(places):
        vector = None if points.dense is None else vector_class(points.dense[place])
        page = None if passage else _json(document)
        sparse: tuple[list[int] | None, list[float] | None] = (None, None)
        if points.sparse is not None:
            dimensions, weights = points.sparse[place]
            sparse = own_dimensions(document.language, dimensions), weights.tolist()
        yield document.language, _id(document), passage, page, keys, vector, *sparse


def own_dimensions(language: str, dimensions: NDArray[np.uint32]) -> list[int]:
    """Dimensions as the postings of a language have them: signed, and apart from those of other languages."""
    mixed: list[int] = (dimensions ^ np.uint32(crc32(language.encode()))).view(np.int32).tolist()
    return mixed


def delete_documents(connection: Connection, schema: Schema, language: str, ids: Sequence[str]) -> int:
    """Delete documents and their points; how many there were."""
    values = {"language": language, "ids": [id_ for id_ in ids if is_storable(id_)]}
    statement = schema.statement("DELETE FROM {documents} WHERE language = %(language)s AND id = ANY(%(ids)s)")
    count = connection.execute(statement, values).rowcount
    _delete_points(connection, schema, sql.SQL("language = %(language)s AND id = ANY(%(ids)s)"), values)
    return count


def _delete_points(
    connection: Connection, schema: Schema, condition: sql.SQL, values: Mapping[str, Any] | None = None
) -> None:
    if schema.sparse:
        connection.execute(
            schema.statement(
                "DELETE FROM {postings} p USING (SELECT number, unnest(dimensions) AS dimension FROM {vectors}"
                " WHERE {condition}) gone WHERE p.dimension = gone.dimension AND p.number = gone.number",
                condition=condition,
            ),
            values,
        )
    connection.execute(schema.statement("DELETE FROM {vectors} WHERE {condition}", condition=condition), values)


def is_storable(text: str) -> bool:
    r"""Whether PostgreSQL can hold a text: NUL and lone surrogates it cannot.

    >>> is_storable("été"), is_storable("nul\0"), is_storable("\ud800")
    (True, False, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _max_norm(documents: Sequence[Document], points: Points, schema: Schema) -> float:
    """The norm of the longest vector; refused where an inner product could be infinite."""
    assert points.dense is not None
    vectors = schema.rounded(points.dense)
    squares = np.einsum("rd,rd->r", vectors, vectors, dtype=np.float64)
    fits = squares <= float(np.finfo(np.float32).max)
    if not fits.all():
        which = documents[int(np.searchsorted(points.starts, fits.argmin(), side="right")) - 1].id
        raise InputError(f"document: {which!r} has a vector that is far too long to be kept as {schema.storage}")
    return float(np.sqrt(squares.max()))


def _merge(connection: Connection, schema: Schema) -> None:
    """Merge a batch, in the order of ids, so that two writers wait for each other and not in a circle.

    They wait at the documents, which come first; so nobody else changes the points of these documents meanwhile.
    """
    connection.execute(
        schema.statement(
            "INSERT INTO {documents} (language, id, page)"
            " SELECT language, id, page FROM pg_temp.isogloss_batch WHERE passage = 0 ORDER BY language, id"
            " ON CONFLICT (language, id) DO UPDATE SET page = excluded.page"
        )
    )
    connection.execute("ANALYZE pg_temp.isogloss_batch")
    replaced = sql.SQL("(language, id) IN (SELECT language, id FROM pg_temp.isogloss_batch WHERE passage = 0)")
    _delete_points(connection, schema, replaced)
    connection.execute(
        schema.statement(
            "INSERT INTO {vectors} (language, vector, id, passage, dimensions, keys)"
            " SELECT language, vector, id, passage, dimensions, keys FROM pg_temp.isogloss_batch"
            " ORDER BY language, id, passage"
        )
    )
    if schema.sparse:
        connection.execute(
            schema.statement(
                "INSERT INTO {postings} (dimension, number, weight) SELECT each.dimension, number, each.weight"
                " FROM pg_temp.isogloss_batch b JOIN {vectors} v USING (language, id, passage),"
                " unnest(b.dimensions, b.weights) AS each(dimension, weight) ORDER BY 1, 2"
            )
        )
    connection.execute("TRUNCATE pg_temp.isogloss_batch")


def _id(document: Document) -> str:
    if not is_storable(document.id):
        raise InputError(f"document: {document.id!r} has a character in its id that PostgreSQL cannot keep")
    size = len(document.id.encode())
    if size > _MAX_ID_BYTES:
        raise InputError(f"document: {document.id[:40]!r}… has an id of {size:,} bytes; the most is {_MAX_ID_BYTES:,}")
    return document.id


def _json(document: Document) -> str:
    page = page_object(document)
    try:
        text = json.dumps(page, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        what = "has a field that is not a finite number, which JSON has no word for"
        raise InputError(f"document: {document.id!r} {what}; leave it out") from error
    return text if is_storable(text) else json.dumps(page)  # in ASCII JSON has lone surrogates too


def _keys(document: Document) -> list[str]:
    keys = field_keys(document)
    if not all(map(is_storable, keys)):
        raise InputError(f"document: {document.id!r} has a character in a field that PostgreSQL cannot filter by")
    return keys

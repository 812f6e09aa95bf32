"""Documents into the tables: copied in bulk into a temporary table, and from there merged.

COPY is the fastest way into PostgreSQL, but it cannot replace rows; so a batch is copied beside the tables, and one
statement a table merges it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import LiteralString

import numpy as np
from pgvector import HalfVector, Vector
from psycopg import sql

from isogloss.data.documents import Document, page_object
from isogloss.engines.base import Matrix
from isogloss.engines.postgres.connection import Connection
from isogloss.engines.postgres.schema import Schema
from isogloss.retrieval.field_lists import field_keys
from isogloss.storage.errors import InputError

_MAX_ID_BYTES = 2_000  # an index of PostgreSQL takes 2,704


def write_batch(connection: Connection, schema: Schema, documents: Sequence[Document], vectors: Matrix) -> None:
    """Add or replace documents of a batch that was checked; the caller has begun a transaction."""
    if not documents:
        return
    connection.execute(  # it bounds the rounding errors of scores
        schema.statement("UPDATE {settings} SET max_norm = %(norm)s WHERE max_norm < %(norm)s"),
        {"norm": _max_norm(documents, schema.rounded(vectors), schema)},
    )
    connection.execute(
        schema.statement(
            "CREATE TEMPORARY TABLE IF NOT EXISTS isogloss_batch ("
            'language text COLLATE "C", id text COLLATE "C", page json, keys text[], vector {type}'
            ") ON COMMIT DELETE ROWS"
        )
    )
    vector_class = HalfVector if schema.storage == "float16" else Vector
    with connection.cursor().copy("COPY pg_temp.isogloss_batch FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["text", "text", "text", "text[]", schema.kind.type_name])  # JSON is sent as text is
        for document, vector in zip(documents, vectors, strict=True):
            row = (document.language, _id(document), _json(document), _keys(document), vector_class(vector))
            copy.write_row(row)
    _merge(connection, schema)


def delete_documents(connection: Connection, schema: Schema, language: str, ids: Sequence[str]) -> int:
    """Delete documents and their vectors; how many there were."""
    values = (language, [id_ for id_ in ids if is_storable(id_)])
    statement: LiteralString = "DELETE FROM {table} WHERE language = %s AND id = ANY(%s)"
    documents, _ = (
        connection.execute(schema.statement(statement, table=sql.Identifier(schema.name, table)), values).rowcount
        for table in ("documents", "vectors")
    )
    return documents


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


def _max_norm(documents: Sequence[Document], vectors: Matrix, schema: Schema) -> float:
    """The norm of the longest vector; refused where an inner product could be infinite."""
    squares = np.einsum("rd,rd->r", vectors, vectors, dtype=np.float64)
    fits = squares <= float(np.finfo(np.float32).max)
    if not fits.all():
        which = documents[int(fits.argmin())].id
        raise InputError(f"document: {which!r} has a vector that is far too long to be kept as {schema.storage}")
    return float(np.sqrt(squares.max()))


def _merge(connection: Connection, schema: Schema) -> None:
    """Merge a batch, in the order of ids, so that two writers wait for each other and not in a circle."""
    connection.execute(
        schema.statement(
            "INSERT INTO {documents} (language, id, page)"
            " SELECT language, id, page FROM pg_temp.isogloss_batch ORDER BY language, id"
            " ON CONFLICT (language, id) DO UPDATE SET page = excluded.page"
        )
    )
    connection.execute(
        schema.statement(
            "INSERT INTO {vectors} (language, vector, id, keys)"
            " SELECT language, vector, id, keys FROM pg_temp.isogloss_batch ORDER BY language, id"
            " ON CONFLICT (language, id) DO UPDATE SET vector = excluded.vector, keys = excluded.keys"
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

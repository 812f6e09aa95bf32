"""The schema of an index: its tables, their version, the partitions of its languages, the mark of an unfinished one.

    settings    one row: version of the schema, dimension and storage of the vectors, the norm of the longest
    languages   a row a language: what is recorded of its HNSW index
    documents   (language, id), all of the document as JSON
    vectors     (language, id, passage), a point each: its vector, its number, its sparse dimensions, fields for filters
    postings    (dimension, number of the point), the weight: the sparse vectors, inverted

Documents and vectors have a partition for every language. They are two tables, since an exact search reads all vectors
of a language and none of the texts: that is twice as fast as one table where texts are short, and more where they are
long.

The schema of an index that is being made has a comment, and the process that makes it holds an advisory lock of the
server for as long as it lives:

    comment, lock held      it is being made
    comment, lock free      its making was interrupted (kill -9): the next index made in this database drops it
    no comment              it is finished, and nobody touches it

The comment goes before the index appears, and only by whoever holds the lock; so no index loses its schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import LiteralString

import numpy as np
import psycopg
from psycopg import sql

from isogloss.engines.base import Matrix
from isogloss.engines.postgres.connection import Connection
from isogloss.storage.errors import InputError
from isogloss.text.language import check_language

VERSION = 2
MAX_DIMENSION = 16_000
_INLINE_BYTES = 6_000  # of a page of 8 kB: longer vectors go to the side table, where a search is slower
_TABLES = ("settings", "languages", "documents", "vectors", "postings", "numbers")
_MAX_NAME_BYTES = 63
_COMMENT = "isogloss: being made"
_CREATE = """
    CREATE TABLE {settings} (
        version integer NOT NULL, dimension integer NOT NULL, storage text NOT NULL, sparse boolean NOT NULL,
        max_norm double precision NOT NULL DEFAULT 1
    );
    CREATE TABLE {languages} (language text COLLATE "C" PRIMARY KEY, hnsw jsonb);
    CREATE TABLE {documents} (
        language text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, page json NOT NULL,
        PRIMARY KEY (language, id)
    ) PARTITION BY LIST (language);
    CREATE SEQUENCE {numbers} AS integer;
    CREATE TABLE {vectors} (
        language text COLLATE "C" NOT NULL, vector {type}, id text COLLATE "C" NOT NULL, passage integer NOT NULL,
        number integer NOT NULL DEFAULT nextval({sequence}), dimensions integer[], keys text[] NOT NULL,
        PRIMARY KEY (language, id, passage)
    ) PARTITION BY LIST (language);
    ALTER TABLE {vectors} ALTER COLUMN vector SET STORAGE {storage};
    CREATE INDEX ON {vectors} USING gin (keys);
    CREATE INDEX ON {vectors} (number);
    CREATE TABLE {postings} (dimension integer NOT NULL, number integer NOT NULL, weight real NOT NULL);
    CREATE INDEX ON {postings} (dimension, number) INCLUDE (weight);
    """


@dataclass(frozen=True)
class Storage:
    """How vectors are stored: the type of pgvector, that of a component, and how many components HNSW takes."""

    type_name: LiteralString
    component: str
    max_indexed: int


STORAGES = {"float32": Storage("vector", "float32", 2_000), "float16": Storage("halfvec", "float16", 4_000)}


@dataclass(frozen=True)
class Schema:
    """The name of a schema, and what is fixed when it is made; the dimension is 0 if no point has a dense vector."""

    name: str
    dimension: int
    storage: str = "float32"
    sparse: bool = False

    @property
    def kind(self) -> Storage:
        """How vectors are stored."""
        return STORAGES[self.storage]

    def statement(self, text: LiteralString, **parts: sql.Composable) -> sql.Composed:
        """A statement with the names of the tables in place of ``{vectors}`` and the like.

        ``{type}`` is the type of a vector, ``{float32}`` a vector as float32.
        """
        return sql.SQL(text).format(
            **{table: sql.Identifier(self.name, table) for table in _TABLES},
            schema=sql.Identifier(self.name),
            type=sql.SQL("{}({})").format(sql.SQL(self.kind.type_name), sql.Literal(self.dimension or 1)),
            float32=sql.SQL("vector::vector" if self.storage == "float16" else "vector"),
            **parts,
        )

    def partition(self, table: str, language: str) -> sql.Identifier:
        """The name of the partition of a table that holds a language."""
        return sql.Identifier(self.name, f"{table}_{language}")

    def rounded(self, vectors: Matrix) -> Matrix:
        """The vectors as they are stored; a component that does not fit is infinite."""
        with np.errstate(over="ignore"):
            return vectors.astype(self.kind.component).astype(np.float32)

    def checked(self) -> Schema:
        """Raise unless PostgreSQL can hold such a schema."""
        if not self.name or {"\0", "%"} & set(self.name) or len(self.name.encode()) > _MAX_NAME_BYTES:
            way = f"take up to {_MAX_NAME_BYTES} letters and digits"
            raise InputError(f"name: {self.name!r} cannot name a schema; {way}")
        if self.storage not in STORAGES:
            raise InputError(f"storage: {self.storage!r} is not one of {', '.join(STORAGES)}")
        if not 0 <= self.dimension <= MAX_DIMENSION or not (self.dimension or self.sparse):
            most = f"pgvector keeps 1 to {MAX_DIMENSION:,}"
            raise InputError(f"dimension: vectors of {self.dimension:,} components, but {most}; use a smaller model")
        return self


def create_schema(connection: Connection, schema: Schema, shown: str) -> None:
    """Make the tables, in a schema that is not there yet or has nothing in it."""
    with connection.transaction():
        if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema.name,)).fetchone():
            connection.execute(schema.statement("CREATE SCHEMA {schema}"))
        elif _has_tables(connection, schema.name):
            what = f"there is a schema {schema.name!r} with tables already"
            raise InputError(f"{shown}: {what}; choose another name, or drop it")
        is_inline = schema.dimension * np.dtype(schema.kind.component).itemsize <= _INLINE_BYTES
        sequence = sql.Literal(sql.Identifier(schema.name, "numbers").as_string(connection))
        connection.execute(
            schema.statement(_CREATE, storage=sql.SQL("PLAIN" if is_inline else "EXTERNAL"), sequence=sequence)
        )
        connection.execute(
            schema.statement("INSERT INTO {settings} (version, dimension, storage, sparse) VALUES (%s, %s, %s, %s)"),
            (VERSION, schema.dimension, schema.storage, schema.sparse),
        )


def read_schema(connection: Connection, name: str, shown: str) -> Schema:
    """The schema of that name, if it is one of this version."""
    try:
        statement = Schema(name, 1).checked().statement("SELECT version, dimension, storage, sparse FROM {settings}")
        found = connection.execute(statement).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        what = f"there is no schema {name!r} of an index in this database"
        raise InputError(f"{shown}: {what}; make one, or correct the name") from error
    except psycopg.errors.UndefinedColumn:
        found = None
    if found is None or found[0] != VERSION:
        version = f"version {found[0]}" if found else "an unknown version"
        what = f"the schema {name!r} has {version}, this isogloss reads {VERSION}"
        raise InputError(f"{shown}: {what}; make the index again, or use the isogloss that made it")
    return Schema(name, *found[1:])


def drop_schema(connection: Connection, schema: Schema) -> None:
    """Drop the tables, and the schema if nothing of anybody else's is in it."""
    is_owner = "SELECT 1 FROM pg_namespace WHERE nspname = %s AND pg_has_role(nspowner, 'USAGE')"
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout TO 0")
        tables = "DROP TABLE {settings}, {languages}, {documents}, {vectors}, {postings}; DROP SEQUENCE {numbers}"
        connection.execute(schema.statement(tables))
        if not _has_tables(connection, schema.name) and connection.execute(is_owner, (schema.name,)).fetchone():
            connection.execute(schema.statement("DROP SCHEMA {schema}"))


def _has_tables(connection: Connection, name: str) -> bool:
    query = "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = %s LIMIT 1"
    return connection.execute(query, (name,)).fetchone() is not None


def known_languages(connection: Connection, schema: Schema) -> set[str]:
    """The languages that have partitions."""
    return {language for (language,) in connection.execute(schema.statement("SELECT language FROM {languages}"))}


def add_languages(connection: Connection, schema: Schema, languages: Iterable[str]) -> None:
    """Make partitions for languages that have none.

    They are made on their own and attached, which blocks neither readers nor writers of other languages.
    """
    for language in languages:
        check_language(language)
        with connection.transaction():
            connection.execute(schema.statement("LOCK TABLE {languages} IN SHARE ROW EXCLUSIVE MODE"))
            insert = schema.statement("INSERT INTO {languages} VALUES (%s) ON CONFLICT DO NOTHING")
            is_new = connection.execute(insert, (language,)).rowcount
            for table in ("documents", "vectors") if is_new else ():
                connection.execute(
                    schema.statement(
                        "CREATE TABLE {partition} (LIKE {table} INCLUDING ALL);"
                        " ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES IN ({language})",
                        partition=schema.partition(table, language),
                        table=sql.Identifier(schema.name, table),
                        language=sql.Literal(language),
                    )
                )


def begin_unfinished(connection: Connection, name: str, shown: str) -> None:
    """Make an empty schema with the mark of an unfinished one; this connection holds its lock."""
    if not lock(connection, name):
        raise InputError(f"{shown}: somebody else is making {name!r} now; choose another name")
    try:
        with connection.transaction():
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
            _comment(connection, name, _COMMENT)
    except psycopg.errors.DuplicateSchema as error:
        raise InputError(f"{shown}: there is a schema {name!r} already; choose another name") from error


def mark_finished(connection: Connection, name: str) -> None:
    """Take the mark of an unfinished schema away."""
    _comment(connection, name, None)


def lock(connection: Connection, name: str) -> bool:
    """Whether nobody else holds the lock of a schema; then this connection does."""
    found = connection.execute("SELECT pg_try_advisory_lock(hashtextextended('isogloss ' || %s, 0))", (name,))
    return found.fetchone() == (True,)


def unfinished(connection: Connection) -> list[str]:
    """The unfinished schemas that this user may drop, whether somebody is making them or not."""
    query = (
        "SELECT nspname FROM pg_namespace WHERE obj_description(oid, 'pg_namespace') = %s"
        " AND pg_has_role(nspowner, 'USAGE') ORDER BY nspname"
    )
    return [name for (name,) in connection.execute(query, (_COMMENT,))]


def drop_unfinished(connection: Connection, name: str) -> bool:
    """Drop a schema whose lock this connection holds, unless it was finished meanwhile."""
    is_unfinished = name in unfinished(connection)
    if is_unfinished:
        with connection.transaction():
            connection.execute("SET LOCAL statement_timeout TO 0")
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
    connection.execute("SELECT pg_advisory_unlock(hashtextextended('isogloss ' || %s, 0))", (name,))
    return is_unfinished


def _comment(connection: Connection, name: str, text: str | None) -> None:
    connection.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(name), sql.Literal(text)))

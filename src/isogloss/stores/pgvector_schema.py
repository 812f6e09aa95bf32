"""Making, opening, bringing up and dropping the tables of a store.

The tables are made by numbered steps, and ``migrations`` says which have been taken. A store that an older isogloss has
made is brought up when it is opened, by the steps it lacks, all of them in one transaction or none.
"""

from __future__ import annotations

from typing import LiteralString, NamedTuple

import psycopg
from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.stores.pgvector_connection import Connection
from isogloss.stores.pgvector_errors import first_line
from isogloss.stores.pgvector_layout import Layout


class _Step(NamedTuple):
    name: str
    statements: LiteralString


_STEPS = (
    _Step(
        "documents and their vectors",
        """
        CREATE TABLE {settings} (
            dimension integer NOT NULL, storage text NOT NULL, full_text boolean NOT NULL,
            longest double precision NOT NULL DEFAULT 1
        );
        CREATE TABLE {languages} (language text COLLATE "C" PRIMARY KEY, configuration text NOT NULL);
        CREATE TABLE {documents} (
            language text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, page json NOT NULL, words tsvector,
            PRIMARY KEY (language, id)
        ) PARTITION BY LIST (language);
        CREATE TABLE {vectors} (
            language text COLLATE "C" NOT NULL, vector {type} NOT NULL, id text COLLATE "C" NOT NULL,
            keys text[] NOT NULL, PRIMARY KEY (language, id)
        ) PARTITION BY LIST (language);
        ALTER TABLE {vectors} ALTER COLUMN vector SET STORAGE {storage};
        CREATE INDEX ON {vectors} USING gin (keys);
        CREATE INDEX ON {documents} USING gin (words);
        """,
    ),
    _Step("what HNSW reaches in each language", "ALTER TABLE {languages} ADD COLUMN hnsw jsonb"),
)
LAYOUT = len(_STEPS)


def make(connection: Connection, layout: Layout, shown: str) -> None:
    """Make the tables, in a schema that is not there yet or has nothing in it."""
    with connection.transaction():
        if not _is_there(connection, layout.name):
            connection.execute(layout.statement("CREATE SCHEMA {schema}"))
        elif _has_tables(connection, layout.name):
            what = f"there is a schema {layout.name!r} with tables already"
            raise InputError(f"{shown}: {what}; choose another name, or drop it")
        connection.execute(
            layout.statement(
                "CREATE TABLE {migrations} (version integer PRIMARY KEY, name text NOT NULL,"
                " applied timestamptz NOT NULL DEFAULT now())"
            )
        )
        take_steps(connection, layout, 0)
        connection.execute(
            layout.statement("INSERT INTO {settings} (dimension, storage, full_text) VALUES (%s, %s, %s)"),
            (layout.dimension, layout.storage, layout.full_text),
        )


def read(connection: Connection, name: str, shown: str) -> Layout:
    """The layout of the store of that name, brought up to what this isogloss knows."""
    probe = Layout(name, 1).checked()
    try:
        found = connection.execute(probe.statement("SELECT max(version) FROM {migrations}")).fetchone()
        kept = connection.execute(probe.statement("SELECT dimension, storage, full_text FROM {settings}")).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise InputError(f"{shown}: there is no store {name!r} in this database; make one, or mend the name") from error
    assert found is not None and kept is not None
    layout, version = Layout(name, *kept), int(found[0])
    if version > LAYOUT:
        what = f"the store {name!r} has layout {version}, this isogloss knows {LAYOUT}"
        raise InputError(f"{shown}: {what}; install a newer isogloss")
    if version < LAYOUT:
        _bring_up(connection, layout, shown, version)
    return layout


def take_steps(connection: Connection, layout: Layout, done: int, last: int | None = None) -> None:
    """Take the steps after the first ``done``; whoever calls has begun a transaction."""
    storage = sql.SQL("PLAIN" if layout.is_inline else "EXTERNAL")
    for version, step in enumerate(_STEPS[done:last], start=done + 1):
        connection.execute(layout.statement(step.statements, storage=storage))
        connection.execute(
            layout.statement("INSERT INTO {migrations} (version, name) VALUES (%s, %s)"), (version, step.name)
        )


def drop(connection: Connection, layout: Layout) -> None:
    """Drop the tables, and the schema if nothing of anybody else's is in it."""
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout TO 0")
        connection.execute(layout.statement("DROP TABLE {settings}, {languages}, {documents}, {vectors}, {migrations}"))
        if not _has_tables(connection, layout.name) and _owns(connection, layout.name):
            connection.execute(layout.statement("DROP SCHEMA {schema}"))


def _bring_up(connection: Connection, layout: Layout, shown: str, version: int) -> None:
    try:
        with connection.transaction():
            connection.execute("SET LOCAL statement_timeout TO 0")
            connection.execute(layout.statement("LOCK TABLE {migrations} IN ACCESS EXCLUSIVE MODE"))
            found = connection.execute(layout.statement("SELECT max(version) FROM {migrations}")).fetchone()
            assert found is not None  # somebody else may have brought it up in between
            take_steps(connection, layout, int(found[0]))
    except psycopg.errors.InsufficientPrivilege as error:
        what = f"the store {layout.name!r} has layout {version} and has to be brought to {LAYOUT}"
        raise InputError(f"{shown}: {what}; open it once as the user that owns it ({first_line(error)})") from error


def _is_there(connection: Connection, schema: str) -> bool:
    return connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is not None


def _has_tables(connection: Connection, schema: str) -> bool:
    query = "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = %s LIMIT 1"
    return connection.execute(query, (schema,)).fetchone() is not None


def _owns(connection: Connection, schema: str) -> bool:
    query = "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = %s"
    found = connection.execute(query, (schema,)).fetchone()
    return bool(found and found[0])

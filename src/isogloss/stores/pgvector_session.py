"""The beginning of a session: whether the server can do what is needed, and how its statements are to be run."""

from __future__ import annotations

import psycopg
from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.stores.pgvector_connection import Connection

_OLDEST = (0, 8)  # of pgvector: since then filters and HNSW go together (iterative scans)


def ensure_extension(connection: Connection, shown: str) -> None:
    """Make pgvector known to the database, if it is not and may be."""
    if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
        return
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.InsufficientPrivilege as error:
        raise InputError(
            f"{shown}: pgvector is not in this database; let an administrator say CREATE EXTENSION vector there"
        ) from error
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise InputError(
            f"{shown}: pgvector is not installed on the server (Debian: postgresql-18-pgvector); install it there"
        ) from error


def begin_session(connection: Connection, shown: str, timeout: float) -> None:
    """What every connection of a store needs: the extension's types, a limit to each statement, plans that fit."""
    found = connection.execute(
        "SELECT extversion, nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace"
        " WHERE extname = 'vector'"
    ).fetchone()
    if found is None:
        raise InputError(f"{shown}: pgvector is not in this database; say CREATE EXTENSION vector there")
    version, schema = found
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST:
        raise InputError(f"{shown}: pgvector {version} is too old; install 0.8 and say ALTER EXTENSION vector UPDATE")
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise InputError(f"{shown}: the database is not in UTF8; make another, CREATE DATABASE … ENCODING 'UTF8'")
    connection.execute(
        sql.SQL(
            "SET search_path TO {schema}; SET statement_timeout TO {timeout}; SET plan_cache_mode TO force_custom_plan;"
            " SET jit TO off; SET hnsw.iterative_scan TO relaxed_order"
        ).format(schema=sql.Identifier(schema), timeout=sql.Literal(round(timeout * 1000)))
    )

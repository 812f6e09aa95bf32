"""The languages of a store: each has its parts of the tables, and a configuration of PostgreSQL's text search."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg
from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.index.segments import check_language
from isogloss.stores.pgvector_connection import Connection
from isogloss.stores.pgvector_errors import first_line
from isogloss.stores.pgvector_layout import Layout
from isogloss.text.stemming import SNOWBALL_NAMES

_PARTED = ("documents", "vectors")


def known_languages(connection: Connection, layout: Layout) -> set[str]:
    """The languages that documents can be added in at once."""
    return {language for (language,) in connection.execute(layout.statement("SELECT language FROM {languages}"))}


def add_languages(connection: Connection, layout: Layout, languages: Mapping[str, str]) -> None:
    """Make room for languages that are new; ``languages`` names their text search configurations, "" for the usual.

    Parts are made on their own and attached, which holds up neither readers nor writers of other languages.
    """
    for language, wanted in languages.items():
        check_language(language)
        configuration = _configuration(connection, language, wanted)
        with connection.transaction():
            connection.execute(layout.statement("LOCK TABLE {languages} IN SHARE ROW EXCLUSIVE MODE"))
            added = connection.execute(
                layout.statement("INSERT INTO {languages} VALUES (%s, %s) ON CONFLICT DO NOTHING"),
                (language, configuration),
            )
            for table in _PARTED if added.rowcount else ():
                _attach(connection, layout, table, language)


def _attach(connection: Connection, layout: Layout, table: str, language: str) -> None:
    parts = {
        "part": layout.partition(table, language),
        "whole": sql.Identifier(layout.name, table),
        "language": sql.Literal(language),
    }
    connection.execute(layout.statement("CREATE TABLE {part} (LIKE {whole} INCLUDING ALL)", **parts))
    connection.execute(
        layout.statement("ALTER TABLE {whole} ATTACH PARTITION {part} FOR VALUES IN ({language})", **parts)
    )


def _configuration(connection: Connection, language: str, wanted: str) -> str:
    """The text search configuration of a language: the one that is wanted, PostgreSQL's own for it, or ``simple``."""
    if wanted:
        try:
            connection.execute("SELECT %s::regconfig", (wanted,))
        except psycopg.Error as error:
            raise InputError(f"languages: {wanted!r} is no text search configuration ({first_line(error)})") from error
        return wanted
    own = SNOWBALL_NAMES.get(language.split("-", maxsplit=1)[0])
    query = "SELECT 1 FROM pg_ts_config WHERE cfgname = %s AND cfgnamespace = 'pg_catalog'::regnamespace"
    return f"pg_catalog.{own}" if own and connection.execute(query, (own,)).fetchone() else "pg_catalog.simple"

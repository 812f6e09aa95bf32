"""The store of an index in PostgreSQL: begun, finished, swept away if nobody finishes it; searched exactly or not.

A store that is being made has a remark on its schema, and whoever makes it holds a lock of the server's for as long as
its process lives:

    remark, lock held       it is being made
    remark, lock free       its making was broken off (kill -9): the next index that is made in this database drops it
    no remark               it is finished, and nobody touches it

The remark goes before the index appears, and only by whoever holds the lock; so what an index speaks of is never swept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import psycopg
from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.corpus.formats.jsonl import document_of
from isogloss.corpus.records import Document
from isogloss.stores.pgvector import TIMEOUT, PgVectorStore
from isogloss.stores.pgvector_approximation import build_memory, languages_to_index
from isogloss.stores.pgvector_connection import Connection, connect, without_password
from isogloss.stores.pgvector_errors import sentences
from isogloss.stores.pgvector_hnsw import drop_indexes
from isogloss.stores.pgvector_notes import is_used

_STRETCH = 2_000  # documents
_REMARK = "isogloss: being made"
_TRY = "SELECT pg_try_advisory_lock(hashtextextended('isogloss ' || %s, 0))"
_LEAVE = "SELECT pg_advisory_unlock(hashtextextended('isogloss ' || %s, 0))"
_UNFINISHED = (
    "SELECT nspname FROM pg_namespace WHERE obj_description(oid, 'pg_namespace') = %s"
    " AND pg_has_role(nspowner, 'USAGE') ORDER BY nspname"
)


class PgVectorIndexStore(PgVectorStore):
    """A store that belongs to an index."""

    _maker: Connection | None = None

    @classmethod
    def begin(cls, url: str, dimension: int, *, name: str) -> PgVectorIndexStore:
        """A new store that is swept away unless ``finish`` is called, sooner or later, by the process that began it."""
        shown = without_password(url) or "PostgreSQL"
        with sentences(shown, TIMEOUT):
            maker = connect(url)
            try:
                _mark(maker, name, shown)
                made = cls.create(url, dimension, name=name)
            except BaseException:
                with suppress(psycopg.Error):
                    _drop_unfinished(maker, name)
                maker.close()
                raise
        assert isinstance(made, PgVectorIndexStore)
        made._maker = maker
        return made

    def finish(self) -> None:
        """It is whole: from now on it stays."""
        maker, self._maker = self._maker, None
        if maker is None:
            return
        with sentences(self._connections.shown, self._timeout):
            try:
                _unmark(maker, self.layout.name)
            except psycopg.OperationalError:  # the connection has died of old age: is the store still there?
                with self._connections.another() as another:
                    self._take_again(another)
            finally:
                maker.close()

    @classmethod
    def sweep(cls, url: str) -> list[str]:
        """Drop what was begun and never finished by processes that are no more; the names of it."""
        shown = without_password(url) or "PostgreSQL"
        with sentences(shown, TIMEOUT), connect(url) as connection:
            left = _unfinished(connection)
            return [name for name in left if _locked(connection, name) and _drop_unfinished(connection, name)]

    def documents(self, language: str) -> Iterator[Document]:
        """The documents of a language in the order of their ids, as they are at this moment, fetched in stretches."""
        statement = self.layout.statement("SELECT page FROM {documents} WHERE language = %s ORDER BY id")
        with self._connected() as connection, connection.transaction(), connection.cursor("isogloss_pages") as cursor:
            cursor.itersize = _STRETCH
            cursor.execute(statement, (language,))
            for (page,) in cursor:
                yield document_of(page)

    def approximate(self, how: str) -> dict[str, float]:
        """Build HNSW indexes (``yes``; ``auto``: where there is much to search), or drop them (``no``)."""
        counts = self.counts()
        for language in languages_to_index(counts, self.layout, how):
            self.build_hnsw([language], memory=build_memory(counts[language], self.layout))
        if how == "no":
            self._change(self._drop_hnsw)
        return self.recalls()

    def recalls(self) -> dict[str, float]:
        """The recall@10 that was measured in each language that is searched through an HNSW index."""
        with self._connected() as connection:
            known = self._notes.read(connection)
        return {language: note["levels"][0]["recall"] for language, note in known.items() if is_used(note)}

    def close(self) -> None:
        """Close the connections, that of the making too."""
        if self._maker is not None:
            self._maker.close()
            self._maker = None
        super().close()

    def _drop_hnsw(self, connection: Connection) -> None:
        for language in self._notes.read(connection):
            drop_indexes(connection, self.layout, language)
            self._notes.write(connection, language, None)

    def _take_again(self, connection: Connection) -> None:
        name = self.layout.name
        if not _locked(connection, name) or name not in _unfinished(connection):
            raise InputError(f"{self._connections.shown}: {name} was swept away while it was made; make it again")
        _unmark(connection, name)


def _mark(connection: Connection, name: str, shown: str) -> None:
    """Make an empty schema that says that it is being made."""
    if not _locked(connection, name):
        raise InputError(f"{shown}: somebody else is making {name!r} now; choose another name")
    try:
        with connection.transaction():
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
            _remark(connection, name, _REMARK)
    except psycopg.errors.DuplicateSchema as error:
        raise InputError(f"{shown}: there is a schema {name!r} already; choose another name") from error


def _unmark(connection: Connection, name: str) -> None:
    _remark(connection, name, None)


def _remark(connection: Connection, name: str, text: str | None) -> None:
    statement = sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(name), sql.Literal(text))
    connection.execute(statement)


def _locked(connection: Connection, name: str) -> bool:
    """Whether nobody else holds the lock of a name; then this connection has it."""
    found = connection.execute(_TRY, (name,)).fetchone()
    return bool(found and found[0])


def _unfinished(connection: Connection) -> list[str]:
    """What has a remark, of what this user may drop."""
    return [name for (name,) in connection.execute(_UNFINISHED, (_REMARK,))]


def _drop_unfinished(connection: Connection, name: str) -> bool:
    """Drop a schema whose lock this connection holds, unless it was finished meanwhile."""
    if name not in _unfinished(connection):
        connection.execute(_LEAVE, (name,))
        return False
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout TO 0")
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
    connection.execute(_LEAVE, (name,))
    return True

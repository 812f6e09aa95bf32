"""A store in PostgreSQL with pgvector: documents and vectors in the user's own database, in a schema of their own.

Every change is one transaction: whatever stops it, a lost connection or a killed server, leaves what was there before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import psycopg
from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.corpus.formats.jsonl import document_of
from isogloss.corpus.records import Document
from isogloss.index.vector_tuning import TARGET
from isogloss.lexical.bm25 import Concept
from isogloss.stores import pgvector_hnsw as hnsw
from isogloss.stores import pgvector_schema as schema
from isogloss.stores.batches import checked_batch, checked_queries
from isogloss.stores.pgvector_connection import Connection, Connections, connect, without_password
from isogloss.stores.pgvector_errors import sentences
from isogloss.stores.pgvector_languages import add_languages, known_languages
from isogloss.stores.pgvector_layout import Layout
from isogloss.stores.pgvector_notes import Notes
from isogloss.stores.pgvector_search import Scope, lets_few_pass, search_exactly, search_hnsw
from isogloss.stores.pgvector_session import begin_session, ensure_extension
from isogloss.stores.pgvector_text import fused, search_words
from isogloss.stores.pgvector_writing import sayable, write_batch
from isogloss.stores.store import Answer, Filters, Matrix

NAME = "isogloss"
TIMEOUT = 60.0
_ATTEMPTS = 5  # at a change that other writers are in the way of
_IN_THE_WAY = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
_DEPTH = 100  # of the lists that are fused

Result = TypeVar("Result")


class PgVectorStore:
    """A store in a schema of a database; ``create`` and ``open`` make them. Threads may share one.

    ``url`` is what libpq takes; empty, it is taken from ``ISOGLOSS_STORE``, and what that does not say from ``PGHOST``,
    ``PGPASSWORD`` and the like. ``timeout`` is what a statement may take, in seconds.
    """

    def __init__(self, connections: Connections, layout: Layout, timeout: float) -> None:
        self._connections, self.layout, self._timeout = connections, layout, timeout
        self._languages: set[str] = set()
        self._notes = Notes(layout)

    @classmethod
    def create(
        cls, url: str, dimension: int, *, name: str = NAME, languages: Mapping[str, str] | None = None,
        storage: str = "float32", full_text: bool = True, timeout: float = TIMEOUT,
    ) -> PgVectorStore:  # fmt: skip
        """A new store in a schema of that name, which must not hold any tables.

        ``languages`` makes room for some before their documents come, and names the text search configuration of each
        ("" for PostgreSQL's own); whoever adds documents in others has to own the store. ``storage`` is ``float32`` or
        ``float16``; without ``full_text`` words are not kept.
        """
        layout = Layout(name, dimension, storage, full_text).checked()
        shown = without_password(url) or "PostgreSQL"
        with sentences(shown, timeout), connect(url) as connection:
            ensure_extension(connection, shown)
            begin_session(connection, shown, timeout)
            with connection.transaction():
                schema.make(connection, layout, shown)
                add_languages(connection, layout, languages or {})
        return cls(_connections(url, timeout), layout, timeout)

    @classmethod
    def open(cls, url: str, *, name: str = NAME, timeout: float = TIMEOUT) -> PgVectorStore:
        """The store of that name; one that an older isogloss has made is brought up."""
        connections = _connections(url, timeout)
        try:
            with sentences(connections.shown, timeout), connections.one() as connection:
                return cls(connections, schema.read(connection, name, connections.shown), timeout)
        except BaseException:
            connections.close()
            raise

    def add(self, documents: Sequence[Document], vectors: Matrix) -> None:
        """Add or replace documents in one transaction."""
        matrix = checked_batch(documents, vectors, self.layout.dimension)
        self._make_room({document.language for document in documents})
        self._change(lambda connection: write_batch(connection, self.layout, documents, matrix))

    def load(self, batches: Iterable[tuple[Sequence[Document], Matrix]]) -> int:
        """Add or replace a stream of batches in one transaction, all or none of them; how many documents there were.

        Of two documents with one id in different batches the later one stays.
        """
        loaded = 0
        with self._connected() as connection, connection.transaction():
            for documents, vectors in batches:
                matrix = checked_batch(documents, vectors, self.layout.dimension)
                self._make_room({document.language for document in documents})
                write_batch(connection, self.layout, documents, matrix)
                loaded += len(documents)
            for table in ("documents", "vectors"):
                connection.execute(
                    self.layout.statement("ANALYZE {table}", table=sql.Identifier(self.layout.name, table))
                )
        return loaded

    def delete(self, language: str, ids: Sequence[str]) -> int:
        """Take documents out in one transaction."""
        values = (language, [id_ for id_ in ids if sayable(id_)])

        def change(connection: Connection) -> int:
            gone = connection.execute(
                self.layout.statement("DELETE FROM {documents} WHERE language = %s AND id = ANY(%s)"), values
            )
            connection.execute(
                self.layout.statement("DELETE FROM {vectors} WHERE language = %s AND id = ANY(%s)"), values
            )
            return gone.rowcount

        return self._change(change) if sayable(language) else 0

    def search(
        self, language: str, queries: Matrix, k: int, filters: Filters | None = None, exact: bool = False
    ) -> list[Answer]:
        """The best ``k`` documents of a language for each query.

        Through the HNSW index where there is one that reaches its recall at this depth, unless ``exact``. With a filter
        that lets few pass, or where HNSW does not find enough, every document that passes is scored.
        """
        asked, scope = checked_queries(queries, self.layout.dimension), Scope(language, filters)
        if k < 1 or not len(asked) or not scope.is_sayable:
            return [Answer(())] * len(asked)
        with self._connected() as connection:
            ef_search = None if exact else self._notes.ef_search(connection, language, k)
            if ef_search is None or lets_few_pass(connection, self.layout, scope):
                return search_exactly(connection, self.layout, scope, asked, k)
            answers = search_hnsw(connection, self.layout, scope, asked, k, ef_search)
            short = [number for number, answer in enumerate(answers) if len(answer.found) < k]
            again = search_exactly(connection, self.layout, scope, asked[short], k)
        for number, answer in zip(short, again, strict=True):
            answers[number] = answer
        return answers

    def search_words(
        self, language: str, queries: Sequence[Sequence[Concept]], k: int, filters: Filters | None = None
    ) -> list[Answer]:
        """The best ``k`` documents by PostgreSQL's full-text search for each query, given as concepts."""
        scope = Scope(language, filters)
        if k < 1 or not scope.is_sayable:
            return [Answer(())] * len(queries)
        with self._connected() as connection:
            return search_words(connection, self.layout, scope, queries, k)

    def search_hybrid(
        self, language: str, vectors: Matrix, queries: Sequence[Sequence[Concept]], k: int,
        filters: Filters | None = None, weight: float = 0.5,
    ) -> list[Answer]:  # fmt: skip
        """The best ``k`` of both searches by reciprocal rank; ``weight``, from 0 to 1, is that of the vectors."""
        if len(vectors) != len(queries) or not 0 <= weight <= 1:
            what = f"{len(vectors)} vectors for {len(queries)} queries with a weight of {weight}"
            raise InputError(f"hybrid: {what}; give one for each, and a weight from 0 to 1")
        depth = max(k, _DEPTH)
        by_vectors = self.search(language, vectors, depth, filters)
        by_words = self.search_words(language, queries, depth, filters)
        return [fused(one, other, max(k, 0), weight) for one, other in zip(by_vectors, by_words, strict=True)]

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        """Documents by their ids."""
        if not sayable(language):
            return [None] * len(ids)
        statement = self.layout.statement("SELECT id, page FROM {documents} WHERE language = %s AND id = ANY(%s)")
        with self._connected() as connection:
            pages = dict(connection.execute(statement, (language, [id_ for id_ in ids if sayable(id_)])).fetchall())
        return [document_of(pages[id_]) if id_ in pages else None for id_ in ids]

    def counts(self) -> dict[str, int]:
        """How many documents there are of each language."""
        statement = self.layout.statement(
            "SELECT language, count(*) FROM {documents} GROUP BY language ORDER BY language"
        )
        with self._connected() as connection:
            return dict(connection.execute(statement).fetchall())

    def about(self) -> dict[str, Any]:
        """Where it is and how it is searched: ``search`` says of each language what HNSW reaches, or ``exact``."""
        size = (
            "SELECT extversion, (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = %s AND relkind IN ('r', 'p'))"
            " FROM pg_extension WHERE extname = 'vector'"
        )
        with self._connected() as connection:
            known = self._notes.read(connection)
            extension, bytes_ = connection.execute(size, (self.layout.name,)).fetchone() or ("", 0)
            server = connection.info.parameter_status("server_version")
        return {
            "engine": "pgvector", "server": f"PostgreSQL {server}", "pgvector": extension,
            "database": self._connections.shown, "name": self.layout.name, "layout": schema.LAYOUT,
            "dimension": self.layout.dimension, "storage": self.layout.storage, "full_text": self.layout.full_text,
            "documents": self.counts(), "bytes": bytes_,
            "search": {language: {"kind": "hnsw", **it} if it else {"kind": "exact"} for language, it in known.items()},
        }  # fmt: skip

    def build_hnsw(
        self, languages: Sequence[str] | None = None, m: int = 16, ef_construction: int = 64, target: float = TARGET,
        memory: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Build HNSW indexes, of all languages or of some, and measure what they reach; that is what is given.

        ``memory`` is what the server may take for it, such as "2GB": a graph that does not fit is built far slower.
        """
        with self._connected() as connection:
            for language in self._chosen(connection, languages):
                made = hnsw.build(connection, self.layout, language, m, ef_construction, memory)
                self._notes.write(connection, language, made)
        return self.measure_hnsw(languages, target)

    def measure_hnsw(self, languages: Sequence[str] | None = None, target: float = TARGET) -> dict[str, Any]:
        """Measure anew what HNSW indexes reach, when there are many more documents than there were."""
        with self._connected() as connection:
            known = self._notes.read(connection)
            for language in self._chosen(connection, languages):
                made = known[language]
                if made is not None:
                    reached = hnsw.measure(connection, self.layout, language, target)
                    self._notes.write(connection, language, {**made, **reached})
            return {language: note for language, note in self._notes.read(connection).items() if note}

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def drop(self) -> None:
        """Drop the tables, and the schema unless something else is in it; and close."""
        with self._connected() as connection:
            schema.drop(connection, self.layout)
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with sentences(self._connections.shown, self._timeout), self._connections.one() as connection:
            yield connection

    def _change(self, change: Callable[[Connection], Result]) -> Result:
        """Change the store in a transaction, again if other writers were in the way."""
        with self._connected() as connection:
            for _ in range(_ATTEMPTS - 1):
                try:
                    with connection.transaction():
                        return change(connection)
                except _IN_THE_WAY:
                    continue
            with connection.transaction():
                return change(connection)

    def _chosen(self, connection: Connection, languages: Sequence[str] | None) -> list[str]:
        """Some of the languages, or all."""
        known = known_languages(connection, self.layout)
        unknown = [language for language in languages or () if language not in known]
        if unknown:
            raise InputError(f"language: {unknown[0]!r} is not in this store; it has {', '.join(sorted(known))}")
        return list(languages or sorted(known))

    def _make_room(self, languages: set[str]) -> None:
        """Make room for languages that are new, whatever comes of their documents: what has none is not counted."""
        if languages <= self._languages:
            return
        with sentences(self._connections.shown, self._timeout), self._connections.another() as connection:
            self._languages = known_languages(connection, self.layout)
            new = languages - self._languages
            add_languages(connection, self.layout, dict.fromkeys(sorted(new), ""))
            self._languages |= new


def _connections(url: str, timeout: float) -> Connections:
    shown = without_password(url) or "PostgreSQL"
    return Connections(url, partial(begin_session, shown=shown, timeout=timeout))

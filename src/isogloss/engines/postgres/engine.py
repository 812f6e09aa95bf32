"""PostgreSQL with pgvector as an engine: documents and vectors in the user's own database, in a schema of their own.

Every change is one transaction: whatever stops it, a lost connection or a killed server, leaves what was there before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

import numpy as np
import psycopg

from isogloss.data.documents import Document, document_of
from isogloss.engines.base import EngineHit, Filters, Matrix, Points, Queries, checked_points, checked_queries
from isogloss.engines.postgres import hnsw
from isogloss.engines.postgres import schema as schemas
from isogloss.engines.postgres.connection import Connection, Database
from isogloss.engines.postgres.schema import Schema
from isogloss.engines.postgres.searching import Scope, is_selective, search_exact, search_hnsw, search_sparse
from isogloss.engines.postgres.writing import delete_documents, is_storable, write_batch
from isogloss.engines.recall import chosen_languages, ef_search_for, reached_recalls
from isogloss.retrieval.vectors.approximate import TARGET
from isogloss.storage.errors import InputError

NAME = "isogloss"
TIMEOUT = 60.0
_ATTEMPTS = 5  # at a change that conflicts with other writers
_CONFLICTS = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
_CHUNK = 2_000  # documents of a stream fetched at a time

Result = TypeVar("Result")


class PostgresEngine:
    """Documents and vectors in a schema of a database, from ``create``, ``begin`` or ``open``. Threads may share it.

    ``url`` is ``postgresql://user@host/database``; if empty, ``ISOGLOSS_ENGINE``. What it leaves out comes from
    ``PGHOST``, ``PGPASSWORD`` and the like. ``timeout`` is the limit of a statement, in seconds.
    """

    def __init__(self, database: Database, schema: Schema) -> None:
        self.schema = schema
        self._database = database
        self._languages: set[str] = set()
        self._hnsw = hnsw.HnswMetadata(schema)
        self._maker: Connection | None = None

    @classmethod
    def create(
        cls, url: str, dimension: int, *, name: str = NAME, sparse: bool = False, languages: Iterable[str] = (),
        storage: str = "float32", timeout: float = TIMEOUT,
    ) -> Self:  # fmt: skip
        """A new schema of that name, or one without any tables.

        ``languages`` makes partitions for some before their documents come; whoever adds documents in others has to own
        the schema. ``storage`` is ``float32`` or ``float16``.
        """
        schema, database = Schema(name, dimension, storage, sparse).checked(), Database(url, timeout)
        with database.separate_connection(configure=False) as connection:
            database.ensure_extension(connection)
            database.configure(connection)
            with connection.transaction():
                schemas.create_schema(connection, schema, database.shown)
                schemas.add_languages(connection, schema, languages)
        return cls(database, schema)

    @classmethod
    def open(cls, url: str, *, name: str = NAME, timeout: float = TIMEOUT) -> Self:
        """The schema of that name."""
        database = Database(url, timeout)
        with database.separate_connection() as connection:
            return cls(database, schemas.read_schema(connection, name, database.shown))

    @classmethod
    def begin(cls, url: str, dimension: int, *, name: str, sparse: bool = False) -> Self:
        """A new schema that ``sweep`` drops unless ``finish`` is called by the process that began it."""
        database = Database(url, TIMEOUT)
        with database.errors():
            maker = database.connect()
            try:
                schemas.begin_unfinished(maker, name, database.shown)
                engine = cls.create(url, dimension, name=name, sparse=sparse)
            except BaseException:
                with suppress(psycopg.Error):
                    schemas.drop_unfinished(maker, name)
                maker.close()
                raise
        engine._maker = maker
        return engine

    def finish(self) -> None:
        """It is whole: from now on it stays."""
        name, maker, self._maker = self.schema.name, self._maker, None
        if maker is None:
            return
        with self._database.errors():
            try:
                schemas.mark_finished(maker, name)
            except psycopg.OperationalError:  # the connection is lost, and the lock with it: is the schema still there?
                with self._database.separate_connection(configure=False) as connection:
                    if not schemas.lock(connection, name) or name not in schemas.unfinished(connection):
                        what = f"{name} was swept away while it was made; make it again"
                        raise InputError(f"{self._database.shown}: {what}") from None
                    schemas.mark_finished(connection, name)
            finally:
                maker.close()
        self._vacuum()

    @classmethod
    def sweep(cls, url: str) -> list[str]:
        """Drop what was begun and never finished by processes that are no more; the names of it."""
        with Database(url, TIMEOUT).separate_connection(configure=False) as connection:
            return [
                name
                for name in schemas.unfinished(connection)
                if schemas.lock(connection, name) and schemas.drop_unfinished(connection, name)
            ]

    def add(self, documents: Sequence[Document], points: Points | Matrix) -> None:
        """Add or replace documents in one transaction."""
        checked = checked_points(documents, points, self.schema.dimension, self.schema.sparse)
        self._add_languages(documents)
        self._change(lambda connection: write_batch(connection, self.schema, documents, checked))

    def load(self, batches: Iterable[tuple[Sequence[Document], Points | Matrix]]) -> int:
        """Add or replace a stream of batches in one transaction, all or none of them; how many documents there were.

        Of two documents with one id in different batches the later one stays.
        """
        loaded = 0
        with self._database.connection() as connection, connection.transaction():
            for documents, points in batches:
                checked = checked_points(documents, points, self.schema.dimension, self.schema.sparse)
                self._add_languages(documents)
                write_batch(connection, self.schema, documents, checked)
                loaded += len(documents)
            connection.execute(self.schema.statement("ANALYZE {documents}"))
            connection.execute(self.schema.statement("ANALYZE {vectors}"))
            connection.execute(self.schema.statement("ANALYZE {postings}"))
        return loaded

    def delete(self, language: str, ids: Sequence[str]) -> int:
        """Take documents out in one transaction."""
        if not is_storable(language):
            return 0
        return self._change(lambda connection: delete_documents(connection, self.schema, language, ids))

    def search(
        self, language: str, queries: Queries, k: int, filters: Filters | None = None, ids: Sequence[str] | None = None,
        exact: bool = False,
    ) -> list[list[EngineHit]]:  # fmt: skip
        """The best ``k`` documents of a language for each query.

        Dense vectors through the HNSW index where there is one that reaches its recall at this depth, unless ``exact``.
        With ``ids``, or a filter that lets few pass, or where HNSW does not find enough, every document that passes is
        scored.
        """
        checked = checked_queries(queries, self.schema.dimension, self.schema.sparse)
        scope = Scope(language, filters, ids)
        if k < 1 or not len(checked) or not scope.is_storable:
            return [[] for _ in checked]
        if not isinstance(checked, np.ndarray):
            with self._database.connection() as connection:
                return search_sparse(connection, self.schema, scope, checked, k)
        matrix, exact = checked, exact or ids is not None
        exact = exact or not np.isfinite(self.schema.rounded(matrix)).all()
        with self._database.connection() as connection:
            ef_search = None if exact else ef_search_for(self._hnsw.recent(connection).get(language), k)
            if ef_search is None or is_selective(connection, self.schema, scope):
                return search_exact(connection, self.schema, scope, matrix, k)
            answers = search_hnsw(connection, self.schema, scope, matrix, k, ef_search)
            short = [number for number, answer in enumerate(answers) if len(answer) < k]
            complete = search_exact(connection, self.schema, scope, matrix[short], k)
        for number, answer in zip(short, complete, strict=True):
            answers[number] = answer
        return answers

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        if not is_storable(language):
            return [None] * len(ids)
        statement = self.schema.statement("SELECT id, page FROM {documents} WHERE language = %s AND id = ANY(%s)")
        values = (language, [id_ for id_ in ids if is_storable(id_)])
        with self._database.connection() as connection:
            pages = dict(connection.execute(statement, values).fetchall())
        return [document_of(pages[id_]) if id_ in pages else None for id_ in ids]

    def documents(self, language: str) -> Iterator[Document]:
        """The documents of a language in the order of their ids, as they are at this moment, as a stream."""
        statement = self.schema.statement("SELECT page FROM {documents} WHERE language = %s ORDER BY id")
        with (
            self._database.connection() as connection,
            connection.transaction(),
            connection.cursor("isogloss_documents") as cursor,
        ):
            cursor.itersize = _CHUNK
            cursor.execute(statement, (language,))
            for (page,) in cursor:
                yield document_of(page)

    def counts(self) -> dict[str, int]:
        statement = self.schema.statement("SELECT language, count(*) FROM {documents} GROUP BY 1 ORDER BY 1")
        with self._database.connection() as connection:
            return dict(connection.execute(statement).fetchall())

    def about(self) -> dict[str, Any]:
        """Where it is and how it is searched: ``search`` says of each language what HNSW reaches, or ``exact``."""
        size = (
            "SELECT extversion, (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = %s AND relkind IN ('r', 'p'))"
            " FROM pg_extension WHERE extname = 'vector'"
        )
        with self._database.connection() as connection:
            known = self._hnsw.read(connection)
            extension, bytes_ = connection.execute(size, (self.schema.name,)).fetchone() or ("", 0)
            server = connection.info.parameter_status("server_version")
        return {
            "engine": "postgresql", "server": f"PostgreSQL {server}", "pgvector": extension,
            "database": self._database.shown, "name": self.schema.name, "version": schemas.VERSION,
            "dimension": self.schema.dimension, "storage": self.schema.storage, "sparse": self.schema.sparse,
            "documents": self.counts(),
            "bytes": bytes_,
            "search": {language: {"kind": "hnsw", **it} if it else {"kind": "exact"} for language, it in known.items()},
        }  # fmt: skip

    def build_hnsw(
        self, languages: Sequence[str] | None = None, m: int = 16, ef_construction: int = 64,
        target: float = TARGET, memory: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Build HNSW indexes, of all languages or of some, and measure the recall they reach, which is returned.

        ``memory`` is what the server may take for it, such as "2GB": a graph that does not fit is built far slower.
        """
        with self._database.connection() as connection:
            for language in self._chosen(connection, languages):
                built = hnsw.build_index(connection, self.schema, language, m, ef_construction, memory)
                self._hnsw.write(connection, language, built)
        return self.measure_hnsw(languages, target)

    def measure_hnsw(self, languages: Sequence[str] | None = None, target: float = TARGET) -> dict[str, Any]:
        """Measure anew what HNSW indexes reach, when there are many more documents than there were."""
        with self._database.connection() as connection:
            known = self._hnsw.read(connection)
            for language in self._chosen(connection, languages):
                built = known[language]
                if built is not None:
                    reached = hnsw.measure_recall(connection, self.schema, language, target)
                    self._hnsw.write(connection, language, {**built, **reached})
            return {language: metadata for language, metadata in self._hnsw.read(connection).items() if metadata}

    def approximate(self, how: str) -> dict[str, float]:
        """Build HNSW indexes (``yes``; ``auto``: where there is much to search), or drop them (``no``)."""
        counts = self.counts()
        can = self.schema.dimension <= self.schema.kind.max_indexed
        for language in chosen_languages(counts if self.schema.dimension else {}, how, can):
            self.build_hnsw([language], memory=hnsw.build_memory(counts[language], self.schema))
        if how == "no":
            self._change(self._drop_hnsw)
        return self.recalls()

    def recalls(self) -> dict[str, float]:
        with self._database.connection() as connection:
            known = self._hnsw.read(connection)
        return reached_recalls(known)

    def close(self) -> None:
        if self._maker is not None:
            self._maker.close()
            self._maker = None
        self._database.close()

    def drop(self) -> None:
        """Drop the tables, and the schema unless something else is in it; and close."""
        with self._database.connection() as connection:
            schemas.drop_schema(connection, self.schema)
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _change(self, change: Callable[[Connection], Result]) -> Result:
        """Change tables in a transaction, again if it conflicts with other writers."""
        with self._database.connection() as connection:
            for _ in range(_ATTEMPTS - 1):
                with suppress(*_CONFLICTS), connection.transaction():
                    return change(connection)
            with connection.transaction():
                return change(connection)

    def _chosen(self, connection: Connection, languages: Sequence[str] | None) -> list[str]:
        """Some of the languages, or all."""
        known = schemas.known_languages(connection, self.schema)
        unknown = [language for language in languages or () if language not in known]
        if unknown:
            raise InputError(f"language: {unknown[0]!r} is not in this engine; it has {', '.join(sorted(known))}")
        return list(languages or sorted(known))

    def _add_languages(self, documents: Sequence[Document]) -> None:
        """Make partitions for languages that are new, whatever comes of their documents: an empty one is not counted.

        On a connection of its own: a new language waits for no stream of documents.
        """
        languages = {document.language for document in documents}
        if languages <= self._languages:
            return
        with self._database.separate_connection() as connection:
            known = schemas.known_languages(connection, self.schema)
            schemas.add_languages(connection, self.schema, sorted(languages - known))
        self._languages = known | languages

    def _vacuum(self) -> None:
        """Let searches read postings from their index alone, with fitting plans; later PostgreSQL vacuums by itself."""
        with self._database.separate_connection() as connection:
            connection.execute("SET statement_timeout TO 0")
            connection.execute(self.schema.statement("VACUUM (ANALYZE) {postings}, {vectors}, {documents}"))

    def _drop_hnsw(self, connection: Connection) -> None:
        for language in self._hnsw.read(connection):
            hnsw.drop_indexes(connection, self.schema, hnsw.index_names(connection, self.schema, language))
            self._hnsw.write(connection, language, None)

"""Qdrant as an engine: ``qdrant:PATH`` (the client's local mode, a folder) or ``qdrant+http://HOST:6333`` (a server).

TESTED IN LOCAL MODE ONLY: the conformance tests run against the client's own engine, not against a server.

A collection of points with the dot product for their distance; every search is exact. A point says its language, its
id, what filters may ask for, and all of the document as JSON. Qdrant writes a batch point by point: readers of this
process wait for it, but a process or a server that is killed in the middle leaves part of it; add the batch again then.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from isogloss.data.documents import Document, document_of, page_object
from isogloss.engines.base import EngineHit, EngineUnavailableError, Filters, Matrix, checked_batch, checked_vectors
from isogloss.retrieval.field_lists import field_keys
from isogloss.storage.errors import InputError

_LANGUAGES = 1_000


@dataclass
class _Connection:
    """A client; in local mode one for all indexes of this process, which take turns with it."""

    client: QdrantClient
    folder: Path | None = None
    turn: AbstractContextManager[Any] = field(default_factory=nullcontext)
    users: int = 0


_local: dict[Path, _Connection] = {}
_opening = threading.Lock()


class QdrantEngine:
    """A collection of Qdrant; ``create`` and ``open`` connect to one."""

    def __init__(self, connection: _Connection, name: str) -> None:
        self._connection, self._name, self._is_open = connection, name, True
        vectors = connection.client.get_collection(name).config.params.vectors
        assert isinstance(vectors, models.VectorParams)
        self._dimension = vectors.size

    @classmethod
    def create(cls, url: str, dimension: int, *, name: str) -> QdrantEngine:
        """A new collection of that name."""
        with _connected(url) as connection:
            if _exists(connection, name):
                raise InputError(f"{name}: there is such a collection in Qdrant already; choose another name")
            how = models.VectorParams(size=dimension, distance=models.Distance.DOT)
            connection.client.create_collection(name, vectors_config=how)
            for key in ("language", "keys") if connection.folder is None else ():
                connection.client.create_payload_index(name, key, models.PayloadSchemaType.KEYWORD)
            return cls(connection, name)

    @classmethod
    def open(cls, url: str, *, name: str) -> QdrantEngine:
        """The collection of that name."""
        with _connected(url) as connection:
            if not _exists(connection, name):
                raise InputError(f"{name}: there is no such collection in Qdrant; make the index again")
            return cls(connection, name)

    def add(self, documents: Sequence[Document], vectors: Matrix) -> None:
        """Add or replace documents in one request."""
        matrix = checked_batch(documents, vectors, self._dimension)
        points = [_point(document, vector) for document, vector in zip(documents, matrix.tolist(), strict=True)]
        if points:
            with self._connection.turn:
                self._connection.client.upsert(self._name, points, wait=True)

    def delete(self, language: str, ids: Sequence[str]) -> int:
        wanted = [_number(language, id_) for id_ in dict.fromkeys(ids)]
        with self._connection.turn:
            found = self._connection.client.retrieve(self._name, wanted, with_payload=False) if wanted else []
            there = [point.id for point in found]
            if there:
                self._connection.client.delete(self._name, models.PointIdsList(points=there), wait=True)
        return len(there)

    def search(self, language: str, queries: Matrix, k: int, filters: Filters | None = None) -> list[list[EngineHit]]:
        checked = checked_vectors(queries, self._dimension)
        must: list[models.Condition] = [_having("language", language)]
        must += [_having("keys", f"{name}={value}") for name, value in (filters or {}).items()]
        with self._connection.turn:
            found = [self._best(query, k, models.Filter(must=must)) if k > 0 else [] for query in checked.tolist()]
        return [sorted(each, key=lambda hit: (-hit.score, hit.id))[:k] for each in found]

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        numbers = [_number(language, id_) for id_ in ids]
        with self._connection.turn:
            points = self._connection.client.retrieve(self._name, numbers, with_payload=["page"]) if numbers else []
        found = {point.id: (point.payload or {})["page"] for point in points}
        return [document_of(json.loads(found[number])) if number in found else None for number in numbers]

    def counts(self) -> dict[str, int]:
        with self._connection.turn:
            hits = self._connection.client.facet(self._name, "language", limit=_LANGUAGES, exact=True).hits
        return {str(hit.value): hit.count for hit in hits if hit.count}

    def about(self) -> dict[str, Any]:
        mode = "server" if self._connection.folder is None else "local"
        return {
            "engine": "qdrant", "search": "exact", "mode": mode, "collection": self._name, "dimension": self._dimension
        }  # fmt: skip

    def close(self) -> None:
        """Let go of the client."""
        if self._is_open:
            self._is_open = False
            _let_go(self._connection)

    def drop(self) -> None:
        """Delete the collection; a folder that holds no other goes with it."""
        connection = self._connection
        with connection.turn:
            connection.client.delete_collection(self._name)
            is_empty = not connection.client.get_collections().collections
        self.close()
        if connection.folder is not None and is_empty and not connection.users:
            shutil.rmtree(connection.folder)

    def _best(self, query: list[float], k: int, allowed: models.Filter) -> list[EngineHit]:
        """At least ``k``, and all that score like the last of them: ids decide between those."""
        limit = k + 1
        how = models.SearchParams(exact=True) if self._connection.folder is None else None  # local mode always is
        while True:
            points = self._connection.client.query_points(
                self._name, query=query, query_filter=allowed, search_params=how, limit=limit, with_payload=["id"]
            ).points
            if len(points) < limit or points[-1].score < points[k - 1].score:
                return [EngineHit((point.payload or {})["id"], point.score) for point in points]
            limit *= 2


def _point(document: Document, vector: list[float]) -> models.PointStruct:
    page = json.dumps(page_object(document), ensure_ascii=False)
    payload = {"language": document.language, "id": document.id, "keys": field_keys(document), "page": page}
    return models.PointStruct(id=_number(document.language, document.id), vector=vector, payload=payload)


def _number(language: str, id_: str) -> str:
    """Points have numbers for ids, here made of what names the document."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([language, id_])))


def _having(key: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


@contextmanager
def _connected(url: str) -> Iterator[_Connection]:
    """A connection that its user lets go of, or this if an error occurs."""
    connection = _connect(url)
    try:
        yield connection
    except BaseException:
        _let_go(connection)
        raise


def _connect(url: str) -> _Connection:
    scheme, _, where = url.partition(":")
    if "+" in scheme:
        address = urlsplit(f"{scheme.partition('+')[2]}:{where}")
        host = address.netloc.rpartition("@")[2]
        key = address.password or os.environ.get("QDRANT_API_KEY")
        server = f"{address.scheme}://{host}{address.path}"
        return _Connection(QdrantClient(url=server, api_key=key, check_compatibility=False))
    folder = Path(where).resolve()
    with _opening:
        if folder not in _local:
            _local[folder] = _Connection(_local_client(folder), folder, threading.RLock())
        _local[folder].users += 1
        return _local[folder]


def _exists(connection: _Connection, name: str) -> bool:
    try:
        return connection.client.collection_exists(name)
    except (ApiException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise EngineUnavailableError(f"Qdrant does not answer ({reason}); is it there?") from error


def _local_client(folder: Path) -> QdrantClient:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return QdrantClient(path=str(folder), force_disable_check_same_thread=True)
    except RuntimeError as error:
        what = "another process uses it, and a local Qdrant is one process's own"
        raise InputError(f"{folder}: {what}; stop that process, or use a server: qdrant+http://HOST:6333") from error


def _let_go(connection: _Connection) -> None:
    with _opening:
        connection.users -= 1
        if connection.users <= 0:
            connection.client.close()
            if connection.folder is not None:
                _local.pop(connection.folder, None)

"""A Qdrant server, through its client (the package ``qdrant-client``): each index is a collection.

NEVER open a folder with this client: its local mode unpickles what it reads. Tests use it in memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from isogloss.engines.addresses import without_password
from isogloss.engines.base import EngineUnavailableError
from isogloss.engines.qdrant.points import (
    DENSE,
    INTEGERS,
    KEYWORDS,
    SPARSE,
    FoundPoint,
    Payload,
    StoredPoint,
    Where,
    sparse_vector,
)
from isogloss.engines.qdrant.turns import Turns
from isogloss.storage.errors import InputError
from isogloss.systems.sparse import SparseVector

_PAGE = 1_000  # points of a scroll
_VALUES = 10_000  # of a key that are counted
_LINKS = 16  # of a node of the graph
_TIMEOUT = 60  # seconds
_PAUSE = 0.2  # seconds between two looks at whether a graph is built


@contextmanager
def _answering() -> Iterator[None]:
    """Say in one line that the server does not answer, or what it answers instead."""
    try:
        yield
    except (ApiException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise EngineUnavailableError(f"Qdrant does not answer ({reason}); is it there?") from error


class ClientPoints:
    """The points of a collection."""

    def __init__(self, client: QdrantClient, name: str, mode: str = "server") -> None:
        self._client, self._name, self.mode, self.turns = client, name, mode, Turns()

    @classmethod
    @_answering()
    def create(cls, url: str, name: str, dimension: int, sparse: bool) -> ClientPoints:
        """A new collection of that name; an ``InputError`` if there is one."""
        client = _connect(url)
        try:
            if client.collection_exists(name):
                raise InputError(f"{name}: there is such a collection in Qdrant already; choose another name")
            return cls.created(client, name, dimension, sparse)
        except BaseException:
            client.close()
            raise

    @classmethod
    def created(
        cls, client: QdrantClient, name: str, dimension: int, sparse: bool, mode: str = "server"
    ) -> ClientPoints:
        """A new collection of a client, without a graph until it is asked for."""
        dense = {DENSE: models.VectorParams(size=dimension, distance=models.Distance.DOT)} if dimension else {}
        client.create_collection(
            name, dense, {SPARSE: models.SparseVectorParams()} if sparse else None,
            hnsw_config=models.HnswConfigDiff(m=0),
        )  # fmt: skip
        for key in (*KEYWORDS, *INTEGERS):
            kind = models.PayloadSchemaType.KEYWORD if key in KEYWORDS else models.PayloadSchemaType.INTEGER
            client.create_payload_index(name, key, kind)
        return cls(client, name, mode)

    @classmethod
    @_answering()
    def open(cls, url: str, name: str) -> ClientPoints:
        """The collection of that name; an ``InputError`` if there is none."""
        client = _connect(url)
        try:
            if not client.collection_exists(name):
                raise InputError(f"{name}: there is no such collection in Qdrant; make the index again")
            return cls(client, name)
        except BaseException:
            client.close()
            raise

    @classmethod
    def begin(cls, url: str, name: str, dimension: int, sparse: bool) -> ClientPoints:
        """A new collection; nobody can tell later whether who began it still lives."""
        return cls.create(url, name, dimension, sparse)

    def finish(self) -> None:
        """Nothing to do."""

    @classmethod
    def sweep(cls, url: str) -> list[str]:
        """None."""
        return []

    @_answering()
    def upsert(self, points: Sequence[StoredPoint]) -> None:
        made = [models.PointStruct(id=each.id, vector=_vectors(each), payload=dict(each.payload)) for each in points]
        self._client.upsert(self._name, made, wait=True)

    @_answering()
    def delete(self, ids: Sequence[str]) -> None:
        self._client.delete(self._name, models.PointIdsList(points=list(ids)), wait=True)

    def flush(self) -> None:
        """Nothing to do: every change was waited for."""

    @_answering()
    def query(
        self, query: NDArray[np.float32] | SparseVector, where: Where, limit: int, ef: int | None
    ) -> list[FoundPoint]:
        is_sparse = isinstance(query, SparseVector)
        found = self._client.query_points(
            self._name, _sparse(query) if isinstance(query, SparseVector) else query.tolist(),
            using=SPARSE if is_sparse else DENSE, query_filter=_filter(where), limit=limit, with_payload=["document"],
            search_params=models.SearchParams(hnsw_ef=ef, exact=ef is None),
        )  # fmt: skip
        return [FoundPoint(str(point.id), (point.payload or {})["document"], point.score) for point in found.points]

    @_answering()
    def sparse(self, ids: Sequence[str]) -> dict[str, SparseVector]:
        points = self._client.retrieve(self._name, list(ids), with_payload=False, with_vectors=[SPARSE])
        found: Any = {str(point.id): point.vector for point in points}
        return {id_: sparse_vector(named[SPARSE].indices, named[SPARSE].values) for id_, named in found.items()}

    @_answering()
    def payloads(self, ids: Sequence[str], keys: Sequence[str]) -> dict[str, Payload]:
        found = self._client.retrieve(self._name, list(ids), with_payload=list(keys))
        return {str(point.id): point.payload or {} for point in found}

    def scroll(self, where: Where, keys: Sequence[str], dense: bool = False) -> Iterator[StoredPoint]:
        offset: Any = None
        while True:
            with _answering():
                found, offset = self._client.scroll(
                    self._name, _filter(where), limit=_PAGE, offset=offset, with_payload=list(keys),
                    with_vectors=[DENSE] if dense else False,
                )  # fmt: skip
            for point in found:
                named: Any = point.vector
                vector = np.asarray(named[DENSE], np.float32) if dense else None
                yield StoredPoint(str(point.id), point.payload or {}, vector)
            if offset is None:
                return

    @_answering()
    def counts(self, key: str, where: Where) -> dict[str, int]:
        hits = self._client.facet(self._name, key, facet_filter=_filter(where), limit=_VALUES, exact=True).hits
        return {str(hit.value): hit.count for hit in hits if hit.count}

    @_answering()
    def use_graph(self, wanted: bool, dimension: int, sparse: bool) -> None:
        self._client.update_collection(self._name, hnsw_config=models.HnswConfigDiff(m=_LINKS if wanted else 0))
        while self._client.get_collection(self._name).status == models.CollectionStatus.YELLOW:
            time.sleep(_PAUSE)

    def close(self) -> None:
        self._client.close()

    @_answering()
    def drop(self) -> None:
        self._client.delete_collection(self._name)
        self.close()


def _connect(url: str) -> QdrantClient:
    scheme, _, where = url.partition(":")
    address = urlsplit(f"{scheme.partition('+')[2]}:{where}")
    host = address.netloc.rpartition("@")[2]
    if address.scheme not in ("http", "https") or not host:
        raise InputError(f"{without_password(url)}: is no address of a Qdrant server; write qdrant+http://HOST:6333")
    key = address.password or os.environ.get("QDRANT_API_KEY")
    server = f"{address.scheme}://{host}{address.path}"
    return QdrantClient(url=server, api_key=key, check_compatibility=False, timeout=_TIMEOUT)


def _vectors(point: StoredPoint) -> dict[str, Any]:
    dense = {} if point.dense is None else {DENSE: point.dense.tolist()}
    return dense | ({} if point.sparse is None else {SPARSE: _sparse(point.sparse)})


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=vector.dimensions.tolist(), values=vector.weights.tolist())


def _filter(where: Where) -> models.Filter:
    must: list[models.Condition] = [
        models.FieldCondition(
            key=key, match=models.MatchAny(any=value) if isinstance(value, list) else models.MatchValue(value=value)
        )
        for key, value in where
    ]
    return models.Filter(must=must)

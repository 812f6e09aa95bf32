"""Qdrant's own engine in this process (the package ``qdrant-edge-py``): each index is a folder in ``qdrant:FOLDER``.

One process at a time has it open, and its files are Qdrant's: nothing in them is unpickled.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge
from numpy.typing import NDArray

from isogloss.engines.addresses import is_name
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

_SEGMENT_KB = 100_000_000  # one segment for all points: searches need not merge several
_PAGE = 1_000  # points of a scroll
_VALUES = 10_000  # of a key that are counted
_MAKING = ".making"
_LINKS = 16  # of a node of the graph
_PANIC = "PanicException"  # of Rust: no Exception of Python


class _Shared:
    """A shard, open once for all that use it in this process."""

    def __init__(self, path: Path, shard: qdrant_edge.EdgeShard) -> None:
        self.path, self.shard, self.users, self.turns = path, shard, 0, Turns()


_open: dict[Path, _Shared] = {}
_opening = threading.Lock()


class EdgePoints:
    """The points of an index in a folder."""

    mode = "in this process (qdrant-edge)"

    def __init__(self, shared: _Shared) -> None:
        self._shared, self.turns, self._is_open = shared, shared.turns, True

    @property
    def _shard(self) -> qdrant_edge.EdgeShard:
        return self._shared.shard

    def _ask(self, method: str, *arguments: Any) -> Any:
        return _asked(self._shared.path, getattr(self._shard, method), *arguments)

    @classmethod
    def create(cls, url: str, name: str, dimension: int, sparse: bool) -> EdgePoints:
        """A new folder of that name; an ``InputError`` if there is one."""
        path = _path(url, name)
        with _opening:
            if path.exists():
                raise InputError(f"{path}: there is such an index in Qdrant already; choose another name")
            path.mkdir(parents=True)
            shard = qdrant_edge.EdgeShard.create(str(path), _config(dimension, sparse, False))
            _open[path] = _Shared(path, shard)
        made = cls._using(path)
        keyword, integer = qdrant_edge.PayloadSchemaType.Keyword, qdrant_edge.PayloadSchemaType.Integer
        for key in (*KEYWORDS, *INTEGERS):
            kind = keyword if key in KEYWORDS else integer
            shard.update(qdrant_edge.UpdateOperation.create_field_index(key, kind))
        return made

    @classmethod
    def open(cls, url: str, name: str) -> EdgePoints:
        """The folder of that name; an ``InputError`` if there is none."""
        path = _path(url, name)
        with _opening:
            if path not in _open:
                _open[path] = _Shared(path, _load(path))
        return cls._using(path)

    @classmethod
    def _using(cls, path: Path) -> EdgePoints:
        with _opening:
            _open[path].users += 1
            return cls(_open[path])

    @classmethod
    def begin(cls, url: str, name: str, dimension: int, sparse: bool) -> EdgePoints:
        """A new folder, with a file beside it until ``finish``."""
        _mark(_path(url, name)).parent.mkdir(parents=True, exist_ok=True)
        _mark(_path(url, name)).touch()
        return cls.create(url, name, dimension, sparse)

    def finish(self) -> None:
        """Take the mark of an unfinished folder away."""
        _mark(self._shared.path).unlink(missing_ok=True)

    @classmethod
    def sweep(cls, url: str) -> list[str]:
        """Remove unfinished folders that no process has open; their names."""
        left = []
        for mark in sorted(_path(url, "").glob(f"*{_MAKING}")):
            name = mark.name.removesuffix(_MAKING)
            path = mark.parent / name
            if is_name(name) and path not in _open and not _is_busy(path):
                shutil.rmtree(path, ignore_errors=True)
                mark.unlink(missing_ok=True)
                left.append(path.name)
        return left

    def upsert(self, points: Sequence[StoredPoint]) -> None:
        made = [qdrant_edge.Point(point.id, _vectors(point), dict(point.payload)) for point in points]
        self._ask("update", qdrant_edge.UpdateOperation.upsert_points(made))

    def delete(self, ids: Sequence[str]) -> None:
        self._ask("update", qdrant_edge.UpdateOperation.delete_points(list(ids)))

    def flush(self) -> None:
        self._ask("flush")

    def query(
        self, query: NDArray[np.float32] | SparseVector, where: Where, limit: int, ef: int | None
    ) -> list[FoundPoint]:
        nearest = (
            qdrant_edge.Query.Nearest(_sparse(query), using=SPARSE)
            if isinstance(query, SparseVector)
            else qdrant_edge.Query.Nearest(query.tolist(), using=DENSE)
        )
        params = qdrant_edge.SearchParams(hnsw_ef=ef, exact=ef is None)
        request = qdrant_edge.QueryRequest(
            limit, query=nearest, filter=_filter(where), with_payload=["document"], params=params
        )
        found = self._ask("query", request)
        return [FoundPoint(str(point.id), (point.payload or {})["document"], point.score) for point in found]

    def sparse(self, ids: Sequence[str]) -> dict[str, SparseVector]:
        found: Any = {str(point.id): point.vector for point in self._ask("retrieve", list(ids), False, [SPARSE])}
        return {id_: sparse_vector(named[SPARSE].indices, named[SPARSE].values) for id_, named in found.items()}

    def payloads(self, ids: Sequence[str], keys: Sequence[str]) -> dict[str, Payload]:
        return {str(point.id): point.payload or {} for point in self._ask("retrieve", list(ids), list(keys), False)}

    def scroll(self, where: Where, keys: Sequence[str], dense: bool = False) -> Iterator[StoredPoint]:
        offset = None
        while True:
            vectors = [DENSE] if dense else False
            request = qdrant_edge.ScrollRequest(offset, _PAGE, _filter(where), list(keys), vectors)
            found, offset = self._ask("scroll", request)
            for point in found:
                named: Any = point.vector
                vector = np.asarray(named[DENSE], np.float32) if dense else None
                yield StoredPoint(str(point.id), point.payload or {}, vector)
            if offset is None:
                return

    def counts(self, key: str, where: Where) -> dict[str, int]:
        request = qdrant_edge.FacetRequest(key, limit=_VALUES, exact=True, filter=_filter(where))
        return {str(hit.value): hit.count for hit in self._ask("facet", request).hits if hit.count}

    def use_graph(self, wanted: bool, dimension: int, sparse: bool) -> None:
        """Only what is loaded with another configuration has another graph."""
        self._shard.close()
        self._shared.shard = _load(self._shared.path, _config(dimension, sparse, wanted))
        self._ask("optimize")

    def close(self) -> None:
        with _opening:
            if self._is_open:
                self._is_open = False
                self._shared.users -= 1
                if not self._shared.users:
                    self._shard.close()
                    del _open[self._shared.path]

    def drop(self) -> None:
        self.close()
        shutil.rmtree(self._shared.path)
        self.finish()
        with suppress(OSError):  # others are in the same folder
            self._shared.path.parent.rmdir()


def _config(dimension: int, sparse: bool, graph: bool) -> qdrant_edge.EdgeConfig:
    """Everything in one segment, so that searches need not merge; the graph, if any, is built however few there are."""
    dense = {DENSE: qdrant_edge.EdgeVectorParams(dimension, qdrant_edge.Distance.Dot)} if dimension else None
    return qdrant_edge.EdgeConfig(
        dense,
        {SPARSE: qdrant_edge.EdgeSparseVectorParams()} if sparse else None,
        hnsw_config=qdrant_edge.HnswIndexConfig(_LINKS if graph else 0, ef_construct=100, full_scan_threshold=1),
        optimizers=qdrant_edge.EdgeOptimizersConfig(
            default_segment_number=1, max_segment_size=_SEGMENT_KB, indexing_threshold=1 if graph else _SEGMENT_KB
        ),
    )


def _load(path: Path, config: qdrant_edge.EdgeConfig | None = None) -> qdrant_edge.EdgeShard:
    if not path.is_dir():
        raise InputError(f"{path}: there is no such index in Qdrant; make the index again")
    shard: qdrant_edge.EdgeShard = _asked(path, qdrant_edge.EdgeShard.load, str(path), config)
    return shard


def _asked(path: Path, call: Callable[..., Any], *arguments: Any) -> Any:
    """What Qdrant answers of a folder; an ``InputError`` where its files are damaged or in use."""
    try:
        return call(*arguments)
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != _PANIC:  # as the package raises them
            raise
        if "WouldBlock" in str(error):
            what = "another process uses it, and a folder is one process's own"
            way = "stop that process, or use a server: qdrant+http://HOST:6333"
            raise InputError(f"{path.parent}: {what}; {way}") from error
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: Qdrant cannot read it ({reason}); make the index again") from error


def _is_busy(path: Path) -> bool:
    """Whether another process has it open."""
    try:
        _load(path).close()
    except InputError as error:  # what cannot be read is not busy
        return "another process uses it" in str(error)
    return False


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}{_MAKING}")


def _path(url: str, name: str) -> Path:
    return Path(url.partition(":")[2]).resolve() / name


def _vectors(point: StoredPoint) -> dict[str, Any]:
    dense: dict[str, Any] = {} if point.dense is None else {DENSE: point.dense.tolist()}
    return dense | ({} if point.sparse is None else {SPARSE: _sparse(point.sparse)})


def _sparse(vector: SparseVector) -> qdrant_edge.SparseVector:
    return qdrant_edge.SparseVector(vector.dimensions.tolist(), vector.weights.tolist())


def _filter(where: Where) -> qdrant_edge.Filter:
    match = [
        qdrant_edge.MatchAny(value) if isinstance(value, list) else qdrant_edge.MatchValue(value) for _, value in where
    ]
    conditions = zip((key for key, _ in where), match, strict=True)
    return qdrant_edge.Filter(must=[qdrant_edge.FieldCondition(key, match=each) for key, each in conditions])

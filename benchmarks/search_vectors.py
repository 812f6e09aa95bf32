"""The ways of searching vectors that ``search.py`` compares, each built, saved, opened again and set to a recall.

Graphs get unit vectors, sqrt(1 - |d|^2) appended to rows and 0 to queries: the same order, and the best they can do.
Each peer is set to the least effort that reaches the recall of isogloss, or the one asked for, on the very queries it
is timed on; isogloss has chosen its own effort when it was built, from its own sample.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from clustered_vectors import Floats
from numpy.typing import NDArray

from isogloss.retrieval.vectors.vector_index import VectorIndex

K = 10
Found = NDArray[np.integer]
Search = Callable[[Floats], Found]


@dataclass
class Way:
    """A way of searching, open: rows found for queries; what it took to make, and takes."""

    name: str
    search: Search
    build_seconds: float
    disk: int
    resident: int
    settings: str = ""
    exact: bool = False


@dataclass(frozen=True)
class Task:
    """What is searched, where there is room for files, and what is right."""

    matrix: Floats
    queries: Floats
    wanted: Found
    directory: Path
    least: float = 0.98  # recall that peers are set to

    def recall(self, found: Found) -> float:
        pairs = zip(found.tolist(), self.wanted.tolist(), strict=True)
        return sum(len(set(one) & set(other)) for one, other in pairs) / self.wanted.size


def isogloss_exact(task: Task) -> Way:
    return _isogloss(task, "isogloss, exact", "float32", "no")


def isogloss_auto(task: Task) -> Way:
    return _isogloss(task, "isogloss", "auto", "yes")


def numpy_exact(task: Task) -> Way:
    def search(queries: Floats) -> Found:
        scores = queries @ task.matrix.T
        best = np.argpartition(scores, len(task.matrix) - K, axis=1)[:, -K:]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1)

    return Way("numpy, matmul + argpartition", search, 0.0, task.matrix.nbytes, task.matrix.nbytes, exact=True)


def faiss_flat(task: Task) -> Way:
    import faiss

    def make() -> Any:
        index = faiss.IndexFlatIP(task.matrix.shape[1])
        index.add(task.matrix)
        return index

    way, index = _faiss(task, "faiss flat", make)
    way.exact, way.search = True, lambda queries: index.search(queries, K)[1]
    return way


def faiss_ivf(task: Task) -> Way:
    import faiss

    def make() -> Any:
        lists = _lists(task)
        index = faiss.index_factory(task.matrix.shape[1], f"IVF{lists},Flat", faiss.METRIC_INNER_PRODUCT)
        index.train(_sample(task, lists * 50))
        index.add(task.matrix)
        return index

    way, index = _faiss(task, "faiss IVF", make)
    return _set(task, way, index, "nprobe", lambda queries: index.search(queries, K)[1])


def faiss_codes(task: Task) -> Way:
    """The codes that isogloss uses, re-scored by faiss itself in float32."""
    import faiss

    def make() -> Any:
        lists, dimension = _lists(task), task.matrix.shape[1]
        how = f"IVF{lists},PQ{min(dimension, 128)}x4fsr,Refine(Flat)"
        index = faiss.index_factory(dimension, how, faiss.METRIC_INNER_PRODUCT)
        index.train(_sample(task, lists * 50))
        index.add(task.matrix)
        return index

    way, index = _faiss(task, "faiss IVF, 4-bit codes, refined", make)
    index.k_factor = 8
    return _set(
        task, way, faiss.downcast_index(index.base_index), "nprobe", lambda queries: index.search(queries, K)[1]
    )


def faiss_hnsw(task: Task) -> Way:
    import faiss

    def make() -> Any:
        index = faiss.IndexHNSWFlat(task.matrix.shape[1] + 1, 16, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 80
        for start in range(0, len(task.matrix), 100_000):
            index.add(_unit(task.matrix[start : start + 100_000]))
        return index

    way, index = _faiss(task, "faiss HNSW", make)
    return _set(task, way, index.hnsw, "efSearch", lambda queries: index.search(_asked(queries), K)[1])


def usearch_hnsw(task: Task) -> Way:
    from usearch.index import Index

    started = time.perf_counter()
    index = Index(ndim=task.matrix.shape[1] + 1, metric="ip", dtype="f32", connectivity=16, expansion_add=80)
    for start in range(0, len(task.matrix), 100_000):
        part = _unit(task.matrix[start : start + 100_000])
        index.add(np.arange(start, start + len(part)), part)
    seconds = time.perf_counter() - started
    path = task.directory / "usearch"
    index.save(path)
    del index
    before = resident()
    opened = Index.restore(path)
    way = Way("usearch", lambda queries: np.zeros((0, K), int), seconds, path.stat().st_size, resident() - before)

    def search(queries: Floats) -> Found:
        keys: Found = np.asarray(opened.search(_asked(queries), K).keys, dtype=np.int64)
        return keys.reshape(len(queries), -1)

    return _set(task, way, opened, "expansion_search", search)


WAYS: dict[str, Callable[[Task], Way]] = {
    "exact": isogloss_exact,
    "numpy": numpy_exact,
    "flat": faiss_flat,
    "isogloss": isogloss_auto,
    "ivf": faiss_ivf,
    "codes": faiss_codes,
    "hnsw": faiss_hnsw,
    "usearch": usearch_hnsw,
}


def resident() -> int:
    """The bytes of this process that are in memory."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed is given back first
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def _isogloss(task: Task, name: str, storage: str, approximate: str) -> Way:
    order, directory = np.arange(len(task.matrix)), task.directory / f"isogloss-{approximate}"
    started = time.perf_counter()
    VectorIndex.build(task.matrix, order, storage, approximate).save(directory)
    seconds = time.perf_counter() - started
    before = resident()
    started = time.perf_counter()
    index = VectorIndex.load([directory], order)
    opened = time.perf_counter() - started

    def search(queries: Floats) -> Found:
        return np.stack([ranking.rows for ranking in index.search_batch(queries, K)])

    search(task.queries)  # what is mapped comes in when it is needed
    (part,) = index.about()["parts"]
    level = (part.get("levels") or [{}])[0]
    how = f"{part['storage']}; measured recall {part['recall']:.3f}; opened in {opened * 1000:.0f} ms"
    if level:
        how += f"; {level['probes']} of {part['lists']} lists, {level['candidates']} candidates"
    disk = sum(file.stat().st_size for file in directory.iterdir())
    return Way(name, search, seconds, disk, resident() - before, how, exact=approximate == "no")


def _faiss(task: Task, name: str, make: Callable[[], Any]) -> tuple[Way, Any]:
    """An index that was made, written and read again."""
    import faiss

    started = time.perf_counter()
    index = make()
    seconds = time.perf_counter() - started
    path = task.directory / "faiss"
    faiss.write_index(index, str(path))
    del index
    before = resident()
    opened = faiss.read_index(str(path))
    way = Way(name, lambda queries: np.zeros((0, K), int), seconds, path.stat().st_size, resident() - before)
    path.unlink()
    return way, opened


def _set(task: Task, way: Way, owner: Any, attribute: str, search: Search) -> Way:
    """The least value of a setting that reaches the wanted recall."""
    value = 1 if attribute == "nprobe" else K
    while True:
        setattr(owner, attribute, value)
        if task.recall(search(task.queries)) >= task.least or value > 4_000:
            break
        value = value * 9 // 8 + 1
    way.search, way.settings = search, f"{attribute} {value}"
    return way


def _lists(task: Task) -> int:
    return int(2 ** round(np.log2(2 * np.sqrt(len(task.matrix)))))


def _sample(task: Task, count: int) -> Floats:
    chosen = np.random.default_rng(0).choice(len(task.matrix), size=min(count, len(task.matrix)), replace=False)
    return np.ascontiguousarray(task.matrix[np.sort(chosen)])


def _unit(rows: Floats) -> Floats:
    rest = np.sqrt(np.maximum(1 - np.einsum("rd,rd->r", rows, rows), 0))
    return np.hstack([rows, rest[:, np.newaxis]]).astype(np.float32)


def _asked(queries: Floats) -> Floats:
    return np.hstack([queries, np.zeros((len(queries), 1), dtype=np.float32)])

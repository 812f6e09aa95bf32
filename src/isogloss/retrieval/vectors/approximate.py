"""An approximate index: lists of near rows, looked into where the query points, with four bits a component.

Rows d shorter than 1 become unit vectors by one more component, queries q get a 0 there (the plan's way with the smooth
cosine; rows that may be longer are first divided by the longest, and a query counts as one of length 1):

    d' = (d, sqrt(1 - |d|^2)),    q' = (q, 0),    q' . d' = q . d = 1 - |q' - d'|^2 / 2

so that near and of large inner product are the same. Centres c by k-means; a row is in the list of the nearest centre,
and a query looks into the lists with the nearest centres, those of the largest q' . c - |c|^2 / 2. There

    d' = c + r,    q' . d' ~ q' . c + q' . r~       r~: r in 4 bits a component, or for two (faiss's "fast scan")

says which rows are candidates; whoever asks scores them again with the vectors as they are kept, so that an error here
can lose a row and never misplace one.

Asking for the lists by inner product, as faiss does by itself, takes up to twice as many of them for the same recall on
vectors of passages, and many times as many where the lengths of rows differ much. Graphs (HNSW) were several times
slower to build and to search at a recall@10 of .98 (``benchmarks/search.py``).
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed
from isogloss.retrieval.vectors.vector_storage import Floats, Stored, float32_rows
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import import_extra

_SEED = 1
_ROUNDS = 8  # of k-means
_ROWS_A_LIST = 40  # looked at by k-means; faiss asks for 39
_CODED_ROWS = 16_384  # that the codes are learnt from
_MOST_CODES = 129  # a row: components share codes beyond
_ADDED_ROWS = 65_536  # at a time
_FILE, _LISTS = "approximate.npy", "lists.npy"
_ONE_QUERY_AT_A_TIME = 11  # how faiss scans: by default it sorts all lists of all queries first, which takes longer
_NARROW = 64  # components
_FEW_QUERIES = 8  # for more, faiss finds the lists on all cores
_LOOKED_AT = 16  # one row in so many tells how a filter is spread over the lists


class ApproximateIndex:
    """Candidates for the best rows of a matrix. Threads may share it."""

    def __init__(self, content: NDArray[np.uint8], list_of: NDArray[np.int32], dimension: int) -> None:
        """``content`` is what faiss wrote, ``list_of`` the list of every sixteenth row."""
        self._faiss = faiss_module()
        self._content = content
        self._list_of = list_of
        self._index = _read(content)
        self._index.implem = _ONE_QUERY_AT_A_TIME
        self._width = int(self._index.d)
        centres: Floats = self._index.quantizer.reconstruct_n(0, self._index.nlist)
        self._half_squares = np.einsum("rd,rd->r", centres, centres) / 2
        self._pointed_at = _pointed_at(centres, self._half_squares, dimension)
        self._columns = np.ascontiguousarray(centres[:, :dimension].T)
        self._parameters: dict[int, Any] = {}

    @classmethod
    def build(cls, rows: Stored, longest: float) -> ApproximateIndex:
        """Index the rows, some hundreds at least, none longer than ``longest``."""
        faiss = faiss_module()
        random = np.random.default_rng(_SEED)
        lists, (codes, width) = list_count(*rows.shape), _codes(rows.shape[1] + 1)
        chosen = random.choice(len(rows), size=min(len(rows), lists * _ROWS_A_LIST), replace=False)
        nearest = faiss.IndexFlatL2(width)
        nearest.add(_centres(_unit(rows[np.sort(chosen)], longest, width), lists))
        index = faiss.IndexIVFPQFastScan(nearest, width, lists, codes, 4, faiss.METRIC_INNER_PRODUCT)
        index.by_residual = True
        index.train(_unit(rows[np.sort(chosen[:_CODED_ROWS])], longest, width))
        list_of = []
        for start in range(0, len(rows), _ADDED_ROWS):
            part = _unit(rows[start : start + _ADDED_ROWS], longest, width)
            index.add(part)
            list_of.append(nearest.search(np.ascontiguousarray(part[::_LOOKED_AT]), 1)[1][:, 0])
        return cls(faiss.serialize_index(index), np.concatenate(list_of).astype(np.int32), rows.shape[1])

    @property
    def count(self) -> int:
        """The number of lists."""
        return int(self._index.nlist)

    @property
    def codes(self) -> int:
        """The number of codes of a row."""
        return int(self._index.pq.M)

    @property
    def nbytes(self) -> int:
        """What it takes."""
        return self._content.nbytes + self._list_of.nbytes

    def candidates(
        self,
        queries: Floats,
        count: int,
        probes: int,
        allowed: Allowed | None = None,
        compiled: ModuleType | None = None,
    ) -> NDArray[np.int64]:
        """For each query (a row each) as many rows as asked, -1 where fewer are found, from so many of the lists.

        With ``compiled`` functions it is the same, faster.
        """
        asked, inner, lists = self._nearest_lists(queries, probes, compiled)
        scores = np.empty((len(queries), count), dtype=np.float32)
        found = np.empty((len(queries), count), dtype=np.int64)
        pointer = self._faiss.swig_ptr
        self._index.search_preassigned_c(
            len(queries), pointer(asked), count, pointer(lists), pointer(inner), pointer(scores), pointer(found),
            False, self._asking(probes, allowed),
        )  # fmt: skip
        return found

    def probes_for(self, queries: Floats, probes: int, allowed: Allowed) -> int:
        """How many lists hold as many allowed rows as so many hold rows: the nearest ones of any of the queries.

        Where the allowed rows are far from a query, these are many more than where they are spread evenly.
        """
        spread = np.bincount(self._list_of[allowed[::_LOOKED_AT]], minlength=self.count)
        wanted = probes * len(self._list_of) / self.count
        order = self._pointed_at.search(self._asked(queries)[0], self.count)[1]
        reached = np.cumsum(spread[order], axis=1) >= wanted
        needed = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, self.count)
        return max(probes, int(needed.max(initial=0)))

    def save(self, directory: Path) -> None:
        """Write into an existing directory."""
        save_array(directory / _FILE, self._content)
        save_array(directory / _LISTS, self._list_of)

    @classmethod
    def load(cls, directory: Path, dimension: int) -> ApproximateIndex:
        """Read what ``save`` wrote; what is not whole is a ``ValueError``."""
        return cls(load_array(directory / _FILE), load_array(directory / _LISTS), dimension)

    def _nearest_lists(
        self, queries: Floats, probes: int, compiled: ModuleType | None
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """The queries as faiss wants them, q' . c for the lists to look into, and which those are."""
        if compiled and (len(queries) <= _FEW_QUERIES or self._faiss.omp_get_max_threads() == 1):
            nearest: tuple[Floats, Floats, NDArray[np.int64]] = compiled.nearest_lists(
                queries, self._columns, self._half_squares, probes, self._width
            )
            return nearest
        asked, lengths = self._asked(queries)
        nearness, lists = self._pointed_at.search(asked, probes)
        asked[:, queries.shape[1]] = 0
        return asked, nearness + lengths[:, np.newaxis] * self._half_squares[lists], lists

    def _asked(self, queries: Floats) -> tuple[Floats, Floats]:
        """Queries with their lengths as one more component, as ``_pointed_at`` wants them; and the lengths."""
        lengths = np.sqrt(np.einsum("rd,rd->r", queries, queries))
        asked = np.zeros((len(queries), self._width), dtype=np.float32)
        asked[:, : queries.shape[1]] = queries
        asked[:, queries.shape[1]] = lengths
        return asked, lengths

    def _asking(self, probes: int, allowed: Allowed | None) -> Any:
        if allowed is not None:
            chosen = self._faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
            return self._faiss.SearchParametersIVF(nprobe=probes, sel=chosen)
        if probes not in self._parameters:
            self._parameters[probes] = self._faiss.SearchParametersIVF(nprobe=probes)
        return self._parameters[probes]


def faiss_module() -> ModuleType:
    """The library underneath, or an error that names the extra."""
    return import_extra("faiss", "ann", "an approximate index")


def list_count(rows: int, dimension: int) -> int:
    """How many lists for so many rows: about 2 sqrt(rows), a power of two.

    To find the nearest of them takes the longer the wider they are: of more than 64 components, there are fewer.

    >>> list_count(1_000_000, 64), list_count(1_000_000, 256)
    (2048, 1024)
    """
    fewer = min(_NARROW / max(dimension, 1), 1.0)
    return int(2 ** round(np.log2(2 * np.sqrt(max(rows * fewer, 1)))))


def _codes(dimension: int) -> tuple[int, int]:
    """How many codes a row has, and the components they stand for: the dimension, filled up where it does not divide.

    >>> _codes(65), _codes(257), _codes(301)
    ((65, 65), (129, 258), (101, 303))
    """
    shared = -(-dimension // _MOST_CODES)
    codes = -(-dimension // shared)
    return codes, codes * shared


def _centres(rows: Floats, lists: int) -> Floats:
    means = faiss_module().Kmeans(
        rows.shape[1], lists, niter=_ROUNDS, seed=_SEED, min_points_per_centroid=1, max_points_per_centroid=_ROWS_A_LIST
    )
    means.train(rows)
    centres: Floats = means.centroids
    return centres


def _read(content: NDArray[np.uint8]) -> Any:
    try:
        return faiss_module().deserialize_index(np.asarray(content))
    except RuntimeError as error:
        raise ValueError(f"{_FILE} is not a whole approximate index") from error


def _pointed_at(centres: Floats, half_squares: Floats, dimension: int) -> Any:
    """What finds the largest q . c - |q| |c|^2 / 2, as (q, |q|) . (c, -|c|^2 / 2).

    The place of the component that made rows unit vectors is free for that: it is 0 in queries.
    """
    pointed_at = faiss_module().IndexFlatIP(centres.shape[1])
    pointed_at.add(np.hstack([centres[:, :dimension], -half_squares[:, np.newaxis], centres[:, dimension + 1 :]]))
    return pointed_at


def _unit(rows: Stored, longest: float, width: int) -> Floats:
    """Rows divided by the longest, made unit vectors by one more component, filled up with zeros."""
    unit = np.zeros((len(rows), width), dtype=np.float32)
    short = unit[:, : rows.shape[1]]
    short[:] = float32_rows(rows)
    short /= np.float32(longest or 1.0)
    unit[:, rows.shape[1]] = np.sqrt(np.maximum(1 - np.einsum("rd,rd->r", short, short), 0))
    return unit

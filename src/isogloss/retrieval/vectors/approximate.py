"""Approximate search with faiss: candidates from inverted lists of 4-bit codes (``IVF,PQx4fsr``), to be re-scored.

Rows d are divided by the longest and made unit vectors by one more component; queries q get a 0 there:

    d' = (d, sqrt(1 - |d|^2)),    q' = (q, 0),    q' . d' = q . d

so that lists of near rows (spherical k-means) are also lists of rows with a large inner product, whatever the lengths
of the rows. With rows of unequal length (log-normal, sigma .3, 200,000 x 256) the plain rows need all lists for a
recall@10 of .98, these an eighth. faiss finds candidates; the exact index scores them with the vectors as they are
stored, so that an error here can miss a row and never misplace one.

How much is missed is measured against an exact search, over sample queries, and the settings are chosen by it:

    recall@k = |found first k  and  exact first k| / |exact first k|
"""

from __future__ import annotations

import struct
import threading
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed, Ranking
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.storage import Floats, Stored, float32_rows
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import import_extra

DEPTHS = (10, 100)
"""Numbers of results that an approximate search is tuned for. More than the last are searched exactly."""
K = DEPTHS[0]
"""The number of results of the recall that an index reports."""
TARGET = 0.984
"""The recall that tuning reaches on the sample: .98 for other queries, with a margin."""
_PUSH = 0.25  # of the length of a row
_EQUAL = 1e-18  # the distance of rows that are equal, or so near that a quotient could overflow
_SEED = 1
_ROUNDS = 8  # of k-means
_ROWS_A_LIST = 40  # that k-means is trained on; faiss warns below 39
_MOST_CODES = 129  # a row: beyond, two or more components share a code
_ADDED_ROWS = 65_536  # at a time
_FILE, _LISTS = "approximate.npy", "lists.npy"
_ONE_QUERY_AT_A_TIME = 11  # faiss's way of scanning; its default sorts the lists of all queries first: a third slower
_NARROW = 64  # components
_SAMPLED = 16  # one row in so many shows how a filter is spread over the lists
_CANDIDATES = (4, 8, 16)  # times the results
_MOST_LISTS = 3  # a third of all: beyond, an exact search is as fast
_TRIED_LISTS = 60  # numbers of lists, each about a tenth more than the last
_SCAN_COST, _FETCH_COST, _SCORE_COST = 0.07, 400, 0.5  # ns a code; components as slow as a fetch; ns a component
_HEADER = struct.Struct("<4siq16x?iQ")  # kind, dimension, rows, whether trained, metric, lists
_reading = threading.Lock()  # faiss's limit on what it allocates is one for the process


class Level(NamedTuple):
    """The settings for up to ``k`` results: lists to probe, candidates to re-score, and the measured recall."""

    k: int
    probes: int
    candidates: int
    recall: float


def sample_queries(rows: Stored, count: int) -> Floats:
    """Queries made of the rows, the same each time; fewer where there are fewer rows.

    A query is a row moved by a quarter of its length in the direction from one random row to another: near a document,
    and different from it in the ways documents differ.
    """
    random = np.random.default_rng(_SEED)
    draws = (np.sort(random.choice(len(rows), size=min(count, len(rows)), replace=False)) for _ in range(3))
    chosen, other, another = (float32_rows(rows[draw]) for draw in draws)
    random.shuffle(another)
    push = another - other
    lengths, pushes = (np.linalg.norm(each, axis=1, keepdims=True) for each in (chosen, push))
    push *= np.float32(_PUSH) * lengths / np.where(pushes > _EQUAL, pushes, np.float32(1))
    queries: Floats = (chosen + push).astype(np.float32)
    return queries


def recall(found: Sequence[Ranking], exact: Sequence[Ranking], k: int = K) -> float:
    """The share of the first ``k`` of an exact search that is among the first ``k`` found.

    >>> first, second = (Ranking(np.asarray(rows), np.zeros(2)) for rows in ([1, 2], [3, 1]))
    >>> recall([first], [second])
    0.5
    """
    pairs = [(set(one.rows[:k].tolist()), other.rows[:k].tolist()) for one, other in zip(found, exact, strict=True)]
    expected = sum(len(rows) for _, rows in pairs)
    return sum(row in there for there, rows in pairs for row in rows) / expected if expected else 1.0


class ApproximateIndex:
    """Candidates for the best rows of a matrix. Threads may share it."""

    levels: Sequence[Level] = ()
    """The settings for each depth, from ``tuned``."""

    def __init__(self, content: NDArray[np.uint8], list_of: NDArray[np.int32], shape: tuple[int, ...]) -> None:
        """``content`` is the index as faiss writes it, ``list_of`` the list of every sixteenth row."""
        self._faiss, self._content, self._list_of = faiss_module(), content, list_of
        self._parameters: dict[int, Any] = {}
        self._index = _read(content, *shape)
        self._index.implem = _ONE_QUERY_AT_A_TIME
        if list_of.shape != (-(-shape[0] // _SAMPLED),) or not 0 <= list_of.min() <= list_of.max() < self.lists:
            raise ValueError(f"{_LISTS} does not fit {shape[0]} rows in {self.lists} lists")

    @classmethod
    def build(cls, rows: Stored, longest: float) -> ApproximateIndex:
        """Index some hundred rows or more, none longer than ``longest``."""
        faiss = faiss_module()
        lists, codes, width = _layout(*rows.shape)
        index = faiss.IndexIVFPQFastScan(faiss.IndexFlatIP(width), width, lists, codes, 4, faiss.METRIC_INNER_PRODUCT)
        index.by_residual = True
        index.cp.seed, index.cp.niter = _SEED, _ROUNDS
        index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, _ROWS_A_LIST
        chosen = np.random.default_rng(_SEED).permutation(len(rows))[: lists * _ROWS_A_LIST]
        index.train(_unit(rows[np.sort(chosen)], longest, width))
        list_of = []
        for start in range(0, len(rows), _ADDED_ROWS):
            part = _unit(rows[start : start + _ADDED_ROWS], longest, width)
            index.add(part)
            list_of.append(index.quantizer.assign(np.ascontiguousarray(part[::_SAMPLED]), 1)[:, 0])
        return cls(faiss.serialize_index(index), np.concatenate(list_of).astype(np.int32), rows.shape)

    @property
    def lists(self) -> int:
        """The number of lists."""
        return int(self._index.nlist)

    @property
    def nbytes(self) -> int:
        """The bytes it takes, in memory and on disk."""
        return self._content.nbytes + self._list_of.nbytes

    def candidates(
        self, queries: Floats, count: int, probes: int, allowed: Allowed | None = None
    ) -> NDArray[np.int64] | None:
        """For each query (a row each) ``count`` rows, -1 where fewer are found, of the ``probes`` nearest lists.

        With a filter so many lists that they have as many allowed rows; None where that is more than half of all.
        """
        padded = np.zeros((len(queries), self._index.d), dtype=np.float32)
        padded[:, : queries.shape[1]] = queries
        if allowed is not None and not allowed.all():
            probes = max(probes, self._probes_with(padded, probes, allowed))
            if probes > self.lists // 2:
                return None
            selector = self._faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
            parameters = self._faiss.SearchParametersIVF(nprobe=probes, sel=selector)
        else:
            parameters = self._parameters.get(probes)
            if parameters is None:
                parameters = self._parameters[probes] = self._faiss.SearchParametersIVF(nprobe=probes)
        found: NDArray[np.int64] = self._index.search(padded, count, params=parameters)[1]
        return found

    def tuned(self, stored: ExactIndex, queries: Floats, expected: Sequence[Ranking]) -> Self:
        """Itself with, for ten results and for a hundred, the cheapest settings that reach ``TARGET`` on a sample.

        ``expected`` are the results of an exact search in the vectors before they were stored. Depths that would need a
        third of the lists are left out. Few candidates can need many times the lists of twice as many (1,000,000 x 256:
        80 lists with 40, 5 with 80). So the fewest lists are found for each number of candidates, and then the cheapest
        by count, not by clock.
        """
        self.levels = []
        for k in DEPTHS:
            count = len(queries) * DEPTHS[0] // k  # as many results are compared at each depth
            sample = queries[:count], expected[:count]
            choices = np.unique(np.geomspace(1, max(self.lists // _MOST_LISTS, 1), _TRIED_LISTS).astype(int)).tolist()
            found = []
            for candidates in (times * k for times in _CANDIDATES):
                tried = [Level(k, probes, candidates, 0.0) for probes in choices]
                first = bisect_left(tried, TARGET, key=lambda level: self._recall(level, stored, *sample))
                found += tried[first : first + 1]
                choices = choices[: first + 1]  # more candidates need no more lists
            if found:
                best = min(found, key=self._nanoseconds)
                self.levels.append(best._replace(recall=self._recall(best, stored, *sample)))
        return self

    def save(self, directory: Path) -> None:
        """Write into an existing directory."""
        save_array(directory / _FILE, self._content)
        save_array(directory / _LISTS, self._list_of)

    @classmethod
    def load(cls, directory: Path, shape: tuple[int, ...], levels: Sequence[Level]) -> ApproximateIndex:
        """Read what ``save`` wrote for rows of that shape; damage is a ``ValueError``."""
        loaded = cls(load_array(directory / _FILE), load_array(directory / _LISTS), shape)
        loaded.levels = levels
        return loaded

    def _recall(self, level: Level, stored: ExactIndex, queries: Floats, expected: Sequence[Ranking]) -> float:
        found = self.candidates(queries, level.candidates, level.probes)
        return 0.0 if found is None else recall(stored.rank(queries, found, level.k), expected, level.k)

    def _nanoseconds(self, level: Level) -> float:
        """About what a search takes on one core, without what all settings take."""
        scanned = level.probes * self._index.ntotal / self.lists * self._index.pq.M
        return float(scanned * _SCAN_COST + level.candidates * (self._index.d + _FETCH_COST) * _SCORE_COST)

    def _probes_with(self, queries: Floats, probes: int, allowed: Allowed) -> int:
        """How many lists have as many allowed rows as ``probes`` lists have rows, for the query that needs most.

        Where the allowed rows are far from a query, these are many more than where they are spread evenly.
        """
        spread = np.bincount(self._list_of[allowed[::_SAMPLED]], minlength=self.lists)
        order = self._index.quantizer.search(queries, self.lists)[1]
        reached = np.cumsum(spread[order], axis=1) >= probes * len(self._list_of) / self.lists
        needed = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, self.lists)
        return int(needed.max(initial=0))


def faiss_module() -> ModuleType:
    """The library underneath, or an error that names the extra."""
    return import_extra("faiss", "ann", "an approximate index")


def list_count(rows: int, dimension: int) -> int:
    """How many lists for so many rows: about 2 sqrt(rows), a power of two; fewer beyond 64 components.

    >>> list_count(1_000_000, 64), list_count(1_000_000, 256)
    (2048, 1024)
    """
    fewer = min(_NARROW / max(dimension, 1), 1.0)
    return int(2 ** round(np.log2(2 * np.sqrt(max(rows * fewer, 1)))))


def _layout(rows: int, dimension: int) -> tuple[int, int, int]:
    """The number of lists, of codes a row, and of components, padded where the codes do not divide them.

    >>> [_layout(1_000_000, dimension)[1:] for dimension in (64, 256, 300)]
    [(65, 65), (129, 258), (101, 303)]
    """
    shared = -(-(dimension + 1) // _MOST_CODES)
    codes = -(-(dimension + 1) // shared)
    return list_count(rows, dimension), codes, codes * shared


def _unit(rows: Stored, longest: float, width: int) -> Floats:
    """Rows divided by the longest, made unit vectors by one more component, padded with zeros."""
    unit = np.zeros((len(rows), width), dtype=np.float32)
    short = unit[:, : rows.shape[1]]
    short[:] = float32_rows(rows)
    short /= np.float32(longest or 1.0)
    unit[:, rows.shape[1]] = np.sqrt(np.maximum(1 - np.einsum("rd,rd->r", short, short), 0))
    return unit


def _read(content: NDArray[np.uint8], rows: int, dimension: int) -> Any:
    """A faiss index, if it is whole and of the kind, shape and size that ``build`` makes.

    The file is input: its header is checked before faiss allocates anything, faiss may not allocate more for an array
    than the file has bytes, and every list is checked before anything is searched.
    """
    faiss, damaged = faiss_module(), ValueError(f"{_FILE} is not an approximate index of {rows} rows of {dimension}")
    lists, codes, width = _layout(rows, dimension)
    if content.dtype != np.uint8 or content.ndim != 1 or len(content) < _HEADER.size:
        raise damaged
    header = _HEADER.unpack(content[: _HEADER.size].tobytes())
    if header != (b"IwPf", width, rows, True, faiss.METRIC_INNER_PRODUCT, lists):
        raise damaged
    with _reading:
        limit = faiss.get_deserialization_vector_byte_limit()
        try:
            faiss.set_deserialization_vector_byte_limit(max(content.nbytes, 64 * lists * codes) + 64)
            index = faiss.deserialize_index(np.asarray(content))
        except (RuntimeError, MemoryError) as error:
            raise damaged from error
        finally:
            faiss.set_deserialization_vector_byte_limit(limit)
    stored = faiss.downcast_InvertedLists(index.invlists)
    sizes = [stored.list_size(number) for number in range(stored.nlist)]
    found = (index.pq.M, index.pq.nbits, index.quantizer.ntotal, index.quantizer.d, index.bbs, stored.n_per_block)
    if found != (codes, 4, lists, width, 32, 32) or len(sizes) != lists or sum(sizes) != rows:
        raise damaged
    numbers = [faiss.rev_swig_ptr(stored.get_ids(number), size) for number, size in enumerate(sizes) if size]
    if (np.bincount(np.clip(np.concatenate(numbers), -1, rows) + 1, minlength=rows + 2)[1:-1] != 1).any():
        raise damaged
    return index

"""Impact lists: documents as sparse vectors of small numbers, the *levels*, and the search for their best documents.

Each dimension of the vectors has an inverted list. A query gives each of some dimensions a table that maps levels to
integers, and

    score(q, d) = sum_i table_i[level_i(d)]

Levels do not depend on the collection; what does (document frequencies, say) is in the tables. So documents can be
added and deleted without touching the lists of others. Integers add up to the same sum in every order: a search that
skips documents finds, to the last bit, what one that reads all lists finds.

Documents are numbered in chunks of 65,536. A list has an entry for each chunk in which its dimension occurs: where its
postings begin, their number, and their highest level. A posting has the number of a document in the chunk (two bytes)
and a level (one byte). The postings of a chunk lie together, so that lists are built, and read, chunk by chunk.

The best documents are found by MaxScore (Turtle and Flood 1995), chunk by chunk. Let u(i) be what dimension i adds at
most in the chunk, the dimensions be in ascending order of it, and s be the least score of the best so far. As long as
u(1) + ... + u(e) < s, a document with none but the dimensions 1 to e cannot be among the best: only the lists of the
others are read, and the documents found in them are looked up in those of 1 to e. ``compiled_impacts.py`` is the
compiled search; without numba all lists are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed, Ranking, top_k
from isogloss.storage.array_checks import check_offsets, check_type, check_within
from isogloss.storage.arrays import load_array, place_of, save_array
from isogloss.storage.compiled import pays

CHUNK = 1 << 16
LEVELS = 256
_ARRAYS = {
    "lists": np.int64, "chunks": np.int32, "starts": np.int64, "sizes": np.int32, "tops": np.uint8,
    "documents": np.uint16, "levels": np.uint8,
}  # fmt: skip
_POSTINGS_A_SECOND = 8_000_000  # that numpy sorts

Numbers = NDArray[np.int64]
Ids = NDArray[np.int32]
Levels = NDArray[np.uint8]
Tables = NDArray[np.int32]
"""One row of integers a dimension of a query, one column a level."""


class Run(NamedTuple):
    """Postings of some consecutive documents, one document after the other: ``dimensions[ends[i - 1]:ends[i]]``."""

    dimensions: Ids
    levels: Levels
    ends: Numbers


class ImpactLists:
    """The lists of some documents, mapped from files or in memory.

    The entries of dimension i are ``lists[i]:lists[i + 1]``. Entry e has the ``sizes[e]`` postings from ``starts[e]``
    on, whose documents are ``chunks[e]`` * 65,536 + ``documents``, ascending; ``tops[e]`` is their highest level.
    """

    def __init__(
        self, size: int, lists: Numbers, chunks: Ids, starts: Numbers, sizes: Ids, tops: Levels,
        documents: NDArray[np.uint16], levels: Levels,
    ) -> None:  # fmt: skip
        self.size = size
        self.lists, self.chunks, self.starts, self.sizes, self.tops = lists, chunks, starts, sizes, tops
        self.documents, self.levels = documents, levels

    @classmethod
    def build(cls, size: int, dimensions: int, runs: Iterable[Run]) -> ImpactLists:
        """The lists of so many documents: one run a chunk, in their order."""
        documents, levels = np.empty(0, np.uint16), np.empty(0, np.uint8)
        found = [np.zeros((5, 0), np.int64)]
        for chunk, run in enumerate(runs):
            counts = np.bincount(run.dimensions, minlength=dimensions)
            occurring = np.flatnonzero(counts)
            starts = np.cumsum(counts) - counts
            before = len(documents)
            for array in (documents, levels):  # grows in place: the memory is mapped elsewhere, not copied
                array.resize(before + len(run.levels), refcheck=False)
            _sort(run, starts, documents[before:], levels[before:])
            tops = np.maximum.reduceat(levels[before:], starts[occurring]) if len(occurring) else occurring
            entries = occurring, np.full(len(occurring), chunk), before + starts[occurring], counts[occurring], tops
            found.append(np.stack(entries).astype(np.int64))
        of_dimension, *columns = np.concatenate(found, axis=1)
        order = np.argsort(of_dimension, kind="stable")
        lists = np.append(0, np.cumsum(np.bincount(of_dimension, minlength=dimensions)))
        kinds = (_ARRAYS[name] for name in ("chunks", "starts", "sizes", "tops"))
        chunks, starts, sizes, tops = (each[order].astype(kind) for each, kind in zip(columns, kinds, strict=True))
        return cls(size, lists, chunks, starts, sizes, tops, documents, levels)

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        return len(self.lists) - 1

    def count(self, dimension: int) -> int:
        """The number of documents in a list."""
        return int(self.sizes[self.lists[dimension] : self.lists[dimension + 1]].sum())

    def rows(self, dimension: int) -> Ids:
        """The documents in a list, ascending."""
        return np.concatenate([np.zeros(0, np.int32), *(rows for rows, _ in self._postings(dimension))])

    def scores(self, dimensions: Numbers, tables: Tables) -> Ids:
        """The score of every document."""
        sums = np.zeros(self.size, np.int32)
        for dimension, table in zip(dimensions.tolist(), tables, strict=True):
            for rows, levels in self._postings(dimension):
                sums[rows] += table[levels]
        return sums

    def _postings(self, dimension: int) -> Iterator[tuple[Ids, Levels]]:
        for entry in range(int(self.lists[dimension]), int(self.lists[dimension + 1])):
            begin, first = int(self.starts[entry]), int(self.chunks[entry]) * CHUNK
            span = slice(begin, begin + int(self.sizes[entry]))
            yield self.documents[span].astype(np.int32) + np.int32(first), self.levels[span]

    def save(self, directory: Path, name: str = "impacts") -> None:
        """Write the arrays into a directory."""
        for array in _ARRAYS:
            save_array(directory / f"{name}.{array}.npy", getattr(self, array))

    @classmethod
    def load(cls, directory: Path, size: int, dimensions: int, name: str = "impacts") -> ImpactLists:
        """Map what ``save`` wrote; a ``ValueError`` where compiled code could leave the arrays.

        Postings themselves are not read here. Whatever they contain, their two bytes stay within a chunk.
        """
        arrays = {array: load_array(directory / f"{name}.{array}.npy") for array in _ARRAYS}
        made, entries = cls(size, *arrays.values()), len(arrays["chunks"])
        places = {array: place_of(directory / f"{name}.{array}.npy") for array in _ARRAYS}
        sizes = dict.fromkeys(("chunks", "starts", "sizes", "tops"), entries) | {
            "lists": dimensions + 1, "documents": len(made.levels), "levels": len(made.levels)
        }  # fmt: skip
        for array, kind in _ARRAYS.items():
            check_type(arrays[array], kind, places[array], sizes[array])
        check_offsets(made.lists, entries, places["lists"])
        check_within(made.chunks, -(-size // CHUNK), places["chunks"])
        check_within(made.sizes, CHUNK + 1, places["sizes"])
        check_within(made.starts, len(made.levels) + 1, places["starts"])
        if entries and (made.starts + made.sizes).max() > len(made.levels):
            raise ValueError(f"{places['starts']} does not fit: a list ends after the last posting")
        return made

    @cached_property
    def fixed(self) -> tuple[Any, ...]:
        """The arrays as compiled code takes them: read-only, of one type in memory or mapped."""
        arrays = (self.chunks, self.starts, self.sizes, self.tops, self.documents, self.levels)
        views = [np.ascontiguousarray(each).view(np.ndarray) for each in arrays]
        for view in views:
            view.flags.writeable = False
        return tuple(views)


class ImpactQuery(NamedTuple):
    """The dimensions of a query in each part that is searched (-1: the part has no such dimension), and its tables."""

    dimensions: Sequence[Numbers]
    tables: Tables


def search_impacts(
    parts: Sequence[ImpactLists], query: ImpactQuery, k: int, id_order: Numbers, allowed: Allowed | None = None,
    compiled: bool = True,
) -> Ranking:  # fmt: skip
    """The ``k`` best documents of several parts, or of those allowed, that score above 0; ties go by ``id_order``.

    The documents of a part have the rows after those of the part before it.
    """
    size = sum(part.size for part in parts)
    used = [np.flatnonzero(numbers >= 0) for numbers in query.dimensions]
    if not compiled:
        scores = [
            part.scores(numbers[which], query.tables[which])
            for part, numbers, which in zip(parts, query.dimensions, used, strict=True)
        ]
        every = np.concatenate([np.zeros(0, np.int32), *scores])
        return top_k(every if allowed is None else np.where(allowed, every, 0), k, id_order, above=0)
    from isogloss.retrieval.compiled import Best  # imports numba
    from isogloss.retrieval.compiled_impacts import Lists, Rows, search_part

    wanted = min(k, size)
    best, count, start = Best(np.zeros(wanted, np.int32), np.zeros(wanted, np.int64)), 0, 0
    mask = np.zeros(0, bool) if allowed is None else np.ascontiguousarray(allowed).view(np.ndarray)
    order = np.ascontiguousarray(id_order, np.int64).view(np.ndarray)
    mask.flags.writeable = order.flags.writeable = False
    for part, numbers, which in zip(parts, query.dimensions, used, strict=True):
        if wanted and len(which):
            entries = np.stack([part.lists[numbers[which]], part.lists[numbers[which] + 1]], axis=1)
            rows = Rows(start, part.size, mask, order)
            count = search_part(Lists(*part.fixed), entries, query.tables[which], rows, best, count)
        start += part.size
    return top_k(best.scores[:count], k, id_order, best.rows[:count])


def _sort(run: Run, starts: Numbers, documents: NDArray[np.uint16], levels: Levels) -> None:
    """Write the postings of a chunk by dimension, then by document; those of each dimension from ``starts`` on."""
    if pays(len(run.levels) / _POSTINGS_A_SECOND):
        from isogloss.retrieval.compiled_impacts import sort_run  # imports numba

        sort_run(run.dimensions, run.levels, run.ends, starts.copy(), documents, levels)
        return
    order = np.argsort(run.dimensions, kind="stable")
    numbers = np.repeat(np.arange(len(run.ends), dtype=np.uint16), np.diff(run.ends, prepend=0))
    documents[:], levels[:] = numbers[order], run.levels[order]

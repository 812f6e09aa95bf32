"""Several tables of strings as one: left where they are, or copied into one table, in memory or on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import save_array
from isogloss.base.strings import StringTable

_TAKEN = 2**16  # strings copied at a time: for each of their bytes a number is needed


class JoinedStrings(Sequence[str]):
    """The strings of several sequences, one after the other.

    >>> JoinedStrings([["a", "b"], [], ["c"]])[2]
    'c'
    """

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self._parts = list(parts)
        self._starts = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # one at a time, no slices
        if not 0 <= number < len(self):
            raise IndexError(number)
        part = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self._parts[part][number - int(self._starts[part])]


def save_joined(tables: Sequence[StringTable], keep: NDArray[np.bool_], directory: Path, name: str) -> None:
    """Write what ``StringTable.save`` would of the strings to keep, without having them all in memory."""
    starts = np.cumsum([0, *map(len, tables)])
    kept = [keep[start : start + len(table)] for table, start in zip(tables, starts.tolist(), strict=False)]
    lengths = [np.diff(table.offsets)[of_table] for table, of_table in zip(tables, kept, strict=True)]
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))
    with open(directory / f"{name}.bytes.npy", "wb") as file:
        about = {"descr": "|u1", "fortran_order": False, "shape": (int(offsets[-1]),)}
        np.lib.format.write_array_header_1_0(file, about)
        for table, of_table in zip(tables, kept, strict=True):
            for first, last in _runs(of_table):
                file.write(table.data[int(table.offsets[first]) : int(table.offsets[last])].data)
    save_array(directory / f"{name}.offsets.npy", offsets)


def taken(tables: Sequence[StringTable], places: NDArray[np.int64]) -> StringTable:
    """The strings at some places of several tables that stand one after the other, as one table in that order.

    >>> list(taken([StringTable.of(["a", "bee"]), StringTable.of(["sea"])], np.asarray([2, 0, 1])))
    ['sea', 'a', 'bee']
    """
    data = np.concatenate([np.zeros(0, np.uint8), *(table.data for table in tables)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(table.offsets) for table in tables)])
    begins = np.cumsum(lengths) - lengths
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[places])])
    copied = np.empty(int(offsets[-1]), dtype=np.uint8)
    for start in range(0, len(places), _TAKEN):
        some, ends = places[start : start + _TAKEN], offsets[start : start + _TAKEN + 1]
        source = np.repeat(begins[some] - ends[:-1], lengths[some]) + np.arange(ends[0], ends[-1])
        copied[ends[0] : ends[-1]] = data[source]
    return StringTable(copied, offsets)


def _runs(keep: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """The stretches of rows to keep: first, and first after."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)

"""Many strings in two flat arrays, memory-mapped: a million of them open at once, and one is found by bisection.

Several tables are searched as one (``JoinedStrings``), or copied into one table, in memory or on disk.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.array_checks import check_offsets, check_type
from isogloss.storage.arrays import keep_with, load_array, place_of, save_array, save_chunks
from isogloss.storage.errors import DamagedIndexError

_HEAD = 16  # bytes of a string by which most others are told from it
_TAKEN = 2**16  # strings copied at a time: for each of their bytes a number is needed


class StringTable(Sequence[str]):
    """Strings by number; by value too (``find``) where they are in ascending order of their UTF-8 bytes."""

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], place: str = "a table of strings") -> None:
        """``place`` is where they are, for errors."""
        self.data = np.asarray(data)
        self._place = place
        self.offsets = np.asarray(offsets)
        self._data, self._offsets = self.data.data, self.offsets.data  # read faster than arrays

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringTable:
        """A table in memory."""
        data, lengths = bytearray(), array("q", [0])
        for string in strings:
            encoded = string.encode("utf-8", "surrogatepass")
            lengths.append(len(encoded))
            data += encoded
        return cls(np.frombuffer(data, dtype=np.uint8), np.cumsum(np.frombuffer(lengths, dtype=np.int64)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # one at a time, no slices
        return self._decoded(self._bytes(number))

    def __iter__(self) -> Iterator[str]:
        data = self.data.tobytes()
        return (self._decoded(data[begin:end]) for begin, end in pairwise(self.offsets.tolist()))

    def find(self, string: str) -> int | None:
        """The number of a string in a sorted table, or None."""
        wanted = string.encode("utf-8", "surrogatepass")
        data, offsets, low, high = self._data, self._offsets, 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if data[offsets[middle] : offsets[middle + 1]].tobytes() < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == wanted else None

    def find_all(self, strings: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of many strings in a sorted table, -1 for each that it does not have.

        Those that are not there are mostly told by their first bytes.

        >>> StringTable.of(["bee", "container", "contains"]).find_all(["contains", "contained", "sea", "bee"])
        array([ 2, -1, -1,  0])
        """
        wanted = [string.encode("utf-8", "surrogatepass") for string in strings]
        found = np.full(len(wanted), -1)
        if len(self):
            heads = np.asarray(wanted, self._heads.dtype)
            first = np.searchsorted(self._heads, heads)
            alike = self._heads[np.minimum(first, len(self) - 1)] == heads
            for i in np.flatnonzero(alike).tolist():
                number = bisect_left(range(len(self)), wanted[i], int(first[i]), key=self._bytes)
                if number < len(self) and self._bytes(number) == wanted[i]:
                    found[i] = number
        return found

    def text(self) -> str:
        """All strings, one after the other."""
        return self._decoded(self.data.tobytes())

    @cached_property
    def _heads(self) -> NDArray[np.bytes_]:
        """The first bytes of each string; shorter strings are filled up with zeros."""
        begins, lengths = self.offsets[:-1], np.diff(self.offsets)
        heads = np.zeros((len(self), _HEAD), np.uint8)
        for place in range(_HEAD):
            longer = np.flatnonzero(lengths > place)
            heads[longer, place] = self.data[begins[longer] + place]
        return heads.view(f"S{_HEAD}")[:, 0]

    def save(self, directory: Path, name: str) -> None:
        """Write ``NAME.bytes.npy`` and ``NAME.offsets.npy``."""
        save_array(directory / f"{name}.bytes.npy", self.data)
        save_array(directory / f"{name}.offsets.npy", self.offsets)

    @classmethod
    def load(cls, directory: Path, name: str) -> StringTable:
        """Map what ``save`` wrote."""
        data, offsets = (load_array(directory / f"{name}.{part}.npy") for part in ("bytes", "offsets"))
        path = directory / f"{name}.offsets.npy"
        check_type(data, np.uint8, f"{name}.bytes.npy")
        keep_with(path, lambda: check_offsets(offsets, len(data), place_of(path)))
        return cls(data, offsets, place_of(directory / f"{name}.bytes.npy"))

    def _decoded(self, string: bytes) -> str:
        try:
            return string.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            what = "the index is damaged: mend it with 'isogloss check INDEX --repair', or make it again"
            raise DamagedIndexError(f"{self._place}: is not UTF-8 ({error.reason}); {what}") from error

    def checked(self, name: str) -> StringTable:
        """The table itself; a ``ValueError`` if one of its strings, all of which it reads, cannot be decoded."""
        begins = self.offsets[:-1][np.diff(self.offsets) > 0]
        try:
            self.data.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name} is not UTF-8") from error
        if ((self.data[begins] & 0xC0) == 0x80).any():
            raise ValueError(f"{name} begins in the middle of a character")
        return self

    def _bytes(self, number: int) -> bytes:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self._data[self._offsets[number] : self._offsets[number + 1]].tobytes()


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
    """Write a table of the strings to keep, without having them all in memory."""
    starts = np.cumsum([0, *map(len, tables)])
    kept = [keep[start : start + len(table)] for table, start in zip(tables, starts.tolist(), strict=False)]
    lengths = [np.diff(table.offsets)[of_table] for table, of_table in zip(tables, kept, strict=True)]
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))
    chunks = (
        table.data[int(table.offsets[first]) : int(table.offsets[last])].data
        for table, of_table in zip(tables, kept, strict=True)
        for first, last in _runs(of_table)
    )
    save_chunks(directory / f"{name}.bytes.npy", np.uint8, (int(offsets[-1]),), chunks)
    save_array(directory / f"{name}.offsets.npy", offsets)


def taken(tables: Sequence[StringTable], numbers: NDArray[np.int64]) -> StringTable:
    """Some strings of several tables, numbered one table after the other, as one table.

    >>> list(taken([StringTable.of(["a", "bee"]), StringTable.of(["sea"])], np.asarray([2, 0, 1])))
    ['sea', 'a', 'bee']
    """
    data = np.concatenate([np.zeros(0, np.uint8), *(table.data for table in tables)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(table.offsets) for table in tables)])
    begins = np.cumsum(lengths) - lengths
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[numbers])])
    copied = np.empty(int(offsets[-1]), dtype=np.uint8)
    for start in range(0, len(numbers), _TAKEN):
        some, ends = numbers[start : start + _TAKEN], offsets[start : start + _TAKEN + 1]
        source = np.repeat(begins[some] - ends[:-1], lengths[some]) + np.arange(ends[0], ends[-1])
        copied[ends[0] : ends[-1]] = data[source]
    return StringTable(copied, offsets)


def _runs(keep: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """The spans of rows to keep: first, and first after."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)

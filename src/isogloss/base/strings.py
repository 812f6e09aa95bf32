"""Many strings in two flat arrays, memory-mapped: opening a million of them costs nothing, finding one a few steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array


class StringTable(Sequence[str]):
    """Strings by number; by value too (``find``) where they were given in ascending order of their UTF-8 bytes."""

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.data = np.asarray(data)  # a map as a plain array, which is read four times faster, string by string
        self.offsets = np.asarray(offsets)

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringTable:
        """A table in memory."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(string) for string in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # one at a time, no slices
        return self._bytes(number).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        data = self.data.tobytes()
        return (data[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(self.offsets.tolist()))

    def find(self, string: str) -> int | None:
        """The number of a string in a sorted table, or None."""
        wanted = string.encode("utf-8", "surrogatepass")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == wanted else None

    def save(self, directory: Path, name: str) -> None:
        """Write ``NAME.bytes.npy`` and ``NAME.offsets.npy``."""
        save_array(directory / f"{name}.bytes.npy", self.data)
        save_array(directory / f"{name}.offsets.npy", self.offsets)

    @classmethod
    def load(cls, directory: Path, name: str) -> StringTable:
        """Map what ``save`` wrote."""
        data, offsets = (load_array(directory / f"{name}.{part}.npy") for part in ("bytes", "offsets"))
        if not len(offsets) or offsets[-1] != len(data):
            raise ValueError(f"{name}.bytes.npy does not fit {name}.offsets.npy")
        return cls(data, offsets)

    def _bytes(self, number: int) -> bytes:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self.data[self.offsets[number] : self.offsets[number + 1]].tobytes()

"""Numbers that all worker processes count together: each in a mapped file of its own, read by whichever is asked."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_Cells = NDArray[np.float64]


class SharedCells:
    """An array of numbers for each worker.

    A worker takes the first file that no living process holds (a lock tells), so a worker that replaces a dead one
    goes on counting where that one stopped, and what was counted is never lost. Without a folder there is one array.
    """

    def __init__(self, count: int, folder: Path | None = None) -> None:
        self._folder = folder
        self._count = count
        self._held: int | None = None
        self.own: _Cells = np.zeros(count) if folder is None else self._take(folder)

    def all(self) -> Iterator[_Cells]:
        """The numbers of every worker there is or was."""
        if self._folder is None:
            yield self.own
            return
        for path in sorted(self._folder.glob("*.cells")):
            if path.stat().st_size == self._count * 8:
                yield np.memmap(path, np.float64, "r", shape=(self._count,))

    def close(self) -> None:
        """Leave the array to whoever comes next."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _take(self, folder: Path) -> _Cells:
        number = 0
        while True:
            path = folder / f"{number}.cells"
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                number += 1
                continue
            os.ftruncate(handle, self._count * 8)
            self._held = handle
            return np.memmap(path, np.float64, "r+", shape=(self._count,))

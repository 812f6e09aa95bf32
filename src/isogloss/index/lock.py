"""One writer at a time: a file lock that names its holder, and that the system releases when the holder dies."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

from isogloss.storage.errors import InputError

FILE = "write.lock"


class IndexBusyError(InputError):
    """Another process is changing the index."""


class WriteLock:
    """The lock on ``write.lock`` of an index, from ``acquire`` to ``release``; the file itself stays."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._directory = directory
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock, or raise an error that names its holder."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        if not _take(handle):
            holder = " ".join(os.pread(handle, 1000, 0).decode("utf-8", "replace").split()) or "another writer"
            os.close(handle)
            raise IndexBusyError(f"{self._directory}: is being changed by {holder}; try again when it is done")
        if not self._is_current(handle):  # the index was replaced while the lock was being taken
            os.close(handle)
            self.acquire()
            return
        self._handle = handle
        command = " ".join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])[:200]
        with suppress(OSError):  # a full disk: the name of the holder is only for messages
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()} ({command})\n".encode("utf-8", "replace"), 0)

    def release(self) -> None:
        """Release the lock."""
        if self._handle is not None:
            with suppress(OSError):  # a full disk
                os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_current(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False


def _take(handle: int) -> bool:
    """Whether the lock is free, and taken now; always where the system has no ``fcntl``."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ModuleNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True

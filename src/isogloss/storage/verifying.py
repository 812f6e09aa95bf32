"""Large files of an index are compared with their checksums once, and that is remembered for this user.

Opening an index compares so many of them that it takes little time. A process that stays compares the others in the
background. What is remembered is in the user's own cache, never in the index: an index that came from somebody else
cannot say that it was checked. A file is another one as soon as its inode, its size or a time of its change differs.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from queue import SimpleQueue

from isogloss.storage.checksums import FileNote, NotedFile, check_file
from isogloss.storage.errors import DamagedFileError
from isogloss.storage.user_directories import cache_directory

AT_OPENING = 2**26
"""Bytes that are compared when an index is opened, if they never were: a tenth of a second."""
_FOLDER = "verified"
_MOST = 2_000  # remembered files
_NICENESS = 10

_verified: set[str] = set()
_damaged: dict[str, DamagedFileError] = {}
"""The keys of files that this process has compared."""


@dataclass(frozen=True)
class LargeFile:
    """A file with its note; ``key`` tells it from what it was before and from what will take its place."""

    path: Path
    note: FileNote
    key: str

    @classmethod
    def of(cls, file: NotedFile) -> LargeFile:
        return cls(*file, _key(file))

    @property
    def is_verified(self) -> bool:
        """Whether this user has compared it before."""
        return self.key in _verified or os.access(_cache() / self.key, os.F_OK)

    @property
    def is_replaced(self) -> bool:
        """Whether another file has its name now."""
        try:
            return _key(NotedFile(self.path, self.note)) != self.key
        except OSError:
            return False

    def verify(self) -> None:
        """Compare it; a :class:`DamagedFileError` if it is not what was written."""
        check_file(self.path, self.note, hashes=True)
        if not self.is_replaced:
            _verified.add(self.key)
            _remember(self.key)


class OpeningChecks:
    """Compares large files while an index is opened, up to so many bytes in all; ``files`` are all it was given."""

    def __init__(self, most: int | None = None) -> None:
        self._left = AT_OPENING if most is None else most
        self.files: list[LargeFile] = []

    def check(self, files: Iterable[NotedFile]) -> None:
        """Compare some files, or leave them for later; raise for one that is damaged."""
        for file in map(LargeFile.of, files):
            self.files.append(file)
            if file.key in _damaged:
                raise _damaged[file.key]
            if not file.is_verified and file.note.size <= self._left:
                self._left -= file.note.size
                file.verify()


def damage_of(files: Sequence[LargeFile]) -> tuple[LargeFile, DamagedFileError] | None:
    """The first of some files that was found to be damaged, with the error."""
    return next(((file, _damaged[file.key]) for file in files if file.key in _damaged), None) if _damaged else None


class Background:
    """The thread that compares files, one after the other; it begins with the first."""

    def __init__(self) -> None:
        self._files: SimpleQueue[LargeFile | threading.Event] = SimpleQueue()
        self._lock = threading.Lock()
        self._queued: set[str] = set()
        self._process = 0

    def verify(self, files: Sequence[LargeFile]) -> threading.Event:
        """Compare files later; the event is set when that is done."""
        done = threading.Event()
        if all(file.key in _verified for file in files):
            done.set()
            return done
        with self._lock:
            if self._process != os.getpid():  # a fork has no thread
                self._files, self._queued, self._process = SimpleQueue(), set(), os.getpid()
                threading.Thread(target=self._run, name="isogloss-verify", daemon=True).start()
            for file in files:
                if file.key not in self._queued:
                    self._queued.add(file.key)
                    self._files.put(file)
            self._files.put(done)
        return done

    def _run(self) -> None:
        with suppress(OSError, AttributeError):  # searches go first, where threads have priorities
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        while True:
            file = self._files.get()
            if isinstance(file, threading.Event):
                file.set()
                continue
            try:
                if not file.is_verified:
                    file.verify()
            except DamagedFileError as error:
                if not file.is_replaced:
                    _damaged[file.key] = error
                    logging.getLogger("isogloss").error("%s; the index is damaged", error)
            except (OSError, ValueError, MemoryError):
                continue  # a writer has removed it; or the system fails, which is no damage


background = Background()


def _remember(key: str) -> None:
    """Note that a file is what was written; where that cannot be noted, it will be compared again."""
    with suppress(OSError):
        folder = _cache()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / key).touch()
        known = list(folder.iterdir())
        if len(known) > _MOST:
            for old in sorted(known, key=lambda path: path.stat().st_mtime)[: len(known) - _MOST // 2]:
                old.unlink(missing_ok=True)


def _key(file: NotedFile) -> str:
    status = file.path.stat()
    seen = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, file.note.hash
    return blake2b(repr((os.path.realpath(file.path), *seen)).encode(), digest_size=16).hexdigest()


def _cache() -> Path:
    """The folder of what is remembered; where there is no home it does not exist."""
    return (cache_directory() or Path(os.devnull)) / _FOLDER

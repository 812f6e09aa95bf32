"""All arrays of a directory in one file, which is mapped once: a segment of an index takes one file descriptor.

arrays.bin     the arrays, each from a multiple of 64 bytes
arrays.json    of each array its type, its shape, its first byte and the hash of its content

Inside ``packed(directory)`` every array that is saved below the directory goes into its container. Folders with a dot
before their name are left out: they are renamed when they are complete, so their arrays get files of their own.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any, NamedTuple, Self
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isogloss.storage.errors import DamagedFileError
from isogloss.storage.files import open_regular, parse_json, read_regular

DATA, CONTENTS = "arrays.bin", "arrays.json"
_MAGIC = b"isogloss arrays\n"
_ALIGNMENT = 64
_LARGEST = 2**62  # bytes, and the length of an array
_UNTRACKED: dict[str, Any] = {"trackfd": False} if sys.version_info >= (3, 13) else {}


class Entry(NamedTuple):
    """An array of a container."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    hash: str

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


class ContainerWriter:
    """Writes the container of a directory; its file is created with the first array."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._entries: dict[str, Entry] = {}
        self._file: IO[bytes] | None = None

    def takes(self, path: Path) -> bool:
        """Whether an array with this path belongs into the container."""
        if not path.is_relative_to(self.directory):
            return False
        return not any(part.startswith(".") for part in path.relative_to(self.directory).parts)

    def add(self, path: Path, dtype: DTypeLike, shape: tuple[int, ...], chunks: Iterable[bytes | memoryview]) -> None:
        """Append an array whose content comes in chunks."""
        if self._file is None:
            self._file = open(self.directory / DATA, "wb")  # noqa: SIM115
            self._file.write(_MAGIC)  # an empty file could not be mapped
        self._file.write(bytes(-self._file.tell() % _ALIGNMENT))
        start, digest = self._file.tell(), blake2b(digest_size=16)
        for chunk in chunks:
            self._file.write(chunk)
            digest.update(chunk)
        name = path.relative_to(self.directory).as_posix()
        self._entries[name] = Entry(np.dtype(dtype).str, shape, start, digest.hexdigest())

    def close(self) -> None:
        """Close the file; arrays.json is not written yet."""
        if self._file is not None:
            self._file.close()

    def finish(self) -> None:
        """Write arrays.json, if there is an array."""
        if self._entries:
            content = json.dumps(self._entries, indent=0, ensure_ascii=False) + "\n"
            (self.directory / CONTENTS).write_text(content, encoding="utf-8")


_WRITING: ContextVar[ContainerWriter | None] = ContextVar("isogloss-container", default=None)


@contextmanager
def packed(directory: Path) -> Iterator[None]:
    """Write all arrays that are saved below a directory into one container.

    Inside another ``packed`` of a folder above, that one's container takes them.
    """
    current = _WRITING.get()
    if current is not None and current.takes(directory):
        yield
        return
    writer = ContainerWriter(directory)
    token = _WRITING.set(writer)
    try:
        yield
    finally:
        _WRITING.reset(token)
        writer.close()
    writer.finish()


def writer_for(path: Path) -> ContainerWriter | None:
    """The container that an array with this path is to be saved in, if there is one."""
    writer = _WRITING.get()
    return writer if writer is not None and writer.takes(path) else None


class Container(mmap):
    """An open container. It is open as long as one of its arrays is used."""

    entries: dict[str, Entry]
    kept: dict[str, Any]
    """What was computed of its arrays. It must not refer to them: nothing would ever close the container."""

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Map the container of a directory; one that is open already is shared."""
        path = directory / DATA
        with _OPENING:
            known = _OPEN.get(_key(path.stat()))
            if known is not None:
                return known  # type: ignore[return-value]  # there is one class
            entries = _entries(read_regular(directory / CONTENTS), directory)
            with open_regular(path) as file:
                status = os.fstat(file.fileno())
                if not status.st_size:
                    raise DamagedFileError(path, "is empty")
                made = cls(file.fileno(), 0, access=ACCESS_READ, **_UNTRACKED)
            made.entries, made.kept = entries, {}
            _OPEN[_key(status)] = made
            return made

    def array(self, name: str, directory: Path) -> NDArray[Any]:
        """One of its arrays; the directory is named in errors."""
        entry = self.entries[name]
        if entry.start + entry.size > len(self):
            raise DamagedFileError(directory / DATA, f"is cut off in {name}")
        try:
            return np.ndarray(entry.shape, entry.dtype, self, entry.start)
        except ValueError as error:
            raise DamagedFileError(directory / CONTENTS, f"has no array in {name} ({error})") from error

    def is_whole(self, name: str) -> bool:
        """Whether an array is as it was written."""
        entry = self.entries[name]
        with memoryview(self) as content:
            return blake2b(content[entry.start : entry.start + entry.size], digest_size=16).hexdigest() == entry.hash


def _key(status: os.stat_result) -> tuple[int, ...]:
    """What tells a file from others: a container that is open keeps its inode."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


_OPENING = threading.Lock()
_OPEN: WeakValueDictionary[tuple[int, ...], Container] = WeakValueDictionary()


class Packed(NamedTuple):
    """An array of a container."""

    container: Container
    directory: Path
    name: str

    @property
    def place(self) -> str:
        """The file and the array, for errors."""
        return f"{self.directory / DATA}: {self.name}"

    def keep(self, make: Callable[[], Any]) -> Any:
        """What ``make`` returned when it was called for this array first."""
        kept = self.container.kept
        return kept[self.name] if self.name in kept else kept.setdefault(self.name, make())


def find_packed(path: Path) -> Packed | None:
    """An array by the path that it was saved with, if it is in a container."""
    for directory in path.parents:
        try:
            container = Container.open(directory)
        except (FileNotFoundError, NotADirectoryError) as error:
            if error.filename == str(directory / CONTENTS):
                raise
            continue
        name = path.relative_to(directory).as_posix()
        return Packed(container, directory, name) if name in container.entries else None
    return None


def contents_hash(directory: Path) -> str:
    """The hash of arrays.json, which has those of all arrays."""
    return blake2b(read_regular(directory / CONTENTS), digest_size=16).hexdigest()


def damaged_arrays(directory: Path, hash_: str, largest: int | None = None) -> list[str]:
    """The arrays that are not what was written, or those of them up to a size; ``hash_`` is that of arrays.json."""
    if contents_hash(directory) != hash_:
        raise DamagedFileError(directory / CONTENTS, "is not what was written (its checksum differs)")
    container = Container.open(directory)
    sizes = {name: entry.size for name, entry in container.entries.items()}
    return [
        name for name, size in sizes.items() if (largest is None or size <= largest) and not container.is_whole(name)
    ]


def _entries(content: bytes, directory: Path) -> dict[str, Entry]:
    try:
        found = {name: Entry(dtype, tuple(shape), start, hash_) for name, (dtype, shape, start, hash_) in
                 parse_json(content, directory / CONTENTS).items()}  # fmt: skip
        for name, entry in found.items():
            if not _is_array(entry):
                raise ValueError(f"{name} is no array")
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedFileError(directory / CONTENTS, f"is not a list of arrays ({error})") from error
    return found


def _is_array(entry: Entry) -> bool:
    """Whether an entry is of numbers in the order of this machine's bytes, and begins where arrays do."""
    if type(entry.dtype) is not str or type(entry.hash) is not str:
        return False
    kind, numbers = np.dtype(entry.dtype), (*entry.shape, entry.start)
    if kind.str != entry.dtype or kind.kind not in "biuf" or not kind.isnative:
        return False
    return all(type(each) is int and 0 <= each < _LARGEST for each in numbers) and entry.start % _ALIGNMENT == 0

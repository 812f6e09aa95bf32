"""Lines of plain or gzipped UTF-8 text files, each with its location, so that an error can say where it is."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP_MAGIC = b"\x1f\x8b"
LONGEST_LINE = 1 << 26
"""Bytes."""
MOST_EXPANSION = 200
"""How many bytes an archive may make of each of its own; text makes 3 to 30."""
_FREE = 1 << 20  # bytes that any archive may make
_BLOCK = 1 << 16


class Location(NamedTuple):
    """A source location: the file, and the line counted from 1 (0: the file as a whole)."""

    path: Path
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else str(self.path)


def is_there(path: Path) -> bool:
    """Whether there is the file or its ``.gz``."""
    return path.is_file() or Path(f"{path}.gz").is_file()


def find_file(path: Path) -> Path:
    """The file itself or its ``.gz``, or an error."""
    for candidate in (path, Path(f"{path}.gz")):
        if candidate.is_file():
            return candidate
    if path.is_dir():
        raise InputError(f"{path}: is a directory, a file is needed")
    hint = "" if path.name.endswith(".gz") else f" (nor {path.name}.gz)"
    raise InputError(f"{path}: no such file{hint}")


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, unpacking gzip whatever its name is."""
    with open(path, "rb") as probe:
        magic = probe.read(2)
    if path.name.endswith(".gz") and len(magic) < 2:
        raise InputError(f"{path}: the gzip archive is cut off before its first line")
    return io.BufferedReader(_Unpacked(path), _BLOCK) if magic == GZIP_MAGIC else open(path, "rb")


class _Unpacked(io.RawIOBase):
    """What a gzip archive holds, as a stream; one that expands too much is refused when that is seen."""

    def __init__(self, path: Path) -> None:
        self._path, self._count = path, 0
        self._packed = open(path, "rb")  # noqa: SIM115 - closed with this stream
        self._file = gzip.GzipFile(fileobj=self._packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        block = self._file.read1(len(view))
        view[: len(block)] = block
        self._count += len(block)
        if self._count > max(_FREE, MOST_EXPANSION * self._packed.tell()):
            what = f"the gzip archive makes more than {MOST_EXPANSION} bytes of each of its own"
            raise InputError(f"{self._path}: {what}; if that is right, unpack it with gunzip and read the file")
        return len(block)

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file, plain or gzipped."""
    try:
        with open_bytes(path) as file:
            return file.read(size)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: a damaged gzip archive ({error})") from error


def read_lines(
    path: Path, on_broken: Callable[[Location, str], None] | None = None, encoding: str = "UTF-8"
) -> Iterator[tuple[Location, str]]:
    """Stream the lines of a file, plain or gzipped, without their line ends.

    A truncated archive, one that expands too much, a binary file or a line of more than ``LONGEST_LINE`` bytes is an
    :class:`InputError`. A line that is not UTF-8 (or in the encoding) goes
    to ``on_broken``, which may raise or count it, and is skipped; without ``on_broken`` it is an error too.
    """
    path = find_file(path)
    number = 0
    try:
        with open_bytes(path) as file:
            for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), start=1):
                if len(raw) > LONGEST_LINE:
                    what = f"a line of more than {LONGEST_LINE:,} bytes"
                    raise InputError(f"{Location(path, number)}: {what}; break it into shorter ones, or leave it out")
                try:
                    line = raw.decode("utf-8-sig" if number == 1 and encoding == "UTF-8" else encoding)
                except UnicodeDecodeError as error:
                    if b"\x00" in raw:
                        raise InputError(f"{Location(path, number)}: a binary file, text is needed") from error
                    what = f"not {encoding} (byte 0x{raw[error.start]:02x} at position {error.start + 1})"
                    if on_broken is None:
                        raise InputError(f"{Location(path, number)}: {what}") from error
                    on_broken(Location(path, number), what)
                    continue
                if "\x00" in line:
                    raise InputError(f"{Location(path, number)}: a binary file, text is needed")
                yield Location(path, number), line.rstrip("\r\n")
    except EOFError as error:
        where = "after this line" if number else "before its first line ends"
        raise InputError(f"{Location(path, number)}: the gzip archive is cut off {where}") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{Location(path, number)}: a damaged gzip archive ({error})") from error

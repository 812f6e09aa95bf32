"""Lines of plain or gzipped UTF-8 text files, each with its location, so that an error can say where it is."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from isogloss.storage.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"


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
    return gzip.open(path, "rb") if magic == GZIP_MAGIC else open(path, "rb")  # type: ignore[return-value]


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

    A truncated archive or a binary file is an :class:`InputError`. A line that is not UTF-8 (or in the encoding) goes
    to ``on_broken``, which may raise or count it, and is skipped; without ``on_broken`` it is an error too.
    """
    path = find_file(path)
    number = 0
    try:
        with open_bytes(path) as file:
            for number, raw in enumerate(file, start=1):
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

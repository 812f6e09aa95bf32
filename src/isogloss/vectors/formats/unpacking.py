"""Bytes of a vector file, plain or gzipped, with damage to the archive told as a sentence."""

from __future__ import annotations

import gzip
import mmap
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from isogloss.base.errors import InputError
from isogloss.base.lines import open_bytes


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is an archive; a cut off or damaged archive is an :class:`InputError`."""
    try:
        with open_bytes(path) as file:
            yield file
    except EOFError as error:
        raise InputError(f"{path}: the gzip archive is cut off") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: a damaged gzip archive ({error})") from error


def mapped(path: Path) -> mmap.mmap | bytes:
    """All bytes of a file: mapped, so that only what is looked at is read, or unpacked in memory."""
    with unpacked(path) as file:
        if isinstance(file, gzip.GzipFile):
            return file.read()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

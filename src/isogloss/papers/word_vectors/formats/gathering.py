"""What the readers of vector files share: opening a file, plain or gzipped, and gathering checked rows."""

from __future__ import annotations

import gzip
import io
import mmap
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, open_bytes

BROKEN = "broken UTF-8"
EMPTY = "empty word"
NOT_FINITE = "not finite"
DUPLICATE = "duplicate word"
ZERO = "zero vector"


class Gathering:
    """Takes words and rows as they are read, up to a limit.

    A word that is empty or not UTF-8 and a vector with nan or infinity are errors; of a word that occurs twice the
    first is kept, and zero vectors are kept: both are counted as warnings.
    """

    def __init__(self, path: Path, dimension: int, limit: int | None, problems: Problems) -> None:
        self.dimension = dimension
        self._path, self._limit, self._problems = path, limit, problems
        self._rows: dict[str, int] = {}
        self._matrix: Matrix = np.empty((0, dimension), dtype=np.float32)

    def room(self, most: int) -> int:
        """How many of the next ``most`` words are wanted."""
        return most if self._limit is None else min(most, self._limit - len(self._rows))

    def add(self, words: Sequence[bytes], rows: Matrix, lines: Sequence[int] | None = None) -> None:
        """Take rows with their words (UTF-8) and, of text, the numbers of their lines."""
        before = len(self._rows)
        kept = list(self._kept(words, rows, lines))
        if len(kept) < len(rows):
            rows = rows[kept]
        if len(self._rows) > len(self._matrix):
            # The system moves large blocks by changing its tables, not by copying: cheaper than joining parts at last.
            size = max(len(self._rows), len(self._matrix) * 3 // 2)
            self._matrix.resize((size, self.dimension), refcheck=False)
        self._matrix[before : len(self._rows)] = rows

    def vectors(self) -> WordVectors:
        """What has been gathered; nothing at all is an error."""
        if not self._rows:
            raise InputError(f"{self._path}: holds no word vectors")
        self._matrix.resize((len(self._rows), self.dimension), refcheck=False)
        return WordVectors(list(self._rows), self._matrix)

    def _kept(self, words: Sequence[bytes], rows: Matrix, lines: Sequence[int] | None) -> Iterator[int]:
        finite, zero = np.asarray(np.isfinite(rows).all(axis=1)), np.asarray(~rows.any(axis=1))
        for number, raw in enumerate(words):
            location = Location(self._path, lines[number] if lines else 0)
            word = self._word(location, raw)
            if not word:
                continue
            if not finite[number]:
                self._problems.error(location, NOT_FINITE, f"the vector of {word!r} holds nan or infinity")
                continue
            row = len(self._rows)
            if self._rows.setdefault(word, row) != row:
                self._problems.warn(location, DUPLICATE, f"{word!r} occurs again; its first vector is kept")
                continue
            if zero[number]:
                self._problems.warn(location, ZERO, f"the vector of {word!r} is zero")
            yield number

    def _word(self, location: Location, raw: bytes) -> str:
        try:
            word = raw.decode()
        except UnicodeDecodeError:
            self._problems.error(location, BROKEN, f"the word {raw[:60]!r} is not UTF-8")
            return ""
        if not word:
            self._problems.error(location, EMPTY, "a vector whose word is empty")
        return word


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
    """All bytes of a file: mapped, so that only what is used is read, or unpacked in memory."""
    with unpacked(path) as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except io.UnsupportedOperation:  # an archive
            return file.read()

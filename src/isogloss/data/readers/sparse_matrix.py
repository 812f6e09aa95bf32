"""Sparse matrices of weighted words in text files: ``en.mtx`` and ``en.vocab`` to flat arrays.

The first line of the matrix says rows, columns and non-zeros; each other line is a row, a column and a value, separated
by white space, in any order. The ``%`` lines of Matrix Market files are passed over. Indices count from 1, as in such
files, or from 0: the first index that is 0, or as high as there are rows or columns, tells which. Where neither
occurs they are taken to count from 1, with a warning. Line i of the vocabulary is the word of column i.
"""

from __future__ import annotations

import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, find_file, open_bytes, read_lines

_BLOCK_BYTES = 1 << 22
_ENTRY = np.dtype([("row", np.int64), ("column", np.int64), ("value", np.float64)])
_KEPT = np.dtype([("row", np.int32), ("column", np.int32), ("value", np.float32)])
_LARGEST_INDEX = 2**31 - 1
_LARGEST_VALUE = float(np.finfo(np.float32).max)
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

_Entries = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Row i has the weight ``values[j]`` for the word ``vocabulary[columns[j]]``, offsets[i] <= j < offsets[i + 1]."""

    vocabulary: list[str]
    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The columns of a row (counted from 0), ascending, and their values."""
        span = slice(self.offsets[number], self.offsets[number + 1])
        return self.columns[span], self.values[span]


class MatrixSize(NamedTuple):
    """The first line of a matrix file."""

    location: Location
    rows: int
    columns: int
    entries: int


def read_sparse(directory: Path | str, language: str, problems: Problems | None = None) -> SparseRows:
    """Read the weights of one language, every line checked.

    A wrong header or a vocabulary of another length always stops: no word could be trusted.
    """
    problems = problems or Problems()
    size = read_size(Path(directory) / f"{language}.mtx")
    vocabulary = _read_vocabulary(Path(directory) / f"{language}.vocab", size, problems)
    reading = _Reading(size, problems)
    for line, block in _blocks(size):
        reading.add(*_parse(Location(size.location.path, line), block, problems))
    return SparseRows(vocabulary, *reading.arrays())


def read_size(path: Path) -> MatrixSize:
    """What the header of a matrix file says."""
    for location, line in read_lines(path):
        fields = line.split()
        if not fields or line.startswith("%"):
            continue
        numbers = [int(text) for text in fields if text.isdecimal() and text.isascii() and len(text) < 19]
        if len(numbers) != 3 or len(fields) != 3:
            raise InputError(f"{location}: expected the numbers of rows, columns and non-zeros, got {line[:60]!r}")
        size = MatrixSize(location, *numbers)
        if max(size.rows, size.columns) > _LARGEST_INDEX or size.entries > size.rows * size.columns:
            raise InputError(f"{location}: {size.rows} x {size.columns} with {size.entries} non-zeros cannot be")
        return size
    raise InputError(f"{path}: is empty, its first line must say rows, columns and non-zeros")


def _read_vocabulary(path: Path, size: MatrixSize, problems: Problems) -> list[str]:
    words: list[str] = []
    line_of: dict[str, int] = {}
    for location, line in read_lines(path, problems.broken_text):
        word = line.strip()
        words += [""] * (location.line - 1 - len(words))  # lines that are not UTF-8 still are columns
        words.append(word)
        if word and line_of.setdefault(word, location.line) != location.line:
            what = f"the word {word!r} stands a second time, first in line {line_of[word]}"
            problems.error(location, "duplicate word", what)
    while words and not words[-1]:
        words.pop()
    if len(words) != size.columns:
        location = Location(find_file(path), min(len(words), size.columns + 1))
        raise InputError(f"{location}: {len(words)} words for the {size.columns} columns of {size.location}")
    for number in (number for number, word in enumerate(words, start=1) if not word):
        problems.error(Location(find_file(path), number), "missing word", f"no word for column {number}")
    return words


def _blocks(size: MatrixSize) -> Iterator[tuple[int, bytes]]:
    """The lines after the header, some megabytes of whole lines at a time, with the number of the first."""
    path, line = size.location
    line += 1
    try:
        with open_bytes(path) as file:
            for _ in range(size.location.line):
                file.readline()
            while block := file.read(_BLOCK_BYTES):
                block += file.readline()
                yield line, block
                line += block.count(b"\n")
    except EOFError as error:
        raise InputError(f"{Location(path, line)}: the gzip archive is cut off after this line") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{Location(path, line)}: a damaged gzip archive ({error})") from error


def _parse(first: Location, block: bytes, problems: Problems) -> tuple[_Entries, Sequence[int], int]:
    """The entries of a block, their lines, and how many lines were not entries but should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            entries = np.loadtxt(io.BytesIO(block), dtype=_ENTRY, comments=None, ndmin=1)
        except (ValueError, Warning):  # a malformed line, or only blank ones, or an index like 1.0
            return _parse_lines(first, block, problems)
    if len(entries) != block.count(b"\n") + (not block.endswith(b"\n")):  # blank lines were passed over
        return _parse_lines(first, block, problems)
    return entries, range(first.line, first.line + len(entries)), 0


def _parse_lines(first: Location, block: bytes, problems: Problems) -> tuple[_Entries, Sequence[int], int]:
    """The same line by line, to say which is malformed."""
    entries, lines, malformed = [], [], 0
    for line, raw in enumerate(block.split(b"\n"), start=first.line):
        fields = raw.split()
        if not fields:
            continue
        wrong = _what_is_wrong(fields)
        if wrong:
            malformed += 1
            problems.error(Location(first.path, line), "malformed line", wrong)
            continue
        entries.append((int(float(fields[0])), int(float(fields[1])), float(fields[2])))
        lines.append(line)
    return np.array(entries, dtype=_ENTRY), lines, malformed


def _what_is_wrong(fields: list[bytes]) -> str | None:
    texts = [text[:30].decode("utf-8", "replace") for text in fields]
    if len(fields) != 3:
        return f"expected row, column and value, got {' '.join(texts)[:60]!r}"
    for name, raw, text in zip(("row", "column"), fields, texts, strict=False):
        if not _NUMBER.fullmatch(raw) or not float(raw).is_integer() or abs(float(raw)) > _LARGEST_INDEX:
            return f"{name} {text!r} is not an index"
    if not _NUMBER.fullmatch(fields[2]) and fields[2].lower().lstrip(b"+-") not in (b"nan", b"inf", b"infinity"):
        return f"value {texts[2]!r} is not a number"
    return None


@dataclass
class _Reading:
    """Gathers the checked entries of one matrix."""

    size: MatrixSize
    problems: Problems
    base: int | None = None  # 0 or 1, once known
    base_line: int = 0
    seen: int = 0
    blocks: list[_Entries] = field(default_factory=list)
    lines: list[Sequence[int]] = field(default_factory=list)

    def add(self, entries: _Entries, lines: Sequence[int], malformed: int) -> None:
        """Check the entries of a block and keep the good ones, in half the room."""
        self.seen += len(entries) + malformed
        if self.base is None:
            self._find_base(entries, lines)
        lowest, shift = self.base or 0, 0 if self.base is None else 1 - self.base
        good = (entries["value"] >= 0) & (entries["value"] <= _LARGEST_VALUE)
        for name, count in (("row", self.size.rows), ("column", self.size.columns)):
            good &= (entries[name] >= lowest) & (entries[name] <= count - shift)
        if not good.all():
            for number in np.flatnonzero(~good).tolist():
                self._refuse(entries[number], lines[number])
            lines = [lines[number] for number in np.flatnonzero(good).tolist()]
            entries = entries[good]
        self.blocks.append(entries.astype(_KEPT))
        self.lines.append(lines)

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """Offsets, columns and values of the rows, in order."""
        if self.seen != self.size.entries:
            what = f"says {self.size.entries} non-zeros, but {self.seen} follow; is the file whole?"
            self.problems.error(self.size.location, "wrong number of entries", what)
        if self.base is None and self.seen:
            what = "has neither an index 0 nor one as high as there are rows or columns; taken to count from 1"
            self.problems.warn(Location(self.size.location.path), "unclear indices", what)
        base = 1 if self.base is None else self.base
        width = max(1, self.size.columns)
        keys: NDArray[np.int64] = self._gathered("row").astype(np.int64)
        keys -= base
        keys *= width
        keys += self._gathered("column") - base
        values: NDArray[np.float32] = self._gathered("value")
        if not (keys[1:] > keys[:-1]).all():
            order = np.argsort(keys, kind="stable")
            order = order[self._firsts(keys[order], order)]
            keys, values = keys[order], values[order]
        offsets = np.searchsorted(keys, np.arange(self.size.rows + 1) * width).astype(np.int64)
        return offsets, (keys % width).astype(np.int32), values

    def _gathered(self, name: str) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, dtype=_KEPT[name]), *(block[name] for block in self.blocks)])

    def _find_base(self, entries: _Entries, lines: Sequence[int]) -> None:
        zero = (entries["row"] == 0) | (entries["column"] == 0)
        top = (entries["row"] == self.size.rows) | (entries["column"] == self.size.columns)
        telling = np.flatnonzero(zero | top)
        if len(telling):
            self.base, self.base_line = 0 if zero[telling[0]] else 1, lines[telling[0]]

    def _refuse(self, entry: Any, line: int) -> None:
        location = Location(self.size.location.path, line)
        for name, count in (("row", self.size.rows), ("column", self.size.columns)):
            lowest, highest = (0, count) if self.base is None else (self.base, count - 1 + self.base)
            if not lowest <= entry[name] <= highest:
                why = f" (line {self.base_line} shows that indices count from {self.base})" if self.base_line else ""
                what = f"{name} {entry[name]} is not between {lowest} and {highest}{why}"
                self.problems.error(location, "index out of range", what)
                return
        self.problems.error(location, "wrong value", f"value {entry['value']:g} is not a number from 0 up")

    def _firsts(self, keys: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of the sorted entries, those that do not repeat the one before."""
        first = np.concatenate(([True], keys[1:] != keys[:-1]))
        ends = np.cumsum([len(lines) for lines in self.lines])
        for number in order[~first].tolist():
            block = int(np.searchsorted(ends, number, side="right"))
            line = self.lines[block][number - int(ends[block])]  # counted from the end of its block
            row, column = (self.blocks[block][name][number - int(ends[block])] for name in ("row", "column"))
            what = f"row {row}, column {column} stands a second time"
            self.problems.error(Location(self.size.location.path, line), "duplicate entry", what)
        return first

"""Vectors as text, one word a line with its numbers after it, separated by spaces.

word2vec and fastText (``.vec``) begin with a line of two numbers, how many words and how many dimensions; GloVe has no
such line. Words of GloVe may hold spaces (". . ." in its largest file), so the last fields of a line are the numbers.

Parsing decimal numbers takes most of the time, so a block of text is parsed at once. With the dot taken out, a number
is a row of digits m and f, how many of them stood behind the dot:

    value = m / 10^f

Eight digits at a time are one 64-bit integer, whose bytes are combined pairwise in three multiplications (Lemire 2018,
"Quickly parsing eight digits"), all numbers of the block at once. Up to 15 digits m and 10^f are exact in double
precision and the division rounds once, so the result is what ``float`` gives; up to 19 digits it is within one unit in
the last place of a double. Everything else (exponents, longer numbers, nan) goes through ``float``.
``numpy.fromstring`` needs about four times as long, and takes "1-2" for two numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat, takewhile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.formats.gathering import Gathering, unpacked
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.storage.progress import track

NAME = "word2vec, fastText or GloVe text"
COMPONENTS = "wrong number of components"
NOT_A_NUMBER = "not a number"

_BLOCK_NUMBERS = 1 << 14  # larger arrays are fetched from the system anew for each block: half as fast
_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*")
_SPACE, _MINUS, _DOT = b" -."
_LONGEST = 19  # digits that a 64-bit integer holds whatever they are
_PADDING = b"0" * 24  # so that the window of the first number lies within the text
_POWERS = 10.0 ** np.arange(_LONGEST + 1)
_ZEROS = np.uint64(0x3030303030303030)  # exclusive or with it turns "0" to "9" into 0 to 9 and all else into more
_TO_TOP_BIT = np.uint64(0x7676767676767676)  # added to a byte, it reaches the top bit from 10 on
_TOP_BITS = np.uint64(0x8080808080808080)
# The last n of eight characters, the first being the lowest byte.
_LAST = np.array([(0xFFFFFFFFFFFFFFFF << 8 * (8 - n)) & 0xFFFFFFFFFFFFFFFF for n in range(9)], dtype=np.uint64)
_STEPS = tuple(  # ten times each first neighbour plus the second: digits to pairs, pairs to fours, fours to eight
    (np.uint64(1 + (10**width << 8 * width)), np.uint64(8 * width), np.uint64(mask))
    for width, mask in ((1, 0x00FF00FF00FF00FF), (2, 0x0000FFFF0000FFFF), (4, 0x00000000FFFFFFFF))
)

_Integers = NDArray[np.int64]
_Words = NDArray[np.uint64]
_Flags = NDArray[np.bool_]


def parse_decimals(rows: Sequence[bytes]) -> NDArray[np.float32] | None:
    """The numbers of all rows, separated by single spaces; None if anything else is there.

    >>> parse_decimals([b"0.5 -12.25", b"1e-3"]).tolist() == np.float32([0.5, -12.25, 0.001]).tolist()
    True
    >>> parse_decimals([b"0.5  0.25"]) is None  # an empty field is no number
    True
    """
    text = b" ".join((_PADDING, *rows, b""))
    characters = np.frombuffer(text, dtype=np.uint8)
    spaces = np.flatnonzero(characters == _SPACE)
    starts, ends = spaces[:-1] + 1, spaces[1:]
    negative = characters[starts] == _MINUS
    dots, decimals = _dots(np.flatnonzero(characters == _DOT), starts, ends)
    digits = ends - starts - dots - negative
    odd = (dots > 1) | (digits < 1) | (digits > _LONGEST)
    numerators = _digits(text.translate(None, b"."), ends - np.cumsum(dots), np.minimum(digits, _LONGEST), odd)
    values = numerators.astype(np.float64)
    values /= _POWERS[np.minimum(decimals, _LONGEST)]
    np.negative(values, out=values, where=negative)
    if odd.any() and not _read_singly(text, starts, ends, odd, values):
        return None
    with np.errstate(over="ignore"):  # beyond single precision: infinity, which whoever gathers the rows refuses
        return values.astype(np.float32)


def is_number(field: bytes) -> bool:
    """Whether a field is a number, be it nan; unlike in Python, underscores are no part of one."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _dots(positions: _Integers, starts: _Integers, ends: _Integers) -> tuple[_Integers, _Integers]:
    """How many dots each number has, and how many characters come after the (first) one."""
    if len(positions) == len(starts) and bool(((starts <= positions) & (positions < ends)).all()):
        return np.ones_like(positions), ends - positions - 1
    first = np.searchsorted(positions, starts)
    dots = np.searchsorted(positions, ends) - first
    return dots, np.where(dots > 0, ends - np.append(positions, 0)[first] - 1, 0)


def _digits(text: bytes, ends: _Integers, counts: _Integers, odd: _Flags) -> _Words:
    """The integers whose last digit stands before ``ends``; those that hold anything but digits are marked odd."""
    windows = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))
    total = np.zeros(len(ends), dtype=np.uint64)
    for group in range(-(-int(counts.max(initial=0)) // 8)):
        eight = windows[ends - 8 * (group + 1)].astype(np.uint64, copy=False)
        eight ^= _ZEROS
        eight &= _LAST[np.clip(counts - 8 * group, 0, 8)]
        odd |= ((eight + _TO_TOP_BIT) | eight) & _TOP_BITS != 0
        for factor, shift, mask in _STEPS:
            eight *= factor
            eight >>= shift
            eight &= mask
        total += eight * np.uint64(10 ** (8 * group))
    return total


def _read_singly(text: bytes, starts: _Integers, ends: _Integers, odd: _Flags, values: NDArray[np.float64]) -> bool:
    fields = [text[start:end] for start, end in zip(starts[odd].tolist(), ends[odd].tolist(), strict=True)]
    if not all(map(is_number, fields)):
        return False
    values[odd] = [float(field) for field in fields]
    return True


def recognises(path: Path, head: bytes) -> bool:
    """Any text: a wrong line is reported when it is read."""
    return b"\x00" not in head


def header_of(line: bytes) -> tuple[int, int] | None:
    """The numbers of words and of dimensions, if that is what a first line holds.

    >>> header_of(b"400000 300"), header_of(b"the 0.5 0.25")
    ((400000, 300), None)
    """
    found = _HEADER.fullmatch(line.removeprefix(b"\xef\xbb\xbf"))
    return (int(found[1]), int(found[2])) if found else None


def read(path: Path, limit: int | None, problems: Problems) -> WordVectors:
    """Read vectors up to the limit; a file with fewer or more words than its first line promises is an error."""
    with unpacked(path) as file:
        first = file.readline().removeprefix(b"\xef\xbb\xbf")
        header = header_of(first)
        promised, dimension = header or (None, _dimension(first))
        if not dimension:
            raise InputError(f"{Location(path, 1)}: expected a word and its numbers, got {_shown(first)}")
        gathering = Gathering(path, dimension, limit, problems)
        lines = _Lines(path, dimension, problems)
        block_lines = max(1, _BLOCK_NUMBERS // dimension)
        blocks = _blocks(chain([] if header else [first], file), block_lines, gathering)
        for start, block in track(blocks, "reading vectors", limit or promised, repeat(block_lines)):
            gathering.add(*lines.parse(start + bool(header), block))
    if promised is not None and lines.rows != promised and gathering.room(1):
        how = "cut off?" if lines.rows < promised else "two files in one?"
        raise InputError(f"{path}: its first line promises {promised:,} words, but {lines.rows:,} follow: {how}")
    return gathering.vectors()


def write(vectors: WordVectors, file: IO[bytes], header: bool) -> None:
    """Write lines; nine digits give every 32-bit number back as it was."""
    if header:
        file.write(b"%d %d\n" % (len(vectors), vectors.dimension))
    numbers = " ".join(["%.9g"] * vectors.dimension)
    for row, word in enumerate(track(vectors.words, "writing vectors", total=len(vectors))):
        file.write(f"{word} {numbers % tuple(vectors.matrix[row].tolist())}\n".encode())


class _Lines:
    """Takes lines apart, knowing the dimension; counts the rows it has seen, good or bad."""

    def __init__(self, path: Path, dimension: int, problems: Problems) -> None:
        self.rows = 0
        self._path, self._dimension, self._problems = path, dimension, problems

    def parse(self, start: int, lines: Sequence[bytes]) -> tuple[list[bytes], Matrix, list[int]]:
        """Words, rows and line numbers of the lines that are in order; the others are reported."""
        split = [(line, *parts) for line, text in enumerate(lines, start) if (parts := self._split(line, text))]
        values = parse_decimals([numbers for _, _, numbers in split])
        if values is None:
            split = [(line, word, good) for line, word, numbers in split if (good := self._numbers(line, numbers))]
            values = parse_decimals([numbers for _, _, numbers in split])
            assert values is not None
        return [word for _, word, _ in split], values.reshape(-1, self._dimension), [line for line, _, _ in split]

    def _split(self, line: int, text: bytes) -> tuple[bytes, bytes] | None:
        text = text.rstrip()
        if not text:
            return None
        self.rows += 1
        if text.count(b" ") == self._dimension:
            word, _, numbers = text.partition(b" ")
            return word, numbers
        fields = text.split()
        more = len(fields) - self._dimension - 1
        if more < 0 or (more and is_number(fields[more])):
            self._wrong_number(line, len(fields) - 1)
            return None
        return b" ".join(fields[: more + 1]), b" ".join(fields[more + 1 :])

    def _numbers(self, line: int, numbers: bytes) -> bytes | None:
        """The numbers of a line with one space between, if they are numbers and as many as there should be."""
        fields = numbers.split()
        if len(fields) != self._dimension:
            self._wrong_number(line, len(fields))
            return None
        wrong = [field for field in fields if not is_number(field)]
        if wrong:
            self._problems.error(Location(self._path, line), NOT_A_NUMBER, f"{_shown(wrong[0])} is not a number")
            return None
        return b" ".join(fields)

    def _wrong_number(self, line: int, got: int) -> None:
        message = f"expected a word and {self._dimension} numbers as the first line has it, got {got}"
        self._problems.error(Location(self._path, line), COMPONENTS, message)


def _dimension(line: bytes) -> int:
    """How many numbers the first line of a file without header ends with; its first field is a word in any case."""
    return sum(1 for _ in takewhile(is_number, reversed(line.split()[1:])))


def _blocks(lines: Iterable[bytes], block_lines: int, gathering: Gathering) -> Iterator[tuple[int, list[bytes]]]:
    """Lines in blocks with the number of the first; no more than are wanted, so that none is reported beyond."""
    lines, start = iter(lines), 1
    while block := list(islice(lines, gathering.room(block_lines))):
        yield start, block
        start += len(block)


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace").strip())

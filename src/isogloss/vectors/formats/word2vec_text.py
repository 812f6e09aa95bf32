"""Vectors as text, one word a line with its numbers after it, separated by spaces.

word2vec and fastText (``.vec``) begin with a line of two numbers, how many words and how many dimensions; GloVe has no
such line. Words of GloVe may hold spaces (". . ." in its largest file), so the last fields of a line are the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import IO

from isogloss.base.errors import InputError
from isogloss.base.lines import Place
from isogloss.base.progress import track
from isogloss.corpus.problems import Problems
from isogloss.vectors.formats.decimals import is_number, parse_decimals
from isogloss.vectors.formats.gathering import Gathering
from isogloss.vectors.formats.unpacking import unpacked
from isogloss.vectors.word_vectors import Matrix, WordVectors

NAME = "word2vec, fastText or GloVe text"
COMPONENTS = "wrong number of components"
NOT_A_NUMBER = "not a number"

_BLOCK_NUMBERS = 1 << 14  # larger arrays are fetched from the system anew for each block: half as fast
_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*")


def recognises(path: Path, head: bytes) -> bool:
    """Text, whatever it says: what is wrong with a line is said when it is read."""
    return b"\x00" not in head


def header_of(line: bytes) -> tuple[int, int] | None:
    """The numbers of words and of dimensions, if that is what a first line says.

    >>> header_of(b"400000 300"), header_of(b"the 0.5 0.25")
    ((400000, 300), None)
    """
    found = _HEADER.fullmatch(line.removeprefix(b"\xef\xbb\xbf"))
    return (int(found[1]), int(found[2])) if found else None


def read(path: Path, limit: int | None, problems: Problems) -> WordVectors:
    """Read vectors up to the limit; a file with fewer or more words than its first line says is an error."""
    with unpacked(path) as file:
        first = file.readline().removeprefix(b"\xef\xbb\xbf")
        header = header_of(first)
        promised, dimension = header or (None, _dimension(first))
        if not dimension:
            raise InputError(f"{Place(path, 1)}: expected a word and its numbers, got {_shown(first)}")
        gathering = Gathering(path, dimension, limit, problems)
        lines = _Lines(path, dimension, problems)
        usual = max(1, _BLOCK_NUMBERS // dimension)
        blocks = _blocks(chain([] if header else [first], file), usual, gathering)
        for start, block in track(blocks, "reading vectors", limit or promised, repeat(usual)):
            gathering.add(*lines.parse(start + bool(header), block))
    if promised is not None and lines.rows != promised and not gathering.full:
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
        self._path = path
        self._dimension = dimension
        self._problems = problems

    def parse(self, start: int, lines: Sequence[bytes]) -> tuple[list[bytes], Matrix, list[int]]:
        """Words, rows and line numbers of the lines that are in order; the others are reported."""
        split = [(line, *pieces) for line, text in enumerate(lines, start) if (pieces := self._split(line, text))]
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
            self._problems.error(Place(self._path, line), NOT_A_NUMBER, f"{_shown(wrong[0])} is not a number")
            return None
        return b" ".join(fields)

    def _wrong_number(self, line: int, got: int) -> None:
        message = f"expected a word and {self._dimension} numbers as the first line has it, got {got}"
        self._problems.error(Place(self._path, line), COMPONENTS, message)


def _dimension(line: bytes) -> int:
    """How many numbers the first line of a file without header ends with; its first field is a word in any case."""
    fields = line.split()
    count = 0
    while count < len(fields) - 1 and is_number(fields[-1 - count]):
        count += 1
    return count


def _blocks(lines: Iterable[bytes], usual: int, gathering: Gathering) -> Iterator[tuple[int, list[bytes]]]:
    """Lines in blocks with the number of the first; no more than are wanted, so that none is reported beyond."""
    lines = iter(lines)
    start = 1
    while block := list(islice(lines, usual if gathering.room is None else min(usual, gathering.room))):
        yield start, block
        start += len(block)


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace").strip())

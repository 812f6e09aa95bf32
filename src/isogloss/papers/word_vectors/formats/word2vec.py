"""word2vec's binary format: a line with the numbers of words and dimensions, then each word, a space, its numbers.

The numbers are 32-bit floats, lowest byte first. The original tool ends each vector with a newline, gensim does not.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import IO

import numpy as np

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.formats.gathering import Gathering, unpacked
from isogloss.papers.word_vectors.formats.text import header_of, is_number
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track

NAME = "word2vec binary"

_BLOCK_BYTES = 1 << 22
_NUMBER_CHARACTERS = b"0123456789+-.eE \t\r\n"
_CONTROL_CHARACTERS = bytes(set(range(32)) - set(b"\t\r\n"))


def recognises(path: Path, head: bytes) -> bool:
    """A header as in text, but what follows the first word is not numbers written out."""
    line, _, rest = head.partition(b"\n")
    header = header_of(line)
    if header is None:
        return False
    dimension = header[1]
    fields = rest.partition(b"\n")[0].split()
    if len(fields) > dimension > 0 and all(map(is_number, fields[-dimension:])):
        return False
    vector = rest.partition(b" ")[2][: 4 * dimension]
    if vector and not vector.translate(None, _NUMBER_CHARACTERS):
        return False  # a line of text that has too few numbers: to be told by its number
    return path.name.removesuffix(".gz").endswith(".bin") or _looks_binary(vector)


def read(path: Path, limit: int | None, problems: Problems) -> WordVectors:
    """Read vectors up to the limit; a file with fewer or more words than its header promises is an error."""
    with unpacked(path) as file:
        header = header_of(file.readline())
        assert header is not None
        promised, dimension = header
        if not dimension:
            raise InputError(f"{path}: its first line promises vectors of 0 dimensions")
        gathering = Gathering(path, dimension, limit, problems)
        blocks = _blocks(path, file, promised, gathering)
        sizes = repeat(max(1, _BLOCK_BYTES // (4 * dimension)))
        for words, rows in track(blocks, "reading vectors", limit or promised, sizes):
            gathering.add(words, rows)
    return gathering.vectors()


def write(vectors: WordVectors, file: IO[bytes]) -> None:
    """Write the header and the words, each vector ended by a newline as the original tool does."""
    file.write(b"%d %d\n" % (len(vectors), vectors.dimension))
    for row, word in enumerate(track(vectors.words, "writing vectors", total=len(vectors))):
        file.write(word.encode() + b" " + vectors.matrix[row].astype("<f4").tobytes() + b"\n")


def _looks_binary(data: bytes) -> bool:
    if len(data) != len(data.translate(None, _CONTROL_CHARACTERS)):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # a character cut in two at the end is no sign
    except UnicodeDecodeError:
        return True
    return False


def _blocks(path: Path, file: IO[bytes], promised: int, gathering: Gathering) -> Iterator[tuple[list[bytes], Matrix]]:
    read, rest = 0, b""
    while wanted := gathering.room(promised - read):
        more = file.read(_BLOCK_BYTES)
        rest += more
        words, vectors, end = _split(rest, 4 * gathering.dimension, wanted)
        if not words and not more:
            what = f"its first line promises {promised:,} words, but it ends after {read:,}"
            raise InputError(f"{path}: {what}: cut off?")
        rest = rest[end:]
        read += len(words)
        yield words, np.frombuffer(vectors, dtype="<f4").reshape(-1, gathering.dimension)
    if gathering.room(1) and (rest + file.read(1)).strip(b"\n"):
        raise InputError(f"{path}: goes on after the {promised:,} words that its first line promises")


def _split(data: bytes, size: int, wanted: int) -> tuple[list[bytes], bytes, int]:
    """Whole words and vectors at the beginning of the data, and where they end."""
    words: list[bytes] = []
    vectors: list[bytes] = []
    end = 0
    while len(words) < wanted:
        space = data.find(b" ", end)
        if space < 0 or space + 1 + size > len(data):
            break
        words.append(data[end:space].lstrip(b"\n"))
        end = space + 1 + size
        vectors.append(data[space + 1 : end])
    return words, b"".join(vectors), end

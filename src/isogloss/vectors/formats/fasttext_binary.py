"""fastText's models (``.bin``): settings, dictionary, the matrix of words and n-gram buckets, the output matrix.

The vector of a word w is what fastText gives for it, the mean of its own row and the rows of its n-grams G(w):

    v(w) = (z_w + sum_{g in G(w)} z_g) / (1 + |G(w)|)

Files written by fastText 0.1 or later (versions 11 and 12 of the format). All numbers have their lowest byte first.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.base.errors import InputError
from isogloss.base.progress import track
from isogloss.corpus.problems import Problems
from isogloss.vectors.formats.fasttext_ngrams import ngram_buckets
from isogloss.vectors.formats.gathering import Gathering
from isogloss.vectors.formats.unpacking import mapped
from isogloss.vectors.word_vectors import Matrix, WordVectors

NAME = "fastText model"

_MAGIC = struct.pack("<i", 793712314)
_VERSIONS = (11, 12)
_SUPERVISED = 3
_COUNT_AND_KIND = 8 + 1  # bytes after each word of the dictionary
_BATCH = 256  # words: their rows and those of their n-grams are a few megabytes


def recognises(path: Path, head: bytes) -> bool:
    """The first four bytes are fastText's own."""
    return head.startswith(_MAGIC)


def read(path: Path, limit: int | None, problems: Problems) -> WordVectors:
    """Compute the vectors of the model's words, the most frequent first, up to the limit."""
    model = _open(path)
    gathering = Gathering(path, model.settings.dimension, limit, problems)
    for words, rows in track(_batches(model, gathering), "reading vectors", limit or len(model.words), repeat(_BATCH)):
        gathering.add(words, rows)
    return gathering.vectors()


class _Settings(NamedTuple):
    """What of the settings the vectors depend on."""

    dimension: int
    model: int
    buckets: int
    shortest: int
    longest: int


class _Model(NamedTuple):
    """The words, and the rows of words and buckets as bytes (a file is not aligned for floats)."""

    settings: _Settings
    words: list[bytes]
    rows: NDArray[np.uint8]


def _open(path: Path) -> _Model:
    parts = _Parts(path, mapped(path))
    _, version = parts.take("<ii", "header")
    if version not in _VERSIONS:
        raise InputError(f"{path}: version {version} of fastText's format, {_VERSIONS[0]} or {_VERSIONS[1]} is needed")
    fields = parts.take("<12id", "settings")
    settings = _Settings(fields[0], fields[7], fields[8], fields[9], fields[10])
    if version == 11 and settings.model == _SUPERVISED:
        settings = settings._replace(longest=0)  # classifiers of that time had no n-grams, whatever they say
    words = _words(parts)
    rows = parts.matrix("input matrix")
    if not rows.shape[1] or rows.shape[1] != 4 * settings.dimension:
        raise InputError(
            f"{path}: vectors of {rows.shape[1] // 4} dimensions, but the settings say {settings.dimension}"
        )
    needed = len(words) + (settings.buckets if settings.longest > 0 else 0)
    if len(rows) < needed or (settings.longest > 0 and settings.buckets < 1):
        raise InputError(f"{path}: {len(words)} words and {settings.buckets} buckets, but {len(rows)} vectors")
    parts.matrix("output matrix")
    return _Model(settings, words, rows)


class _Parts:
    """Takes a file apart from its beginning; where it ends too early is an error that names the part."""

    def __init__(self, path: Path, data: mmap.mmap | bytes) -> None:
        self.path = path
        self._data = data
        self._at = 0

    def take(self, form: str, part: str) -> tuple[Any, ...]:
        """Numbers in the form of :mod:`struct`."""
        at = self._at
        self.skip(struct.calcsize(form), part)
        return struct.unpack_from(form, self._data, at)

    def string(self, part: str) -> bytes:
        """Bytes up to a zero byte."""
        at = self._at
        end = self._data.find(b"\x00", at)
        self.skip((end if end >= 0 else len(self._data)) + 1 - at, part)
        return self._data[at:end]

    def matrix(self, part: str) -> NDArray[np.uint8]:
        """A dense matrix of 32-bit floats, its rows as bytes."""
        (quantised,) = self.take("<?", part)
        if quantised:
            raise InputError(f"{self.path}: a quantised model; ask for the full one (.bin, not .ftz)")
        count, dimension = self.take("<qq", part)
        if count < 0 or dimension < 0:
            raise InputError(f"{self.path}: the {part} has {count} rows of {dimension} numbers: a damaged file")
        at = self._at
        self.skip(4 * count * dimension, part)
        data = np.frombuffer(self._data, dtype=np.uint8, count=4 * count * dimension, offset=at)
        return data.reshape(count, 4 * dimension)

    def skip(self, size: int, part: str) -> None:
        """Pass over some bytes."""
        self._at += size
        if self._at > len(self._data):
            raise InputError(f"{self.path}: ends in the middle of its {part}: cut off?")


def _words(parts: _Parts) -> list[bytes]:
    """The words of the dictionary; labels of a classifier come after them and are passed over."""
    size, count, _, _, pruned = parts.take("<3i2q", "dictionary")
    if pruned >= 0:
        raise InputError(f"{parts.path}: a quantised model with a pruned dictionary; ask for the full one")
    if not 0 <= count <= size:
        raise InputError(f"{parts.path}: a dictionary of {size} entries, {count} of them words: a damaged file")
    entries = []
    for _ in range(size):
        entries.append(parts.string("dictionary"))
        parts.skip(_COUNT_AND_KIND, "dictionary")
    return entries[:count]


def _batches(model: _Model, gathering: Gathering) -> Iterator[tuple[list[bytes], Matrix]]:
    start = 0
    while start < len(model.words) and not gathering.full:
        end = min(start + (_BATCH if gathering.room is None else min(_BATCH, gathering.room)), len(model.words))
        yield model.words[start:end], _means(model, start, end)
        start = end


def _means(model: _Model, start: int, end: int) -> Matrix:
    """v(w) of the words from start to end."""
    settings, own = model.settings, np.arange(start, end)
    if settings.longest <= 0:
        return _floats(model, own)
    owners, buckets = ngram_buckets(model.words[start:end], settings.shortest, settings.longest, settings.buckets)
    rows = np.concatenate([own, len(model.words) + buckets])
    owners = np.concatenate([own - start, owners])
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=end - start)
    sums: Matrix = np.add.reduceat(_floats(model, rows[order]), np.cumsum(counts) - counts, axis=0)
    sums /= counts[:, None].astype(np.float32)
    return sums


def _floats(model: _Model, rows: NDArray[np.int64]) -> Matrix:
    return model.rows[rows].view("<f4").astype(np.float32, copy=False)

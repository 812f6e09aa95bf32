"""fastText's models (``.bin``): settings, dictionary, the matrix of words and n-gram buckets, the output matrix.

The vector of a word w is what fastText gives for it, the mean of its own row and the rows of its n-grams G(w):

    v(w) = (z_w + sum_{g in G(w)} z_g) / (1 + |G(w)|)

G(w) are the character n-grams (Bojanowski et al. 2017) of the word between angle brackets, "<word>": all spans of
``shortest`` to ``longest`` characters but a bracket alone. An n-gram falls into bucket h mod B, h being the 32-bit
FNV-1a hash of its UTF-8 bytes:

    h_0 = 2166136261,   h_{i+1} = (h_i xor b_i) 16777619 mod 2^32

with the bytes taken as signed numbers, so that those above 127 turn all higher bits of h over (fastText does so since
its first release, and every model depends on it).

Files written by fastText 0.1 or later (versions 11 and 12 of the format). All numbers have their lowest byte first.

No library reads them here: ``fasttext`` 0.9.3 comes as source that needs a compiler and allocates what a file's header
states, ``compress-fasttext`` needs gensim, and gensim is a wheel of 24 MB and needs scipy.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.formats.gathering import Gathering, mapped
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track

NAME = "fastText model"

_MAGIC = struct.pack("<i", 793712314)
_VERSIONS = (11, 12)
_SUPERVISED = 3
_COUNT_AND_KIND = 8 + 1  # bytes after each word of the dictionary
_LONGEST_WORD = 100_000  # bytes; its n-grams take a hundred times as many
_BATCH = 256  # words: their rows and those of their n-grams are a few megabytes
_OFFSET, _PRIME = np.uint32(2166136261), np.uint32(16777619)
_END_OF_SENTENCE = b"</s>"  # a word of its own to fastText: it has no n-grams


def ngram_buckets(
    words: Sequence[bytes], shortest: int, longest: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bucket of each n-gram and the number of the word it belongs to, in no particular order.

    >>> owners, found = ngram_buckets([b"cat", b"</s>"], 5, 5, 2_000_000)  # "<cat>"
    >>> owners.tolist(), found.tolist()
    ([0], [1428137])
    """
    framed = [b"" if word == _END_OF_SENTENCE else b"<" + word + b">" for word in words]
    lengths = np.fromiter(map(len, framed), dtype=np.int64, count=len(framed))
    data = np.frombuffer(b"".join(framed) + b"<", dtype=np.uint8)  # one more: reading past the last word is safe
    signed = data.view(np.int8).astype(np.int32).view(np.uint32)
    continues = (data & 0xC0) == 0x80
    begins = np.flatnonzero(~continues[:-1])
    owners = np.repeat(np.arange(len(framed)), lengths)[begins]
    ends = np.cumsum(lengths)[owners]
    first = begins == ends - lengths[owners]
    positions, hashes = begins, np.full(len(begins), _OFFSET)
    empty = np.zeros(0, dtype=np.int64)
    found = [(empty, empty)]
    for size in range(1, longest + 1):
        going = positions < ends
        positions, hashes = positions[going], hashes[going]
        owners, ends, first = owners[going], ends[going], first[going]
        if not len(positions):
            break
        positions, hashes = _one_character(positions, hashes, signed, continues)
        if size >= shortest:
            kept = ~(first | (positions == ends)) if size == 1 else slice(None)
            found.append((owners[kept], (hashes[kept] % np.uint32(buckets)).astype(np.int64)))
    return np.concatenate([part for part, _ in found]), np.concatenate([part for _, part in found])


def _one_character(
    positions: NDArray[np.int64], hashes: NDArray[np.uint32], signed: NDArray[np.uint32], continues: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Hash the byte at each position and those that continue its character."""
    hashes = (hashes ^ signed[positions]) * _PRIME
    positions = positions + 1
    while (more := continues[positions]).any():
        hashes = np.where(more, (hashes ^ signed[positions]) * _PRIME, hashes)
        positions = positions + more
    return positions, hashes


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
        settings = settings._replace(longest=0)  # classifiers of that time had no n-grams, whatever their settings are
    words = _words(parts)
    rows = parts.matrix("input matrix")
    if not rows.shape[1] or rows.shape[1] != 4 * settings.dimension:
        width = rows.shape[1] // 4
        raise InputError(f"{path}: vectors of {width} dimensions, but the settings say {settings.dimension}")
    needed = len(words) + (settings.buckets if settings.longest > 0 else 0)
    if len(rows) < needed or (settings.longest > 0 and settings.buckets < 1):
        raise InputError(f"{path}: {len(words)} words and {settings.buckets} buckets, but {len(rows)} vectors")
    parts.matrix("output matrix")
    return _Model(settings, words, rows)


class _Parts:
    """Takes a file apart from its beginning; where it ends too early is an error that names the part."""

    def __init__(self, path: Path, data: mmap.mmap | bytes) -> None:
        self.path, self._data, self._at = path, data, 0

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
        if count < 0 or not 0 <= dimension <= len(self._data):
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
        if len(entries[-1]) > _LONGEST_WORD:
            raise InputError(f"{parts.path}: a word of {len(entries[-1]):,} bytes: a damaged file")
        parts.skip(_COUNT_AND_KIND, "dictionary")
    return entries[:count]


def _batches(model: _Model, gathering: Gathering) -> Iterator[tuple[list[bytes], Matrix]]:
    start = 0
    while size := gathering.room(min(_BATCH, len(model.words) - start)):
        yield model.words[start : start + size], _means(model, start, start + size)
        start += size


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

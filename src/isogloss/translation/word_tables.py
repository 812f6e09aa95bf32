"""A table of word translations in one small file.

The file is an xz stream: a line that names the format, a line of JSON that counts what follows, then bytes. Words are
in the order of their bytes, each as how many bytes it shares with the word before and the bytes that follow. Of a pair
the query word is its row, the document word the distance from the one before it in the row. Probabilities and counts
are logarithms in one byte:

    P = 2^(-b / 8),    n = 2^(b / 8)

so they are right to 5 %. Numbers of several bytes are kept as planes, all low bytes first, which pack better.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError
from isogloss.storage.files import write_bytes

Ids = NDArray[np.int32]
Floats = NDArray[np.float32]

_FORMAT = b"isogloss word table 1\n"
_STEPS = 8  # of a logarithm to the base 2
_LARGEST = 2**26  # bytes unpacked: a damaged or hostile file must not fill the memory
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0, "dict_size": 2**22}]


class WordTable(NamedTuple):
    """Which words translate each other: words in the order of their UTF-8 bytes, pairs by query and document word.

    ``query_probabilities`` are P(document word | query word), ``document_probabilities`` P(query word | document word);
    they add up to less than 1 where improbable translations were left out. ``query_counts`` and ``document_counts`` say
    how often each word was seen in the texts.
    """

    query_words: list[str]
    document_words: list[str]
    query_numbers: Ids
    document_numbers: Ids
    query_probabilities: Floats
    document_probabilities: Floats
    query_counts: Floats
    document_counts: Floats


def pack_table(table: WordTable) -> bytes:
    """The content of a file. The same table gives the same bytes."""
    lengths = np.bincount(table.query_numbers, minlength=len(table.query_words))
    deltas = np.diff(table.document_numbers, prepend=np.int32(0))
    starts = np.cumsum(lengths) - lengths
    firsts = starts[lengths > 0]
    deltas[firsts] = table.document_numbers[firsts]
    parts = {
        "query words": _pack_words(table.query_words),
        "document words": _pack_words(table.document_words),
        "lengths": _pack_planes(lengths, 2),
        "documents": _pack_planes(deltas, 3),
        "query probabilities": _pack_logarithms(table.query_probabilities),
        "document probabilities": _pack_logarithms(table.document_probabilities),
        "query counts": _pack_logarithms(table.query_counts),
        "document counts": _pack_logarithms(table.document_counts),
    }
    words, others, pairs = len(table.query_words), len(table.document_words), len(table.query_numbers)
    about = {"words": [words, others], "pairs": pairs, "bytes": {name: len(part) for name, part in parts.items()}}
    header = _FORMAT + json.dumps(about).encode() + b"\n"
    return lzma.compress(header + b"".join(parts.values()), format=lzma.FORMAT_XZ, filters=_FILTERS)


def write_table(path: Path, table: WordTable) -> None:
    """Write a table."""
    write_bytes(path, pack_table(table))


def read_table(path: Path) -> WordTable:
    """Read a table; a damaged file is an :class:`InputError`."""
    try:
        return _unpack(_decompress(path.read_bytes()))
    except (lzma.LZMAError, EOFError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path}: a damaged word table ({error}); install isogloss-starter anew") from error


def best_pairs(numbers: NDArray[Any], probabilities: NDArray[Any], most: int, least: float) -> NDArray[np.bool_]:
    """Which pairs are among the ``most`` probable ones of their word (by its number), and not below ``least``.

    >>> best_pairs(np.asarray([7, 7, 7]), np.asarray([0.2, 0.5, 0.3]), 2, 0.01).tolist()
    [False, True, True]
    """
    order = np.lexsort((-probabilities, numbers))
    ordered = numbers[order]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return np.asarray((rank < most) & (probabilities >= least))


def _decompress(packed: bytes) -> bytes:
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2 * _LARGEST)
    content = decompressor.decompress(packed, _LARGEST)
    if not decompressor.eof:
        raise ValueError("it is cut off, or too large")
    return content


def _unpack(content: bytes) -> WordTable:
    if not content.startswith(_FORMAT):
        raise ValueError("its first line is another")
    end = content.index(b"\n", len(_FORMAT))
    about: dict[str, Any] = json.loads(content[len(_FORMAT) : end])
    (words, others), pairs = about["words"], about["pairs"]
    parts, position = {}, end + 1
    for name, size in about["bytes"].items():
        parts[name] = content[position : position + size]
        position += size
    if position != len(content):
        raise ValueError("its parts are of other sizes")
    lengths = _unpack_planes(parts["lengths"], words, 2)
    if lengths.sum() != pairs:
        raise ValueError("it has other numbers of pairs")
    documents = _running_sums(_unpack_planes(parts["documents"], pairs, 3), lengths)
    if pairs and (documents.min() < 0 or documents.max() >= others):
        raise ValueError("a pair names no word")
    return WordTable(
        _unpack_words(parts["query words"], words),
        _unpack_words(parts["document words"], others),
        np.repeat(np.arange(words, dtype=np.int32), lengths),
        documents.astype(np.int32),
        _unpack_logarithms(parts["query probabilities"], pairs, -1),
        _unpack_logarithms(parts["document probabilities"], pairs, -1),
        _unpack_logarithms(parts["query counts"], words, 1),
        _unpack_logarithms(parts["document counts"], others, 1),
    )


def _running_sums(deltas: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The running sum of each row."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(deltas)])
    starts = np.cumsum(lengths) - lengths
    return np.asarray(sums[1:] - np.repeat(sums[starts], lengths))


def _pack_words(words: list[str]) -> bytes:
    shared, rest, before = bytearray(), [], b""
    for word in words:
        encoded = word.encode()
        same = next((i for i, (a, b) in enumerate(zip(before, encoded, strict=False)) if a != b), len(before))
        shared.append(min(same, 255))
        rest.append(encoded[min(same, 255) :])
        before = encoded
    return bytes(shared) + b"".join(part + b"\n" for part in rest)


def _unpack_words(content: bytes, count: int) -> list[str]:
    words, before = [], b""
    rest = content[count:].split(b"\n")
    for same, part in zip(content[:count], rest[:-1], strict=True):
        before = before[:same] + part
        words.append(before)
    return b"\n".join(words).decode().split("\n") if words else []


def _pack_planes(numbers: NDArray[Any], planes: int) -> bytes:
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < 256**planes:
        raise ValueError("a number does not fit")
    return b"".join((numbers >> 8 * plane & 255).astype(np.uint8).tobytes() for plane in range(planes))


def _unpack_planes(content: bytes, count: int, planes: int) -> NDArray[np.int64]:
    table = np.frombuffer(content, np.uint8).reshape(planes, count).astype(np.int64)
    return np.asarray(sum(table[plane] << 8 * plane for plane in range(planes)), dtype=np.int64)


def _pack_logarithms(values: NDArray[Any]) -> bytes:
    exponents: NDArray[np.uint8] = np.minimum(np.round(np.abs(np.log2(values)) * _STEPS), 255).astype(np.uint8)
    return exponents.tobytes()


def _unpack_logarithms(content: bytes, count: int, sign: int) -> Floats:
    exponents = np.frombuffer(content, np.uint8)
    if len(exponents) != count:
        raise ValueError("it has other numbers of probabilities or counts")
    return np.asarray(np.exp2(sign * np.arange(256) / _STEPS).astype(np.float32)[exponents])

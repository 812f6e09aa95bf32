"""The character n-grams of fastText (Bojanowski et al. 2017) and the buckets they fall into, for many words at once.

Of the word between angle brackets, "<word>", all stretches of ``shortest`` to ``longest`` characters count, but not a
bracket alone. A stretch falls into bucket h mod B, h being the 32-bit FNV-1a hash of its UTF-8 bytes:

    h_0 = 2166136261,   h_{i+1} = (h_i xor b_i) 16777619 mod 2^32

with the bytes taken as signed numbers, so that those above 127 turn all higher bits of h over (fastText does so since
its first release, and every model depends on it).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
    data = np.frombuffer(b"".join(framed) + b"<", dtype=np.uint8)  # one more: looking past the last word is safe
    signed = data.view(np.int8).astype(np.int32).view(np.uint32)
    continues = (data & 0xC0) == 0x80
    begins = np.flatnonzero(~continues[:-1])
    owners = np.repeat(np.arange(len(framed)), lengths)[begins]
    ends = np.cumsum(lengths)[owners]
    first = begins == ends - lengths[owners]
    places, hashes = begins, np.full(len(begins), _OFFSET)
    empty = np.zeros(0, dtype=np.int64)
    found = [(empty, empty)]
    for size in range(1, longest + 1):
        going = places < ends
        places, hashes = places[going], hashes[going]
        owners, ends, first = owners[going], ends[going], first[going]
        if not len(places):
            break
        places, hashes = _one_character(places, hashes, signed, continues)
        if size >= shortest:
            kept = ~(first | (places == ends)) if size == 1 else slice(None)
            found.append((owners[kept], (hashes[kept] % np.uint32(buckets)).astype(np.int64)))
    return np.concatenate([part for part, _ in found]), np.concatenate([part for _, part in found])


def _one_character(
    places: NDArray[np.int64], hashes: NDArray[np.uint32], signed: NDArray[np.uint32], continues: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Take in the byte at each place and those that continue it."""
    hashes = (hashes ^ signed[places]) * _PRIME
    places = places + 1
    while (more := continues[places]).any():
        hashes = np.where(more, (hashes ^ signed[places]) * _PRIME, hashes)
        places = places + more
    return places, hashes

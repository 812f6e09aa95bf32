"""A hash table from words to rows for compiled code: open addressing, every hit compared letter by letter.

The hash of the characters c_1 ... c_n is h_n, where h_i = (h_(i-1) xor c_i) * m modulo 2^64; its upper bits choose the
slot. A slot is 32 further bits of the hash and the row plus one, or 0 where it is free. Words of equal hashes are
compared character by character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled

SEED = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
SLOT_BITS = np.uint64(32)  # the lower ones, which do not choose the slot
TAG_BITS = np.uint64(32)  # the lower ones of a slot, which are the row
TAG = np.uint64(0xFFFFFFFF)  # the bits of a hash that are in a slot
_0, _1 = np.uint64(0), np.uint64(1)

Characters = NDArray[np.uint32]
Positions = NDArray[np.int64]


class WordTable(NamedTuple):
    """``words[starts[row]:starts[row + 1]]`` are the characters of the word of a row."""

    slots: NDArray[np.uint64]
    words: Characters
    starts: NDArray[np.uint64]

    @property
    def longest(self) -> int:
        """The length of the longest word."""
        return int(np.diff(self.starts).max(initial=0))


def make_word_table(words: Sequence[str]) -> WordTable:
    """The table of a list of words; the first row counts of a word that occurs twice."""
    slots = np.zeros(1 << max(4, (2 * len(words)).bit_length()), dtype=np.uint64)  # at most half full
    table = WordTable(slots, *flat_characters(list(words)))
    _insert(*table)
    return table


def find_words(table: WordTable, characters: Characters, begins: Positions, ends: Positions) -> NDArray[np.int32]:
    """The row of each word ``characters[begins[i]:ends[i]]``, -1 for those that are not in the table."""
    rows = np.empty(len(begins), dtype=np.int32)
    _find_all(*table, characters, begins.astype(np.uint64), ends.astype(np.uint64), rows)
    return rows


def flat_characters(texts: Sequence[str]) -> tuple[Characters, NDArray[np.uint64]]:
    """The code points of all texts one after another, and where each text begins (and the last one ends)."""
    starts = np.zeros(len(texts) + 1, dtype=np.uint64)
    np.cumsum(np.fromiter(map(len, texts), dtype=np.uint64, count=len(texts)), out=starts[1:])
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32), starts


def characters_to_text(characters: Characters) -> str:
    """The other way round."""
    return characters.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


@compiled
def hash_of(characters: Characters, begin: np.uint64, end: np.uint64) -> np.uint64:
    """The hash of some characters."""
    value = SEED
    for i in range(begin, end):
        value = (value ^ characters[i]) * MULTIPLIER
    return value


@compiled
def same(left: Characters, left_begin: np.uint64, right: Characters, right_begin: np.uint64, length: np.uint64) -> bool:
    """Whether two spans of characters are equal."""
    i = _0
    while i < length and left[left_begin + i] == right[right_begin + i]:
        i += _1
    return bool(i == length)


@compiled
def find_word(
    slots: NDArray[np.uint64],
    words: Characters,
    starts: NDArray[np.uint64],
    word: Characters,
    begin: np.uint64,
    length: np.uint64,
    value: np.uint64,
) -> np.int64:
    """The row of a word of this hash, or -1. The table is passed by field: numba is slow to pass tuples of arrays."""
    last = np.uint64(len(slots) - 1)
    slot = (value >> SLOT_BITS) & last
    entry = slots[slot]
    while entry:
        if entry >> TAG_BITS == value & TAG:
            row = (entry & TAG) - _1
            start = starts[row]
            if starts[row + _1] - start == length and same(word, begin, words, start, length):
                return np.int64(row)
        slot = (slot + _1) & last
        entry = slots[slot]
    return np.int64(-1)


@compiled
def _insert(slots: NDArray[np.uint64], words: Characters, starts: NDArray[np.uint64]) -> None:
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        value = hash_of(words, begin, end)
        if find_word(slots, words, starts, words, begin, end - begin, value) >= 0:
            continue
        slot = (value >> SLOT_BITS) & np.uint64(len(slots) - 1)
        while slots[slot]:
            slot = (slot + _1) & np.uint64(len(slots) - 1)
        slots[slot] = (value & TAG) << TAG_BITS | np.uint64(row + 1)


@compiled
def _find_all(
    slots: NDArray[np.uint64],
    words: Characters,
    starts: NDArray[np.uint64],
    wanted: Characters,
    begins: NDArray[np.uint64],
    ends: NDArray[np.uint64],
    rows: NDArray[np.int32],
) -> None:
    for i in range(len(rows)):
        begin, end = begins[i], ends[i]
        rows[i] = find_word(slots, words, starts, wanted, begin, end - begin, hash_of(wanted, begin, end))

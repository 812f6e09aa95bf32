"""The words of many texts with their positions: what ``token_spans`` gives, without its strings (extra ``fast``).

Blocks of texts are scanned on all cores; ``segmentation.py`` resolves what the scan leaves open. Then each word is
folded, looked up in a table that grows, and numbered as it occurs. A word ends with its last visible character.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled
from isogloss.text.batches import available_cores
from isogloss.text.compiled.code_points import FOLDED, ODD, PLAIN, UNSPACED, CodePoints, code_points
from isogloss.text.compiled.segmentation import (
    BLOCK_CHARACTERS,
    Ids,
    ResolvedSegments,
    ScannedBlock,
    resolve,
    scan_texts,
)
from isogloss.text.compiled.word_table import (
    MULTIPLIER,
    SEED,
    SLOT_BITS,
    TAG,
    TAG_BITS,
    Characters,
    Positions,
    characters_to_text,
    hash_of,
    make_word_table,
    same,
)
from isogloss.text.ids import running_sum, split_chunks
from isogloss.text.positions import WordPositions

_WORDS, _CHARACTERS = 0, 1  # of ``_GrowingTable.counts``
_1 = np.uint64(1)
_NO_WORDS = make_word_table([])

Number = TypeVar("Number", np.uint32, np.uint64)


class _GrowingTable(NamedTuple):
    """A ``WordTable`` with room left; ``counts`` are the numbers of its words and characters."""

    slots: NDArray[np.uint64]
    words: Characters
    starts: NDArray[np.uint64]
    counts: Positions


class _Numbered(NamedTuple):
    """Where the result is written: a word's number, begin and end; ``offsets[i + 1]`` is where those of text i end."""

    ids: Ids
    begins: Ids
    ends: Ids
    offsets: Positions


class CompiledWords:
    """Numbers for all words of texts that come in batches; a word keeps its number."""

    def __init__(self) -> None:
        self._points = code_points()
        self._widest = int(np.diff(self._points.expansion_starts).max())
        self._table = _GrowingTable(
            np.zeros(16, np.uint64), np.zeros(0, np.uint32), np.zeros(1, np.uint64), np.zeros(2, np.int64)
        )

    def words(self, texts: Sequence[str]) -> WordPositions:
        """The words of some texts."""
        known, characters = self._table.counts.tolist()
        blocks = split_chunks(texts, BLOCK_CHARACTERS)
        with ThreadPoolExecutor(available_cores()) as threads:
            scans = list(threads.map(lambda block: scan_texts(block, self._points, _NO_WORDS), blocks))
        resolved, scanned = resolve(scans, self._points)
        found = [self._number(block, resolved) for block in scanned]
        return WordPositions(
            self._words(known, characters),
            np.concatenate([each.ids for each in found]),
            running_sum(np.diff(each.offsets) for each in found),
            np.concatenate([each.begins for each in found]),
            np.concatenate([each.ends for each in found]),
        )

    def _number(self, block: ScannedBlock, resolved: ResolvedSegments) -> _Numbered:
        own = np.diff(resolved.starts)[block.segments]
        count = len(block.ids) - len(own) + int(own.sum())
        self._reserve(count, len(block.codes) * self._widest + len(resolved.characters))
        ids, begins, ends = np.empty((3, count), np.int32)
        numbered = _Numbered(ids, begins, ends, np.zeros(len(block.ends) + 1, np.int64))
        _number_words(block, self._points, resolved, self._table, numbered)
        return numbered

    def _reserve(self, words: int, characters: int) -> None:
        """Make room for so many more."""
        slots, letters, starts, counts = self._table
        words, characters = words + int(counts[_WORDS]), characters + int(counts[_CHARACTERS])
        if characters > len(letters):
            letters = _longer(letters, 2 * characters)
        if words >= len(starts):
            starts = _longer(starts, 2 * words + 1)
        if 2 * words > len(slots):
            slots = np.zeros(1 << (2 * words).bit_length(), np.uint64)
            _fill_slots(slots, letters, starts, int(counts[_WORDS]))
        self._table = _GrowingTable(slots, letters, starts, counts)

    def _words(self, first: int, characters: int) -> list[str]:
        """The words from number ``first`` on, whose characters begin at ``characters``."""
        _, letters, starts, counts = self._table
        text = characters_to_text(letters[characters : counts[_CHARACTERS]])
        bounds = starts[first : counts[_WORDS] + 1].astype(np.int64) - characters
        return [text[begin:end] for begin, end in pairwise(bounds.tolist())]


def _longer(array: NDArray[Number], length: int) -> NDArray[Number]:
    longer = np.empty(length, array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _number_words(
    block: ScannedBlock, points: CodePoints, resolved: ResolvedSegments, table: _GrowingTable, numbered: _Numbered
) -> None:
    """Number the words of a block in their order; the table must have room for all of them."""
    codes, ids, positions, info = block.codes, block.ids, block.positions, points.info
    expansions, expansion_starts = points.expansions, points.expansion_starts
    slots, words, starts, counts = table
    count, token = 0, 0
    for text in range(len(block.ends)):
        first, last = block.starts[text], block.starts[text + 1]
        while token < block.ends[text]:
            i = positions[token]
            if ids[token] != -1:
                segment = block.segments[-2 - ids[token]]
                count = _take_segment(codes, first, i, segment, points, resolved, table, numbered, count)
                token += 1
                continue
            begin, end, value, at = i, i, SEED, np.uint64(counts[_CHARACTERS])
            while i < last:
                kind = info[codes[i]]
                if kind & UNSPACED or not kind & (PLAIN | ODD):
                    break
                i += _1
                if kind & PLAIN:
                    words[at] = kind & FOLDED
                    value = (value ^ np.uint64(kind & FOLDED)) * MULTIPLIER
                    at += _1
                    end = i
                    continue
                for k in range(expansion_starts[kind & FOLDED], expansion_starts[(kind & FOLDED) + 1]):
                    words[at] = expansions[k]
                    value = (value ^ np.uint64(expansions[k])) * MULTIPLIER
                    at += _1
                    end = i
            numbered.ids[count] = _number(slots, words, starts, counts, at, value)
            numbered.begins[count], numbered.ends[count] = begin - first, end - first
            count += 1
            token += 1
        numbered.offsets[text + 1] = count


@compiled
def _number(
    slots: NDArray[np.uint64],
    words: Characters,
    starts: NDArray[np.uint64],
    counts: Positions,
    end: np.uint64,
    value: np.uint64,
) -> np.int64:
    """The number of the word that is written behind all others, up to ``end``; it stays there if it is new."""
    begin, last = np.uint64(counts[_CHARACTERS]), np.uint64(len(slots) - 1)
    slot = (value >> SLOT_BITS) & last
    entry = slots[slot]
    while entry:
        if entry >> TAG_BITS == value & TAG:
            row = (entry & TAG) - _1
            start = starts[row]
            if starts[row + _1] - start == end - begin and same(words, begin, words, start, end - begin):
                return np.int64(row)
        slot = (slot + _1) & last
        entry = slots[slot]
    row = np.uint64(counts[_WORDS])
    starts[row + _1] = end
    slots[slot] = (value & TAG) << TAG_BITS | (row + _1)
    counts[_WORDS] += 1
    counts[_CHARACTERS] = end
    return np.int64(row)


@compiled
def _take_segment(
    codes: Characters,
    first: np.uint64,
    position: np.uint64,
    segment: int,
    points: CodePoints,
    resolved: ResolvedSegments,
    table: _GrowingTable,
    numbered: _Numbered,
    count: int,
) -> int:
    """Write the words of a segment that begins at ``position`` in a text that begins at ``first``."""
    info, expansion_starts = points.info, points.expansion_starts
    slots, words, starts, counts = table
    characters, letters_from, letters_to = resolved.characters, resolved.begins, resolved.ends
    spans, rows, is_run = resolved.spans, resolved.rows, segment < resolved.runs
    ids, begins, ends = numbered.ids, numbered.begins, numbered.ends
    i, folded = position, 0
    for word in range(resolved.starts[segment], resolved.starts[segment + 1]):
        if rows[word] < 0:
            at, value = np.uint64(counts[_CHARACTERS]), SEED
            for k in range(letters_from[word], letters_to[word]):
                words[at] = characters[k]
                value = (value ^ np.uint64(characters[k])) * MULTIPLIER
                at += _1
            rows[word] = _number(slots, words, starts, counts, at, value)
        ids[count] = rows[word]
        if is_run:
            i, folded = _covering(codes, info, expansion_starts, i, folded, spans[word, 0])
            begins[count] = i - first
            i, folded = _covering(codes, info, expansion_starts, i, folded, spans[word, 1] - 1)
            ends[count] = i + _1 - first
        else:
            begins[count] = np.int64(position - first) + spans[word, 0]
            ends[count] = np.int64(position - first) + spans[word, 1]
        count += 1
    return count


@compiled
def _covering(
    codes: Characters, info: NDArray[np.uint32], expansion_starts: Positions, i: np.uint64, folded: int, wanted: int
) -> tuple[np.uint64, int]:
    """The character whose folded form has the folded character ``wanted``, and where that form begins."""
    while True:
        kind, width = info[codes[i]], 1
        if kind & ODD:
            width = expansion_starts[(kind & FOLDED) + 1] - expansion_starts[kind & FOLDED]
        if folded + width > wanted:
            return i, folded
        folded += width
        i += _1


@compiled
def _fill_slots(slots: NDArray[np.uint64], words: Characters, starts: NDArray[np.uint64], count: int) -> None:
    """Write ``count`` distinct words into empty slots."""
    last = np.uint64(len(slots) - 1)
    for row in range(count):
        value = hash_of(words, starts[row], starts[row + 1])
        slot = (value >> SLOT_BITS) & last
        while slots[slot]:
            slot = (slot + _1) & last
        slots[slot] = (value & TAG) << TAG_BITS | np.uint64(row + 1)

"""Every word of scanned texts, compiled: its number among the distinct words, and where it stands.

The scan (``scan.py``) says where words begin, and which stretches it left open; here each word is folded, looked up in
a table that grows, and numbered as it is met. The end of a word is that of its last visible character.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import compiled
from isogloss.text.code_points import FOLDED, LETTER, MARK, ODD, PLAIN, UNSPACED, CodePoints
from isogloss.text.icu_cuts import LINE_END
from isogloss.text.word_table import MULTIPLIER, SEED, SLOT_BITS, TAG, TAG_BITS, Characters, hash_of, same

WORDS, CHARACTERS = 0, 1  # of ``GrowingTable.counts``
_0, _1 = np.uint64(0), np.uint64(1)

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


class GrowingTable(NamedTuple):
    """A ``WordTable`` with room left; ``counts`` says how many words and characters it has."""

    slots: NDArray[np.uint64]
    words: Characters
    starts: NDArray[np.uint64]
    counts: Places


class ScannedBlock(NamedTuple):
    """Texts as the scan left them: ``ids`` are -1 for a word, else ``-2 - piece``; ``pieces`` are their numbers."""

    codes: Characters
    starts: NDArray[np.uint64]
    ids: Ids
    places: NDArray[np.uint64]
    ends: Places
    pieces: Ids


class SettledPieces(NamedTuple):
    """The words of the distinct pieces: those of piece ``p`` are ``starts[p]:starts[p + 1]``.

    Word ``t`` has the characters ``begins[t]:ends[t]``, its place in the piece begins at ``spans[t, 0]`` and ends at
    ``spans[t, 1]``: in characters of the text, but of the first ``runs`` pieces in folded ones. ``rows`` are the
    numbers of the words, -1 until they have one.
    """

    characters: Characters
    begins: Places
    ends: Places
    spans: Places
    rows: Ids
    starts: Places
    runs: int


class WordPlaces(NamedTuple):
    """Where the result is written: a word's number, begin and end; ``offsets[i + 1]`` is where those of text i end."""

    ids: Ids
    begins: Ids
    ends: Ids
    offsets: Places


@compiled
def number_words(
    block: ScannedBlock, points: CodePoints, settled: SettledPieces, table: GrowingTable, placed: WordPlaces
) -> None:
    """Number the words of a block in their order; the table must have room for all of them."""
    codes, ids, places, info = block.codes, block.ids, block.places, points.info
    expansions, expansion_starts = points.expansions, points.expansion_starts
    slots, words, starts, counts = table
    count, token = 0, 0
    for text in range(len(block.ends)):
        first, last = block.starts[text], block.starts[text + 1]
        while token < block.ends[text]:
            i = places[token]
            if ids[token] != -1:
                piece = block.pieces[-2 - ids[token]]
                count = _take_piece(codes, first, i, piece, points, settled, table, placed, count)
                token += 1
                continue
            begin, end, value, at = i, i, SEED, np.uint64(counts[CHARACTERS])
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
            placed.ids[count] = _number(slots, words, starts, counts, at, value)
            placed.begins[count], placed.ends[count] = begin - first, end - first
            count += 1
            token += 1
        placed.offsets[text + 1] = count


@compiled
def _number(
    slots: NDArray[np.uint64],
    words: Characters,
    starts: NDArray[np.uint64],
    counts: Places,
    end: np.uint64,
    value: np.uint64,
) -> np.int64:
    """The number of the word that stands after all others, up to ``end``; it stays there if it is new."""
    begin, last = np.uint64(counts[CHARACTERS]), np.uint64(len(slots) - 1)
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
    row = np.uint64(counts[WORDS])
    starts[row + _1] = end
    slots[slot] = (value & TAG) << TAG_BITS | (row + _1)
    counts[WORDS] += 1
    counts[CHARACTERS] = end
    return np.int64(row)


@compiled
def _take_piece(
    codes: Characters,
    first: np.uint64,
    place: np.uint64,
    piece: int,
    points: CodePoints,
    settled: SettledPieces,
    table: GrowingTable,
    placed: WordPlaces,
    count: int,
) -> int:
    """Write the words of a piece that begins at ``place`` in a text that begins at ``first``."""
    info, expansion_starts = points.info, points.expansion_starts
    slots, words, starts, counts = table
    characters, letters_from, letters_to = settled.characters, settled.begins, settled.ends
    spans, rows, is_run = settled.spans, settled.rows, piece < settled.runs
    ids, begins, ends = placed.ids, placed.begins, placed.ends
    i, folded = place, 0
    for word in range(settled.starts[piece], settled.starts[piece + 1]):
        if rows[word] < 0:
            at, value = np.uint64(counts[CHARACTERS]), SEED
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
            begins[count] = np.int64(place - first) + spans[word, 0]
            ends[count] = np.int64(place - first) + spans[word, 1]
        count += 1
    return count


@compiled
def _covering(
    codes: Characters, info: NDArray[np.uint32], expansion_starts: Places, i: np.uint64, folded: int, wanted: int
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
def words_in_lines(
    lines: Characters,
    is_cut: NDArray[np.bool_],
    points: CodePoints,
    begins: Places,
    ends: Places,
    spans: Places,
    line_ends: Places,
) -> int:
    """Where the words of lines that ICU has cut begin and end, there and in their line; how many there are."""
    info, line, count, start, i = points.info, 0, 0, 0, 0
    while i < len(lines):
        begin = i
        i += 1
        if lines[begin] == LINE_END:
            line_ends[line] = count
            line, start = line + 1, i
        elif info[lines[begin]] & LETTER:
            while i < len(lines) and (info[lines[i]] & MARK or (info[lines[i]] & LETTER and not is_cut[i])):
                i += 1
            begins[count], ends[count] = begin, i
            spans[count, 0], spans[count, 1] = begin - start, i - start
            count += 1
    return count


@compiled
def fill_slots(slots: NDArray[np.uint64], words: Characters, starts: NDArray[np.uint64], count: int) -> None:
    """Write ``count`` distinct words into empty slots."""
    last = np.uint64(len(slots) - 1)
    for row in range(count):
        value = hash_of(words, starts[row], starts[row + 1])
        slot = (value >> SLOT_BITS) & last
        while slots[slot]:
            slot = (slot + _1) & last
        slots[slot] = (value & TAG) << TAG_BITS | np.uint64(row + 1)

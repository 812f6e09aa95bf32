"""Compiled steps between the scan and the ids: which pieces are alike, where ICU cut them, and all ids in one row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import compiled
from isogloss.text.code_points import FOLDED, LETTER, LONGEST_UNSPACED, MARK, ODD, CodePoints
from isogloss.text.icu_cuts import LINE_END
from isogloss.text.scan_odd import PIECES, Found
from isogloss.text.word_table import SLOT_BITS, Characters, WordTable, find_word, hash_of, same

HARD_SIGN = 0x110000  # no character: written before a hard piece, so that a run of the same characters is another piece
_1 = np.uint64(1)

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


def take_pieces(codes: Characters, points: CodePoints, found: Found) -> tuple[Characters, Places]:
    """The characters of all pieces one after another, and how many each has."""
    count = int(found.counts[PIECES])
    room = int((found.pieces[:count, 1] - found.pieces[:count, 0]).sum()) * LONGEST_UNSPACED + count
    pieces, ends = np.empty(room, dtype=np.uint32), np.zeros(count, dtype=np.int64)
    _copy(codes, points, found, pieces, ends)
    return pieces[: ends[-1] if count else 0], np.diff(ends, prepend=0)


@compiled
def _copy(codes: Characters, points: CodePoints, found: Found, pieces: Characters, ends: Places) -> None:
    length = 0
    for piece in range(len(ends)):
        begin, end, is_hard = found.pieces[piece, 0], found.pieces[piece, 1], found.pieces[piece, 2]
        if is_hard:
            pieces[length] = HARD_SIGN
            length += 1
            for i in range(begin, end):
                pieces[length] = codes[i]
                length += 1
        else:
            for i in range(begin, end):
                length = _copy_folded(points.info[codes[i]], points, pieces, length)
        ends[piece] = length


@compiled
def _copy_folded(kind: int, points: CodePoints, pieces: Characters, length: int) -> int:
    if not kind & ODD:
        pieces[length] = kind & FOLDED
        return length + 1
    expansion = kind & FOLDED
    for k in range(points.expansion_starts[expansion], points.expansion_starts[expansion + 1]):
        pieces[length] = points.expansions[k]
        length += 1
    return length


def distinct_pieces(pieces: Characters, starts: Places) -> tuple[Ids, Places]:
    """The number of each piece among the distinct ones, and the first of each: text repeats itself."""
    count = len(starts) - 1
    numbers, firsts = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int64)
    slots = np.zeros(1 << max(4, (2 * count).bit_length()), dtype=np.uint64)
    distinct = _number(pieces, starts, slots, numbers, firsts)
    return numbers, firsts[:distinct]


@compiled
def _number(pieces: Characters, starts: Places, slots: NDArray[np.uint64], numbers: Ids, firsts: Places) -> int:
    count = 0
    for piece in range(len(starts) - 1):
        begin, length = np.uint64(starts[piece]), np.uint64(starts[piece + 1] - starts[piece])
        slot = (hash_of(pieces, begin, begin + length) >> SLOT_BITS) & np.uint64(len(slots) - 1)
        while slots[slot] != 0:  # a slot holds a number plus one
            first = firsts[np.int64(slots[slot]) - 1]
            if np.uint64(starts[first + 1] - starts[first]) == length and same(
                pieces, begin, pieces, np.uint64(starts[first]), length
            ):
                break
            slot = (slot + _1) & np.uint64(len(slots) - 1)
        if slots[slot] == 0:
            firsts[count] = piece
            count += 1
            slots[slot] = np.uint64(count)
        numbers[piece] = np.int64(slots[slot]) - 1
    return count


@compiled
def write_lines(pieces: Characters, starts: Places, chosen: Places, lines: Characters) -> None:
    """Write the chosen pieces, each with a line end."""
    place = 0
    for piece in chosen:
        for i in range(starts[piece], starts[piece + 1]):
            lines[place] = pieces[i]
            place += 1
        lines[place] = LINE_END
        place += 1


@compiled
def words_of_lines(
    lines: Characters, is_cut: NDArray[np.bool_], points: CodePoints, table: WordTable, ids: Ids, ends: Places
) -> None:
    """Look up the words of runs that ICU has cut: a cut parts words except before a combining mark."""
    info, slots, words, starts = points.info, table.slots, table.words, table.starts
    line, count, i, last = 0, 0, np.uint64(0), np.uint64(len(lines))
    while i < last:
        begin = i
        i += _1
        if lines[begin] == LINE_END:
            ends[line] = count
            line += 1
        elif info[lines[begin]] & LETTER:
            while i < last and _goes_on(info[lines[i]], is_cut[i]):
                i += _1
            value = hash_of(lines, begin, i)
            ids[count] = find_word(slots, words, starts, lines, begin, i - begin, value)
            count += 1


@compiled
def _goes_on(kind: int, is_cut: bool) -> bool:
    return bool(kind & MARK) or (bool(kind & LETTER) and not is_cut)


@compiled
def gather(
    ids: Ids,
    ends: Places,
    numbers: Ids,
    piece_ids: Ids,
    piece_starts: Places,
    limit: int,
    gathered: Ids,
    gathered_ends: Places,
) -> int:
    """Put the ids of the pieces in their places, cut each text after ``limit`` tokens (0: never), drop unknown words.

    ``piece_ids[piece_starts[n]:piece_starts[n + 1]]`` are the tokens of the pieces with number ``n``.
    """
    count, i = 0, 0
    for text in range(len(ends)):
        tokens = 0
        while i < ends[text]:
            if ids[i] >= -1:
                begin, end, source = i, i + 1, ids
            else:
                number = numbers[-2 - ids[i]]
                begin, end, source = piece_starts[number], piece_starts[number + 1], piece_ids
            if limit:
                end = min(end, begin + limit - tokens)
            for k in range(begin, end):
                gathered[count] = source[k]
                count += source[k] >= 0
            tokens += end - begin
            i = ends[text] if limit and tokens >= limit else i + 1
        gathered_ends[text] = count
    return count

"""The tokeniser's loop over characters, compiled: code points in, rows of known words out.

Here plain text is taken, which is nearly all; ``scan_odd.py`` takes the rest. What neither can decide is left as
*pieces*: runs of scripts without spaces, which ICU has to cut, and hard stretches between two spaces
(``code_points.py`` says what is hard), which go to the tokeniser itself. A piece stands among the ids as
``-2 - number``; -1 is an unknown word.

Indices are unsigned because numba checks signed ones for being negative. The loops get their arrays one by one and call
next to nothing because numba counts references to every array on every call, which took most of the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import compiled
from isogloss.text.code_points import (
    CALM,
    CALM_CHAINED,
    CHAINED,
    FOLDED,
    MARK,
    ODD,
    ORDERED,
    PLAIN,
    SEVERAL,
    SPACE,
    STARTS,
    UNSPACED,
    CodePoints,
)
from isogloss.text.scan_odd import IDS, PIECES, Found, take_odd
from isogloss.text.word_table import MULTIPLIER, SEED, SLOT_BITS, TAG, TAG_BITS, Characters, WordTable

_NOT_PLAIN = ODD | UNSPACED
_NEVER = 2**62
_0, _1 = np.uint64(0), np.uint64(1)


@compiled
def scan(
    codes: Characters, starts: NDArray[np.uint64], points: CodePoints, table: WordTable, limit: int, found: Found
) -> None:
    """Scan texts; with a limit above 0 at least the first so many tokens of each."""
    info, care, combining = points.info, points.care, points.combining
    slots, words, word_starts = table.slots, table.words, table.starts
    ids, places, pieces, counts = found.ids, found.places, found.pieces, found.counts
    for text in range(len(starts) - 1):
        begin, end = starts[text], starts[text + 1]
        enough = counts[IDS] - counts[PIECES] + limit if limit else _NEVER
        i = begin
        while i < end:
            i = _plain_text(
                codes, begin, i, end, info, care, combining, slots, words, word_starts, enough,
                ids, places, pieces, counts,
            )  # fmt: skip
            if i < end:
                i = take_odd(codes, begin, i, end, points, table, found)
        found.ends[text] = counts[IDS]


@compiled
def _plain_text(
    codes: Characters,
    begin: np.uint64,
    i: np.uint64,
    end: np.uint64,
    info: NDArray[np.uint32],
    care: NDArray[np.uint8],
    combining: NDArray[np.uint8],
    slots: NDArray[np.uint64],
    words: Characters,
    starts: NDArray[np.uint64],
    enough: int,
    ids: NDArray[np.int32],
    places: NDArray[np.uint64],
    pieces: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> np.uint64:
    """Take words and runs as long as they are plain; where that ends, or the end where there are words enough."""
    count = counts[IDS]
    while i < end:
        place, kind = i, info[codes[i]]
        if kind & STARTS:
            value = SEED
            while i < end:
                kind = info[codes[i]]
                if not kind & PLAIN:
                    break
                value = (value ^ np.uint64(kind & FOLDED)) * MULTIPLIER
                i += _1
            if i < end and kind & ODD:
                i = place
                break
            ids[count] = _find_plain(slots, words, starts, codes, info, place, i - place, value)
        elif kind & _NOT_PLAIN:
            i = _plain_run(codes, begin, i, end, info, care, combining)
            if i == place:
                break
            number = counts[PIECES]
            pieces[number, 0], pieces[number, 1], pieces[number, 2] = place, i, _0
            counts[PIECES] += 1
            ids[count] = -2 - number
        else:
            i = end if kind & SPACE and count - counts[PIECES] >= enough else i + _1
            continue
        places[count] = place
        count += 1
    counts[IDS] = count
    return i


@compiled
def _plain_run(
    codes: Characters,
    begin: np.uint64,
    i: np.uint64,
    end: np.uint64,
    info: NDArray[np.uint32],
    care: NDArray[np.uint8],
    combining: NDArray[np.uint8],
) -> np.uint64:
    """Where a run of scripts without spaces ends that a quick look finds nothing to object to; else where it begins."""
    place, kind = i, info[codes[i]]
    calm = CALM_CHAINED if kind & CHAINED else CALM
    if kind & MARK or (i > begin and not info[codes[i - _1]] & calm):
        return place
    while i < end and info[codes[i]] & UNSPACED:
        kind, its_care = info[codes[i]], care[codes[i]]
        in_order = its_care == ORDERED and combining[codes[i - _1]] <= combining[codes[i]]
        if kind & ODD and its_care != SEVERAL and not in_order:
            return place
        i += _1
    calm = CALM_CHAINED if kind & CHAINED else CALM
    return i if i == end or info[codes[i]] & calm else place


@compiled
def _find_plain(
    slots: NDArray[np.uint64],
    words: Characters,
    starts: NDArray[np.uint64],
    codes: Characters,
    info: NDArray[np.uint32],
    begin: np.uint64,
    length: np.uint64,
    value: np.uint64,
) -> np.int64:
    """The row of a word that folds character by character, or -1: ``find_word`` without writing the word down."""
    last = np.uint64(len(slots) - 1)
    slot = (value >> SLOT_BITS) & last
    entry = slots[slot]
    while entry:
        if entry >> TAG_BITS == value & TAG:
            row = (entry & TAG) - _1
            start, k = starts[row], _0
            if starts[row + _1] - start == length:
                while k < length and info[codes[begin + k]] & FOLDED == words[start + k]:
                    k += _1
                if k == length:
                    return np.int64(row)
        slot = (slot + _1) & last
        entry = slots[slot]
    return np.int64(-1)

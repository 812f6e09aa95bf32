"""The tokeniser's loop over characters, compiled: code points in, rows of known words out.

``_plain_text`` takes plain text, which is nearly all; ``_take_odd`` takes words with odd characters, the ends of runs
and hard text. What neither can decide is left as *segments*: runs of scripts without spaces, which ICU has to cut, and
hard text between two spaces (``code_points.py`` says what is hard), which goes to the tokeniser itself. The id of a
segment is ``-2 - number``; -1 is an unknown word.

Indices are unsigned because numba checks signed ones for being negative. The loops take their arrays one by one and
call few functions because numba counts references to every array on every call, which took most of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled
from isogloss.text.compiled.code_points import (
    BETWEEN,
    CALM,
    CALM_CHAINED,
    CHAINED,
    FOLDED,
    FOLLOWS,
    HARD,
    JOINS_NEXT,
    LETTER,
    MARK,
    NOTHING,
    ODD,
    ORDERED,
    PLAIN,
    SEVERAL,
    SPACE,
    STARTS,
    UNSPACED,
    CodePoints,
)
from isogloss.text.compiled.word_table import (
    MULTIPLIER,
    SEED,
    SLOT_BITS,
    TAG,
    TAG_BITS,
    Characters,
    WordTable,
    find_word,
)

IDS, SEGMENTS = 0, 1  # of ``ScannedWords.counts``
_0, _1, _2 = np.uint64(0), np.uint64(1), np.uint64(2)
_NONE = np.uint64(2**64 - 1)
_NOT_PLAIN = ODD | UNSPACED
_NEVER = 2**62


class ScannedWords(NamedTuple):
    """Where the scan writes: ``counts`` are the numbers of ids and segments.

    Token ``n`` begins at character ``positions[n]``; ``ends[t]`` is where the ids of text ``t`` end; segment ``k`` goes
    from character ``segments[k, 0]`` to ``segments[k, 1]`` and is hard if ``segments[k, 2]``.
    """

    ids: NDArray[np.int32]
    positions: NDArray[np.uint64]
    ends: NDArray[np.int64]
    segments: NDArray[np.uint64]
    counts: NDArray[np.int64]
    word: Characters


def room_for(characters: int, texts: int, longest_word: int) -> ScannedWords:
    """Arrays for any texts of so many characters: no character makes two tokens."""
    return ScannedWords(
        np.empty(characters, dtype=np.int32),
        np.empty(characters, dtype=np.uint64),
        np.empty(texts, dtype=np.int64),
        np.empty((characters, 3), dtype=np.uint64),
        np.zeros(2, dtype=np.int64),
        np.empty(longest_word + 1, dtype=np.uint32),
    )


@compiled
def _take_odd(
    codes: Characters,
    begin: np.uint64,
    i: np.uint64,
    end: np.uint64,
    points: CodePoints,
    table: WordTable,
    found: ScannedWords,
) -> np.uint64:
    """Take a word, a run or a character that is neither, or the text around a hard one; the position after it."""
    kind = points.info[codes[i]]
    if kind & UNSPACED:
        after, hard = _run(codes, begin, i, end, points)
        if hard == _NONE:
            _end_segment(found, i, after, _0)
    elif kind & LETTER:
        after, hard = _word(codes, begin, i, end, points, table, found)
    else:
        after, hard = i + _1, _NONE if _stays(codes, begin, i, points) else i
    return after if hard == _NONE else _take_hard(codes, begin, hard, end, points, found)


@compiled
def _word(
    codes: Characters,
    begin: np.uint64,
    i: np.uint64,
    end: np.uint64,
    points: CodePoints,
    table: WordTable,
    found: ScannedWords,
) -> tuple[np.uint64, np.uint64]:
    """Where a word of any characters ends, and the position of a hard character in it."""
    word, position, value, length = found.word, i, SEED, 0
    while i < end:
        kind = points.info[codes[i]]
        if kind & UNSPACED or not kind & (PLAIN | ODD):
            break
        if not _stays(codes, begin, i, points):
            return i, i
        expansion = kind & FOLDED if kind & ODD else 0  # the first is as long as a plain character: one
        for k in range(points.expansion_starts[expansion], points.expansion_starts[expansion + 1]):
            folded = points.expansions[k] if kind & ODD else kind & FOLDED
            value = (value ^ np.uint64(folded)) * MULTIPLIER
            word[min(length, len(word) - 1)] = folded
            length += 1
        i += _1
    row = find_word(table.slots, table.words, table.starts, word, _0, np.uint64(length), value)
    _end_token(found, position, row)
    return i, _NONE


@compiled
def _run(
    codes: Characters, begin: np.uint64, i: np.uint64, end: np.uint64, points: CodePoints
) -> tuple[np.uint64, np.uint64]:
    """Where a run of scripts without spaces ends; it is hard where ICU might not cut at one of its ends."""
    info = points.info
    if info[codes[i]] & MARK or not _calm(info, codes, i, i - _1, i - _2, i - begin):
        return i, i
    while i < end and info[codes[i]] & UNSPACED:
        if not _stays(codes, begin, i, points):
            return i, i
        i += _1
    if not _calm(info, codes, i - _1, i, i + _1, end - i):
        return i, i
    return i, _NONE


@compiled
def _calm(
    info: NDArray[np.uint32], codes: Characters, i: np.uint64, next_: np.uint64, beyond: np.uint64, room: np.uint64
) -> bool:
    """Whether ICU is sure to cut between character ``i`` and the next on a side where the text has ``room`` more."""
    if room == 0:
        return True
    kind = info[codes[next_]]
    if not info[codes[i]] & CHAINED:
        return bool(kind & CALM)
    if not kind & BETWEEN:
        return bool(kind & CALM_CHAINED)
    return bool(room == 1 or info[codes[beyond]] & (CALM_CHAINED | BETWEEN))


@compiled
def _stays(codes: Characters, begin: np.uint64, i: np.uint64, points: CodePoints) -> bool:
    """Whether a character neither composes with the one before nor is reordered with it."""
    care = points.care[codes[i]]
    if care not in (HARD, ORDERED, FOLLOWS):
        return True
    before = i
    while before > begin and points.care[codes[before - _1]] == NOTHING:
        before -= _1
    if care == HARD or before == begin:
        return bool(care != HARD)
    if care == FOLLOWS:
        return not points.info[codes[before - _1]] & JOINS_NEXT
    return bool(points.combining[codes[before - _1]] <= points.combining[codes[i]])


@compiled
def _take_hard(
    codes: Characters, begin: np.uint64, i: np.uint64, end: np.uint64, points: CodePoints, found: ScannedWords
) -> np.uint64:
    """The text between two spaces around a hard character; all the text where that may depend on what precedes."""
    first, counts = i, found.counts
    while first > begin and not points.info[codes[first - _1]] & SPACE:
        first -= _1
    if points.info[codes[first]] & MARK or points.care[codes[first]] == NOTHING:
        first, i = begin, end
    while i < end and not points.info[codes[i]] & SPACE:
        i += _1
    while counts[IDS] and found.positions[counts[IDS] - 1] >= first:  # what was taken of it is taken back
        counts[IDS] -= 1
        counts[SEGMENTS] -= found.ids[counts[IDS]] <= -2
    _end_segment(found, first, i, _1)
    return i


@compiled
def _end_segment(found: ScannedWords, begin: np.uint64, end: np.uint64, is_hard: np.uint64) -> None:
    number, segments = found.counts[SEGMENTS], found.segments
    segments[number, 0], segments[number, 1], segments[number, 2] = begin, end, is_hard
    found.counts[SEGMENTS] += 1
    _end_token(found, begin, -2 - number)


@compiled
def _end_token(found: ScannedWords, position: np.uint64, number: int | np.int64) -> None:
    found.ids[found.counts[IDS]] = number
    found.positions[found.counts[IDS]] = position
    found.counts[IDS] += 1


@compiled
def scan(
    codes: Characters, starts: NDArray[np.uint64], points: CodePoints, table: WordTable, limit: int, found: ScannedWords
) -> None:
    """Scan texts; with a limit above 0 at least the first so many tokens of each."""
    info, care, combining = points.info, points.care, points.combining
    slots, words, word_starts = table.slots, table.words, table.starts
    ids, positions, segments, counts = found.ids, found.positions, found.segments, found.counts
    for text in range(len(starts) - 1):
        begin, end = starts[text], starts[text + 1]
        enough = counts[IDS] - counts[SEGMENTS] + limit if limit else _NEVER
        i = begin
        while i < end:
            i = _plain_text(
                codes, begin, i, end, info, care, combining, slots, words, word_starts, enough,
                ids, positions, segments, counts,
            )  # fmt: skip
            if i < end:
                i = _take_odd(codes, begin, i, end, points, table, found)
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
    positions: NDArray[np.uint64],
    segments: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> np.uint64:
    """Take words and runs while they are plain; where that ends, or the end of the text if there are enough words."""
    count = counts[IDS]
    while i < end:
        position, kind = i, info[codes[i]]
        if kind & STARTS:
            value = SEED
            while i < end:
                kind = info[codes[i]]
                if not kind & PLAIN:
                    break
                value = (value ^ np.uint64(kind & FOLDED)) * MULTIPLIER
                i += _1
            if i < end and kind & ODD:
                i = position
                break
            ids[count] = _find_plain(slots, words, starts, codes, info, position, i - position, value)
        elif kind & _NOT_PLAIN:
            i = _plain_run(codes, begin, i, end, info, care, combining)
            if i == position:
                break
            number = counts[SEGMENTS]
            segments[number, 0], segments[number, 1], segments[number, 2] = position, i, _0
            counts[SEGMENTS] += 1
            ids[count] = -2 - number
        else:
            i = end if kind & SPACE and count - counts[SEGMENTS] >= enough else i + _1
            continue
        positions[count] = position
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
    """Where a run of scripts without spaces ends, if it is plain; else where it begins."""
    position, kind = i, info[codes[i]]
    calm = CALM_CHAINED if kind & CHAINED else CALM
    if kind & MARK or (i > begin and not info[codes[i - _1]] & calm):
        return position
    while i < end and info[codes[i]] & UNSPACED:
        kind, its_care = info[codes[i]], care[codes[i]]
        in_order = its_care == ORDERED and combining[codes[i - _1]] <= combining[codes[i]]
        if kind & ODD and its_care != SEVERAL and not in_order:
            return position
        i += _1
    calm = CALM_CHAINED if kind & CHAINED else CALM
    return i if i == end or info[codes[i]] & calm else position


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

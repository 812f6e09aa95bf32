"""Where ICU cuts lines of text into words, on all cores.

icu4py makes a Python object of every piece and holds Python's lock all the while. ICU's own functions lie in the
library that it has loaded, and under the names that ICU documents they can be called without the lock: the same cuts in
two thirds of the time, and in as many threads as there are cores. Where they are not found, icu4py is asked.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled
from isogloss.text.batches import available_cores
from isogloss.text.compiled.code_points import FOLDED, LETTER, LONGEST_UNSPACED, MARK, ODD, CodePoints
from isogloss.text.compiled.scan import PIECES, ScannedWords
from isogloss.text.compiled.word_table import (
    SLOT_BITS,
    Characters,
    WordTable,
    characters_to_text,
    find_word,
    hash_of,
    same,
)

LINE_END = 10
_CHUNK_CHARACTERS = 50_000  # cut at a time
_WORDS = 1  # UBRK_WORD
_LOCALE = "en"  # as the tokeniser has it

Cuts = NDArray[np.bool_]


class _Functions(NamedTuple):
    """Of ICU's C interface."""

    open: Any
    next: Any
    close: Any


def cuts_of_lines(lines: Characters) -> Cuts:
    """One entry a character and one more, true where a piece ends; no character may lie beyond the basic plane."""
    is_cut = np.zeros(len(lines) + 1, dtype=np.bool_)
    ends = np.flatnonzero(lines == LINE_END) + 1
    last_wanted = len(lines) // _CHUNK_CHARACTERS + 1
    places = np.searchsorted(ends, np.arange(1, last_wanted + 1) * _CHUNK_CHARACTERS)
    bounds = [0, *np.unique(ends[np.minimum(places, len(ends) - 1)]).tolist()] if len(ends) else []
    mark = _mark_by_icu if _icu_functions() else _mark_by_icu4py
    with ThreadPoolExecutor(available_cores()) as threads:
        list(threads.map(lambda part: mark(lines[part[0] : part[1]], is_cut[part[0] : part[1] + 1]), pairwise(bounds)))
    return is_cut


def _mark_by_icu(lines: Characters, is_cut: Cuts) -> None:
    functions = _icu_functions()
    assert functions is not None
    text, status = lines.astype(np.uint16), ctypes.c_int(0)
    breaker = functions.open(_WORDS, _LOCALE.encode(), text.ctypes.data, len(text), ctypes.byref(status))
    if status.value > 0:
        raise RuntimeError(f"ICU cannot cut words: error {status.value}")
    _mark(functions.next, breaker, is_cut)
    functions.close(breaker)


@compiled
def _mark(next_boundary: Callable[[int], int], breaker: int, is_cut: Cuts) -> None:
    end = next_boundary(breaker)
    while end >= 0:
        is_cut[end] = True
        end = next_boundary(breaker)


def _mark_by_icu4py(lines: Characters, is_cut: Cuts) -> None:
    from icu4py.breakers import WordBreaker

    ends = map(itemgetter(1), WordBreaker(characters_to_text(lines), _LOCALE).segments())
    is_cut[np.fromiter(ends, dtype=np.int64)] = True


@lru_cache(maxsize=1)
def _icu_functions() -> _Functions | None:
    import icu4py
    from icu4py import breakers

    try:
        library = ctypes.CDLL(breakers.__file__)  # finds what the libraries it needs hold, too
        version = icu4py.icu_version_info[0]
        functions = _Functions(*(library[f"ubrk_{name}_{version}"] for name in _Functions._fields))
    except (AttributeError, OSError):
        return None
    functions.open.restype = ctypes.c_void_p
    functions.open.argtypes = (
        ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int),
    )  # fmt: skip
    functions.next.restype, functions.next.argtypes = ctypes.c_int32, (ctypes.c_void_p,)
    functions.close.restype, functions.close.argtypes = None, (ctypes.c_void_p,)
    return functions


# Compiled steps between the scan and the ids: which pieces are alike, where ICU cut them, and all ids in one row.

HARD_SIGN = 0x110000  # no character: written before a hard piece, so that a run of the same characters is another piece
_1 = np.uint64(1)

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


def take_pieces(codes: Characters, points: CodePoints, found: ScannedWords) -> tuple[Characters, Places]:
    """The characters of all pieces one after another, and how many each has."""
    count = int(found.counts[PIECES])
    room = int((found.pieces[:count, 1] - found.pieces[:count, 0]).sum()) * LONGEST_UNSPACED + count
    pieces, ends = np.empty(room, dtype=np.uint32), np.zeros(count, dtype=np.int64)
    _copy(codes, points, found, pieces, ends)
    return pieces[: ends[-1] if count else 0], np.diff(ends, prepend=0)


@compiled
def _copy(codes: Characters, points: CodePoints, found: ScannedWords, pieces: Characters, ends: Places) -> None:
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

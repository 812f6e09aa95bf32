"""Blocks of scanned texts, and the words of the segments that the scan leaves open (``scan.py``).

Each distinct segment is resolved once, however often it occurs: ICU cuts runs of scripts without spaces into words,
``token_spans`` itself cuts hard text.

icu4py makes a Python object of every word and keeps Python's lock meanwhile. ICU's own functions are in the library
that it has loaded, and under the names that ICU documents they can be called without the lock: the same cuts in two
thirds of the time, and in as many threads as there are cores. Where they are not found, icu4py is called.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
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
from isogloss.text.compiled.scan import IDS, SEGMENTS, ScannedWords, room_for, scan
from isogloss.text.compiled.word_table import (
    SLOT_BITS,
    Characters,
    Positions,
    WordTable,
    characters_to_text,
    flat_characters,
    hash_of,
    same,
)
from isogloss.text.ids import running_sum, split_chunks
from isogloss.text.tokenizer import token_spans

BLOCK_CHARACTERS = 300_000  # scanned together
_CHUNK_CHARACTERS = 50_000  # cut together
_HARD_SIGN = 0x110000  # no character: before a hard segment, which so differs from a run of the same characters
_LINE_END = 10
_RARE_LETTER = "\ua66e"  # a Cyrillic o with many eyes; a word of its own between texts
_WORDS = 1  # UBRK_WORD
_LOCALE = "en"  # as in the tokeniser
_1 = np.uint64(1)

Cuts = NDArray[np.bool_]
Ids = NDArray[np.int32]
Spans = list[tuple[int, int, str]]


class ScannedBlock(NamedTuple):
    """Scanned texts: ``ids`` are rows of words, -1 for an unknown word, or ``-2 - segment``.

    ``segments`` are the numbers of the segments among the distinct ones.
    """

    codes: Characters
    starts: NDArray[np.uint64]
    ids: Ids
    positions: NDArray[np.uint64]
    ends: Positions
    segments: Ids


class Scan(NamedTuple):
    """A block, and the characters of the segments that were left open."""

    block: ScannedBlock
    characters: Characters
    lengths: Positions


class ResolvedSegments(NamedTuple):
    """The words of the distinct segments: those of segment ``s`` are ``starts[s]:starts[s + 1]``.

    Word ``t`` has the characters ``begins[t]:ends[t]``, its position in the segment begins at ``spans[t, 0]`` and ends
    at ``spans[t, 1]``: in characters of the text, but of the first ``runs`` segments in folded ones. ``rows`` are the
    numbers of the words, -1 until they have one.
    """

    characters: Characters
    begins: Positions
    ends: Positions
    spans: Positions
    rows: Ids
    starts: Positions
    runs: int


def scan_texts(texts: Sequence[str], points: CodePoints, table: WordTable, longest: int = 0, limit: int = 0) -> Scan:
    """Scan a block of texts for the words of a table, none longer than ``longest``."""
    codes, starts = flat_characters(texts)
    found = room_for(len(codes), len(texts), longest)
    scan(codes, starts, points, table, limit, found)
    count, segments = found.counts[IDS], int(found.counts[SEGMENTS])
    ids, positions = found.ids[:count].copy(), found.positions[:count].copy()
    room = int((found.segments[:segments, 1] - found.segments[:segments, 0]).sum()) * LONGEST_UNSPACED + segments
    characters, ends = np.empty(room, dtype=np.uint32), np.zeros(segments, dtype=np.int64)
    _copy(codes, points, found, characters, ends)
    block = ScannedBlock(codes, starts, ids, positions, found.ends, ids[:0])
    return Scan(block, characters[: ends[-1] if segments else 0], np.diff(ends, prepend=0))


def resolve(scans: Sequence[Scan], points: CodePoints) -> tuple[ResolvedSegments, list[ScannedBlock]]:
    """The words of the distinct segments, runs before hard text, and the blocks with the numbers of their segments."""
    characters = np.concatenate([each.characters for each in scans])
    starts = running_sum(each.lengths for each in scans)
    numbers, firsts = _distinct(characters, starts)
    is_hard = characters[starts[firsts]] == _HARD_SIGN
    order = np.argsort(is_hard, kind="stable")
    renumbered = np.empty(len(order), np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    runs = _resolve_runs(characters, starts, firsts[~is_hard], points)
    hard = _resolve_hard(
        [characters_to_text(characters[starts[segment] + 1 : starts[segment + 1]]) for segment in firsts[is_hard]]
    )
    shift, count = len(runs.characters), len(runs.rows)
    resolved = ResolvedSegments(
        np.concatenate([runs.characters, hard.characters]),
        np.concatenate([runs.begins, hard.begins + shift]),
        np.concatenate([runs.ends, hard.ends + shift]),
        np.concatenate([runs.spans, hard.spans]),
        np.concatenate([runs.rows, hard.rows]),
        np.concatenate([runs.starts, hard.starts[1:] + count]),
        runs.runs,
    )
    own_numbers = np.split(renumbered[numbers], np.cumsum([len(each.lengths) for each in scans[:-1]]))
    return resolved, [each.block._replace(segments=own) for each, own in zip(scans, own_numbers, strict=True)]


def _resolve_runs(characters: Characters, starts: Positions, chosen: Positions, points: CodePoints) -> ResolvedSegments:
    """The words of runs of scripts without spaces."""
    lines = np.empty(int((starts[chosen + 1] - starts[chosen]).sum()) + len(chosen), np.uint32)
    _write_lines(characters, starts, chosen, lines)
    begins, ends = np.empty((2, len(lines)), np.int64)
    spans, line_starts = np.empty((len(lines), 2), np.int64), np.zeros(len(chosen) + 1, np.int64)
    count = _words_in_lines(lines, cuts_of_lines(lines), points, begins, ends, spans, line_starts[1:])
    rows = np.full(count, -1, np.int32)
    return ResolvedSegments(lines, begins[:count], ends[:count], spans[:count], rows, line_starts, len(chosen))


def _resolve_hard(texts: Sequence[str]) -> ResolvedSegments:
    """The words of hard text, by the tokeniser itself."""
    found = [spans for group in split_chunks(texts, _CHUNK_CHARACTERS) for spans in _token_spans(group)]
    words = [word for spans in found for _, _, word in spans]
    positions = np.asarray([(begin, end) for spans in found for begin, end, _ in spans], np.int64).reshape(-1, 2)
    characters, ends = flat_characters(words)
    bounds = ends.astype(np.int64)
    starts = running_sum([np.fromiter(map(len, found), np.int64, len(found))])
    rows = np.full(len(words), -1, np.int32)
    return ResolvedSegments(characters, bounds[:-1], bounds[1:], positions, rows, starts, 0)


def _token_spans(texts: Sequence[str]) -> list[Spans]:
    """``token_spans`` of each text, all cut in one call: starting ICU takes longer than a short text."""
    if any(_RARE_LETTER in text for text in texts):
        return [token_spans(text) for text in texts]
    between = f"\n{_RARE_LETTER}\n"
    starts = running_sum([np.fromiter(map(len, texts), np.int64, len(texts)) + len(between)]).tolist()
    found: list[Spans] = [[]]
    for begin, end, word in token_spans(between.join(texts)):
        if word == _RARE_LETTER:
            found.append([])
        else:
            start = starts[len(found) - 1]
            found[-1].append((begin - start, end - start, word))
    return found


class _Functions(NamedTuple):
    """Of ICU's C interface."""

    open: Any
    next: Any
    close: Any


def cuts_of_lines(lines: Characters) -> Cuts:
    """One entry a character and one more, true where a word ends; all characters are in the basic plane."""
    is_cut = np.zeros(len(lines) + 1, dtype=np.bool_)
    ends = np.flatnonzero(lines == _LINE_END) + 1
    last_wanted = len(lines) // _CHUNK_CHARACTERS + 1
    positions = np.searchsorted(ends, np.arange(1, last_wanted + 1) * _CHUNK_CHARACTERS)
    bounds = [0, *np.unique(ends[np.minimum(positions, len(ends) - 1)]).tolist()] if len(ends) else []
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
        library = ctypes.CDLL(breakers.__file__)  # and what it is linked with
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


@compiled
def _copy(codes: Characters, points: CodePoints, found: ScannedWords, characters: Characters, ends: Positions) -> None:
    length = 0
    for segment in range(len(ends)):
        begin, end, is_hard = found.segments[segment, 0], found.segments[segment, 1], found.segments[segment, 2]
        if is_hard:
            characters[length] = _HARD_SIGN
            length += 1
            for i in range(begin, end):
                characters[length] = codes[i]
                length += 1
        else:
            for i in range(begin, end):
                length = _copy_folded(points.info[codes[i]], points, characters, length)
        ends[segment] = length


@compiled
def _copy_folded(kind: int, points: CodePoints, characters: Characters, length: int) -> int:
    if not kind & ODD:
        characters[length] = kind & FOLDED
        return length + 1
    expansion = kind & FOLDED
    for k in range(points.expansion_starts[expansion], points.expansion_starts[expansion + 1]):
        characters[length] = points.expansions[k]
        length += 1
    return length


def _distinct(characters: Characters, starts: Positions) -> tuple[Ids, Positions]:
    """The number of each segment among the distinct ones, and the first of each."""
    count = len(starts) - 1
    numbers, firsts = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int64)
    slots = np.zeros(1 << max(4, (2 * count).bit_length()), dtype=np.uint64)
    distinct = _number(characters, starts, slots, numbers, firsts)
    return numbers, firsts[:distinct]


@compiled
def _number(
    characters: Characters, starts: Positions, slots: NDArray[np.uint64], numbers: Ids, firsts: Positions
) -> int:
    count = 0
    for segment in range(len(starts) - 1):
        begin, length = np.uint64(starts[segment]), np.uint64(starts[segment + 1] - starts[segment])
        slot = (hash_of(characters, begin, begin + length) >> SLOT_BITS) & np.uint64(len(slots) - 1)
        while slots[slot] != 0:  # a slot is a number plus one
            first = firsts[np.int64(slots[slot]) - 1]
            if np.uint64(starts[first + 1] - starts[first]) == length and same(
                characters, begin, characters, np.uint64(starts[first]), length
            ):
                break
            slot = (slot + _1) & np.uint64(len(slots) - 1)
        if slots[slot] == 0:
            firsts[count] = segment
            count += 1
            slots[slot] = np.uint64(count)
        numbers[segment] = np.int64(slots[slot]) - 1
    return count


@compiled
def _write_lines(characters: Characters, starts: Positions, chosen: Positions, lines: Characters) -> None:
    """Write the chosen segments, each with a line end."""
    position = 0
    for segment in chosen:
        for i in range(starts[segment], starts[segment + 1]):
            lines[position] = characters[i]
            position += 1
        lines[position] = _LINE_END
        position += 1


@compiled
def _words_in_lines(
    lines: Characters,
    is_cut: NDArray[np.bool_],
    points: CodePoints,
    begins: Positions,
    ends: Positions,
    spans: Positions,
    line_ends: Positions,
) -> int:
    """Where the words of lines that ICU has cut begin and end, and where in their line; the number of words.

    A cut separates words except before a combining mark.
    """
    info, line, count, start, i = points.info, 0, 0, 0, 0
    while i < len(lines):
        begin = i
        i += 1
        if lines[begin] == _LINE_END:
            line_ends[line] = count
            line, start = line + 1, i
        elif info[lines[begin]] & LETTER:
            while i < len(lines) and (info[lines[i]] & MARK or (info[lines[i]] & LETTER and not is_cut[i])):
                i += 1
            begins[count], ends[count] = begin, i
            spans[count, 0], spans[count, 1] = begin - start, i - start
            count += 1
    return count

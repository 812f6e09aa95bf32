"""The words of many texts with their places, by the compiled scan: what ``token_spans`` gives, without its strings.

Blocks of texts are scanned on all cores. The pieces that the scan leaves open are settled once each: ICU cuts runs of
scripts without spaces, ``token_spans`` itself the rest. Then all words are numbered in their order. numba is needed
(extra ``fast``).
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
from isogloss.text.compiled.code_points import FOLDED, LETTER, MARK, ODD, PLAIN, UNSPACED, CodePoints, code_points
from isogloss.text.compiled.rows import RARE_LETTER
from isogloss.text.compiled.scan import IDS, room_for, scan
from isogloss.text.compiled.segmentation import (
    HARD_SIGN,
    LINE_END,
    cuts_of_lines,
    distinct_pieces,
    take_pieces,
    write_lines,
)
from isogloss.text.compiled.word_table import (
    MULTIPLIER,
    SEED,
    SLOT_BITS,
    TAG,
    TAG_BITS,
    Characters,
    characters_to_text,
    flat_characters,
    hash_of,
    make_word_table,
    same,
)
from isogloss.text.ids import running_sum, split_chunks
from isogloss.text.positions import PlacedWords
from isogloss.text.tokenizer import token_spans

# Every word of scanned texts, compiled: its number among the distinct words, and where it stands.
#
# The scan (``scan.py``) says where words begin, and which stretches it left open; here each word is folded, looked up
# in a table that grows, and numbered as it is met. The end of a word is that of its last visible character.

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


_BLOCK_CHARACTERS = 300_000
_HARD_CHARACTERS = 50_000  # tokenised together
_NO_WORDS = make_word_table([])

Number = TypeVar("Number", np.uint32, np.uint64)
Spans = list[tuple[int, int, str]]


class _Scanned(NamedTuple):
    """One block of texts, and the characters of the pieces that were left open."""

    block: ScannedBlock
    pieces: Characters
    piece_lengths: Places


class CompiledWords:
    """Numbers for all words of texts that come in batches; a word keeps its number."""

    def __init__(self) -> None:
        self._points = code_points()
        self._widest = int(np.diff(self._points.expansion_starts).max())
        self._table = GrowingTable(
            np.zeros(16, np.uint64), np.zeros(0, np.uint32), np.zeros(1, np.uint64), np.zeros(2, np.int64)
        )

    def words(self, texts: Sequence[str]) -> PlacedWords:
        """The words of some texts."""
        known, characters = self._table.counts.tolist()
        with ThreadPoolExecutor(available_cores()) as threads:
            scanned = list(threads.map(self._scan, split_chunks(texts, _BLOCK_CHARACTERS)))
        settled, numbers = _settle(scanned, self._points)
        own_numbers = np.split(numbers, np.cumsum([len(each.piece_lengths) for each in scanned[:-1]]))
        found = [
            self._number(each.block._replace(pieces=own), settled)
            for each, own in zip(scanned, own_numbers, strict=True)
        ]
        return PlacedWords(
            self._words(known, characters),
            np.concatenate([each.ids for each in found]),
            running_sum(np.diff(each.offsets) for each in found),
            np.concatenate([each.begins for each in found]),
            np.concatenate([each.ends for each in found]),
        )

    def _scan(self, texts: Sequence[str]) -> _Scanned:
        codes, starts = flat_characters(texts)
        found = room_for(len(codes), len(texts), 0)
        scan(codes, starts, self._points, _NO_WORDS, 0, found)
        count = found.counts[IDS]
        ids, places = found.ids[:count].copy(), found.places[:count].copy()
        block = ScannedBlock(codes, starts, ids, places, found.ends, ids[:0])
        return _Scanned(block, *take_pieces(codes, self._points, found))

    def _number(self, block: ScannedBlock, settled: SettledPieces) -> WordPlaces:
        own = np.diff(settled.starts)[block.pieces]
        count = len(block.ids) - len(own) + int(own.sum())
        self._reserve(count, len(block.codes) * self._widest + len(settled.characters))
        ids, begins, ends = np.empty((3, count), np.int32)
        placed = WordPlaces(ids, begins, ends, np.zeros(len(block.ends) + 1, np.int64))
        number_words(block, self._points, settled, self._table, placed)
        return placed

    def _reserve(self, words: int, characters: int) -> None:
        """Make sure that there is room for so many more."""
        slots, letters, starts, counts = self._table
        words, characters = words + int(counts[WORDS]), characters + int(counts[CHARACTERS])
        if characters > len(letters):
            letters = _longer(letters, 2 * characters)
        if words >= len(starts):
            starts = _longer(starts, 2 * words + 1)
        if 2 * words > len(slots):
            slots = np.zeros(1 << (2 * words).bit_length(), np.uint64)
            fill_slots(slots, letters, starts, int(counts[WORDS]))
        self._table = GrowingTable(slots, letters, starts, counts)

    def _words(self, first: int, characters: int) -> list[str]:
        """The words from one on, whose characters begin at a place."""
        _, letters, starts, counts = self._table
        text = characters_to_text(letters[characters : counts[CHARACTERS]])
        bounds = starts[first : counts[WORDS] + 1].astype(np.int64) - characters
        return [text[begin:end] for begin, end in pairwise(bounds.tolist())]


def _longer(array: NDArray[Number], length: int) -> NDArray[Number]:
    longer = np.empty(length, array.dtype)
    longer[: len(array)] = array
    return longer


def _settle(scanned: Sequence[_Scanned], points: CodePoints) -> tuple[SettledPieces, Ids]:
    """The words of the distinct pieces, runs first, and the number of each piece among these."""
    pieces = np.concatenate([each.pieces for each in scanned])
    starts = running_sum(each.piece_lengths for each in scanned)
    numbers, firsts = distinct_pieces(pieces, starts)
    is_hard = pieces[starts[firsts]] == HARD_SIGN
    order = np.argsort(is_hard, kind="stable")
    renumbered = np.empty(len(order), np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    runs = _runs(pieces, starts, firsts[~is_hard], points)
    hard = _hard([characters_to_text(pieces[starts[piece] + 1 : starts[piece + 1]]) for piece in firsts[is_hard]])
    shift, count = len(runs.characters), len(runs.rows)
    return SettledPieces(
        np.concatenate([runs.characters, hard.characters]),
        np.concatenate([runs.begins, hard.begins + shift]),
        np.concatenate([runs.ends, hard.ends + shift]),
        np.concatenate([runs.spans, hard.spans]),
        np.concatenate([runs.rows, hard.rows]),
        np.concatenate([runs.starts, hard.starts[1:] + count]),
        runs.runs,
    ), renumbered[numbers]


def _runs(pieces: Characters, starts: Places, chosen: Places, points: CodePoints) -> SettledPieces:
    """The words of runs of scripts without spaces."""
    lines = np.empty(int((starts[chosen + 1] - starts[chosen]).sum()) + len(chosen), np.uint32)
    write_lines(pieces, starts, chosen, lines)
    begins, ends = np.empty((2, len(lines)), np.int64)
    spans, line_starts = np.empty((len(lines), 2), np.int64), np.zeros(len(chosen) + 1, np.int64)
    count = words_in_lines(lines, cuts_of_lines(lines), points, begins, ends, spans, line_starts[1:])
    rows = np.full(count, -1, np.int32)
    return SettledPieces(lines, begins[:count], ends[:count], spans[:count], rows, line_starts, len(chosen))


def _hard(texts: Sequence[str]) -> SettledPieces:
    """The words of what only the tokeniser itself can cut."""
    found = [spans for group in split_chunks(texts, _HARD_CHARACTERS) for spans in _spans(group)]
    words = [word for spans in found for _, _, word in spans]
    places = np.asarray([(begin, end) for spans in found for begin, end, _ in spans], np.int64).reshape(-1, 2)
    characters, ends = flat_characters(words)
    bounds = ends.astype(np.int64)
    starts = running_sum([np.fromiter(map(len, found), np.int64, len(found))])
    return SettledPieces(characters, bounds[:-1], bounds[1:], places, np.full(len(words), -1, np.int32), starts, 0)


def _spans(texts: Sequence[str]) -> list[Spans]:
    """``token_spans`` of each text, all cut in one go: starting ICU takes longer than a short text."""
    if any(RARE_LETTER in text for text in texts):
        return [token_spans(text) for text in texts]
    between = f"\n{RARE_LETTER}\n"
    starts = running_sum([np.fromiter(map(len, texts), np.int64, len(texts)) + len(between)]).tolist()
    found: list[Spans] = [[]]
    for begin, end, word in token_spans(between.join(texts)):
        if word == RARE_LETTER:
            found.append([])
        else:
            start = starts[len(found) - 1]
            found[-1].append((begin - start, end - start, word))
    return found

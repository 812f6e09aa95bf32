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

from isogloss.text.batches import available_cores
from isogloss.text.code_points import CodePoints, code_points
from isogloss.text.fast_tokens import RARE_LETTER
from isogloss.text.icu_cuts import cuts_of_lines
from isogloss.text.pieces import HARD_SIGN, distinct_pieces, take_pieces, write_lines
from isogloss.text.placed_words import PlacedWords
from isogloss.text.scan import scan
from isogloss.text.scan_odd import IDS, room_for
from isogloss.text.stretches import running_sum, stretches
from isogloss.text.tokenizer import token_spans
from isogloss.text.word_numbers import (
    CHARACTERS,
    WORDS,
    GrowingTable,
    ScannedBlock,
    SettledPieces,
    WordPlaces,
    fill_slots,
    number_words,
    words_in_lines,
)
from isogloss.text.word_table import Characters, characters_to_text, flat_characters, make_word_table

_BLOCK_CHARACTERS = 300_000
_HARD_CHARACTERS = 50_000  # tokenised together
_NO_WORDS = make_word_table([])

Number = TypeVar("Number", np.uint32, np.uint64)
Ids = NDArray[np.int32]
Places = NDArray[np.int64]
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
            scanned = list(threads.map(self._scan, stretches(texts, _BLOCK_CHARACTERS)))
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
    found = [spans for group in stretches(texts, _HARD_CHARACTERS) for spans in _spans(group)]
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

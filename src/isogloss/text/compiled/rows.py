"""Many texts to rows of a vocabulary, fast: the tokens of the house tokeniser without making a string of each.

Blocks of texts are scanned by compiled code on all cores. What the scan leaves open (``scan.py``) is settled once for
each distinct piece: ICU cuts the runs of scripts without spaces, the tokeniser itself takes the rest. numba is needed
(extra ``fast``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.progress import track
from isogloss.text.batches import available_cores
from isogloss.text.compiled.code_points import code_points
from isogloss.text.compiled.scan import IDS, room_for, scan
from isogloss.text.compiled.segmentation import (
    HARD_SIGN,
    cuts_of_lines,
    distinct_pieces,
    gather,
    take_pieces,
    words_of_lines,
    write_lines,
)
from isogloss.text.compiled.word_table import (
    Characters,
    characters_to_text,
    find_words,
    flat_characters,
    make_word_table,
)
from isogloss.text.ids import running_sum, split_chunks
from isogloss.text.tokenizer import tokenize

_BATCH_CHARACTERS = 16_000_000  # scanned, settled and gathered together; bounds the memory
_BLOCK_CHARACTERS = 300_000
_HARD_CHARACTERS = 50_000  # tokenised together
RARE_LETTER = "\ua66e"  # a Cyrillic o with many eyes; a word of its own between texts

Ids = NDArray[np.int32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What the scan found in one block of texts; ``pieces`` holds what it left open."""

    ids: Ids
    ends: Offsets
    pieces: Characters
    piece_lengths: Offsets


class FastTokens:
    """Texts to the rows of known words.

    >>> tokens = FastTokens(["the", "été", "属性"])
    >>> [array.tolist() for array in tokens.ids(["THE The unknown", "", "l'Été: CSS属性", "属性 the"])]
    [[0, 0, 1, 2, 2, 0], [0, 2, 2, 4, 6]]
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._table = make_word_table(words)
        self._longest_word = self._table.longest
        self._points = code_points()

    def ids(self, texts: Sequence[str], maximum_words: int = 0, label: str = "tokenising") -> tuple[Ids, Offsets]:
        """The rows of the known words, and where those of each text begin.

        With ``maximum_words`` above 0 only the first so many tokens of a text count, known or not.
        """
        batches = list(self.batches(texts, maximum_words, label))
        ids = np.concatenate([np.zeros(0, np.int32), *(ids for ids, _ in batches)])
        return ids, running_sum(np.diff(offsets) for _, offsets in batches)

    def batches(
        self, texts: Sequence[str], maximum_words: int = 0, label: str = "tokenising"
    ) -> Iterator[tuple[Ids, Offsets]]:
        """The same for one stretch of the texts after another."""
        batches = list(split_chunks(texts, _BATCH_CHARACTERS))
        for batch in track(batches, label, len(texts), sizes=map(len, batches)):
            yield self._batch(batch, maximum_words)

    def _batch(self, texts: Sequence[str], limit: int) -> tuple[Ids, Offsets]:
        with ThreadPoolExecutor(available_cores()) as threads:
            blocks = list(threads.map(lambda block: self._scan(block, limit), split_chunks(texts, _BLOCK_CHARACTERS)))
        numbers, piece_ids, piece_starts = self._settle(blocks)
        own_numbers = np.split(numbers, np.cumsum([len(block.piece_lengths) for block in blocks[:-1]]))
        finish = partial(_gathered, piece_ids=piece_ids, piece_starts=piece_starts, limit=limit)
        with ThreadPoolExecutor(available_cores()) as threads:
            gathered = list(threads.map(finish, blocks, own_numbers))
        return np.concatenate([ids for ids, _ in gathered]), running_sum(lengths for _, lengths in gathered)

    def _scan(self, texts: Sequence[str], limit: int) -> _Scanned:
        codes, starts = flat_characters(texts)
        found = room_for(len(codes), len(texts), self._longest_word)
        scan(codes, starts, self._points, self._table, limit, found)
        return _Scanned(found.ids[: found.counts[IDS]].copy(), found.ends, *take_pieces(codes, self._points, found))

    def _settle(self, blocks: Sequence[_Scanned]) -> tuple[Ids, Ids, Offsets]:
        """The number of each piece among the distinct ones, the ids of those and where the ids of each begin."""
        pieces = np.concatenate([block.pieces for block in blocks])
        starts = running_sum(block.piece_lengths for block in blocks)
        numbers, firsts = distinct_pieces(pieces, starts)
        is_hard = pieces[starts[firsts]] == HARD_SIGN
        # Numbered anew, all runs first, then all hard pieces, so that the ids of both make one array.
        order = np.argsort(is_hard, kind="stable")
        renumbered = np.empty(len(order), dtype=np.int32)
        renumbered[order] = np.arange(len(order), dtype=np.int32)
        run_ids, run_ends = self._runs(pieces, starts, firsts[~is_hard])
        hard_ids, hard_ends = self._hard(pieces, starts, firsts[is_hard])
        piece_starts = np.concatenate([np.zeros(1, np.int64), run_ends, hard_ends + len(run_ids)])
        return renumbered[numbers], np.concatenate([run_ids, hard_ids]), piece_starts

    def _runs(self, pieces: Characters, starts: Offsets, chosen: Offsets) -> tuple[Ids, Offsets]:
        """The ids of runs of scripts without spaces, and where those of each run end."""
        lines = np.empty(int((starts[chosen + 1] - starts[chosen]).sum()) + len(chosen), dtype=np.uint32)
        write_lines(pieces, starts, chosen, lines)
        ids, ends = np.empty(len(lines), dtype=np.int32), np.zeros(len(chosen), dtype=np.int64)
        words_of_lines(lines, cuts_of_lines(lines), self._points, self._table, ids, ends)
        return ids[: ends[-1] if len(ends) else 0], ends

    def _hard(self, pieces: Characters, starts: Offsets, chosen: Offsets) -> tuple[Ids, Offsets]:
        """The same for what only the tokeniser itself can cut."""
        texts = [characters_to_text(pieces[starts[piece] + 1 : starts[piece + 1]]) for piece in chosen]
        tokens = [
            word for group in split_chunks(texts, _HARD_CHARACTERS) for text in _tokens(group) for word in (*text, "")
        ]
        ids, is_end = find_words(self._table, tokens), np.fromiter(map(len, tokens), np.int64, len(tokens)) == 0
        return ids[~is_end], np.flatnonzero(is_end) - np.arange(len(texts))


def _tokens(texts: Sequence[str]) -> list[list[str]]:
    """The tokens of each text, all cut in one go: starting ICU takes longer than a short text."""
    if any(RARE_LETTER in text for text in texts):
        return [tokenize(text) for text in texts]
    tokens: list[list[str]] = [[]]
    for word in tokenize(f"\n{RARE_LETTER}\n".join(texts)):
        if word == RARE_LETTER:
            tokens.append([])
        else:
            tokens[-1].append(word)
    return tokens


def _gathered(block: _Scanned, numbers: Ids, piece_ids: Ids, piece_starts: Offsets, limit: int) -> tuple[Ids, Offsets]:
    room = len(block.ids) + int((piece_starts[numbers + 1] - piece_starts[numbers]).sum())
    ids, ends = np.empty(room, dtype=np.int32), np.empty(len(block.ends), dtype=np.int64)
    count = gather(block.ids, block.ends, numbers, piece_ids, piece_starts, limit, ids, ends)
    return ids[:count], np.diff(ends, prepend=0)

"""Many texts to term ids at once, on all cores where it pays.

The result is three arrays instead of millions of strings: the distinct terms, the ids of all tokens one text after
another, and where each text begins. Each distinct word is stemmed once, however often it occurs.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.progress import track
from isogloss.text.ids import running_sum, split_chunks
from isogloss.text.positions import compiled_pays, word_positions
from isogloss.text.tokenizer import Tokenizer, tokenize

_CHUNK_CHARACTERS = 500_000
_CHARACTERS_A_SECOND = 8_000_000  # text by text
_PARALLEL_CHARACTERS = 4_000_000  # below this, starting processes costs more than it saves (benchmarks/tokenizers.py)


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """``terms[ids[offsets[i]:offsets[i + 1]]]`` are the terms of text ``i``."""

    terms: list[str]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def text(self, number: int) -> list[str]:
        """The terms of one text."""
        return [self.terms[i] for i in self.ids[self.offsets[number] : self.offsets[number + 1]].tolist()]


def tokenize_texts(
    texts: Sequence[str], tokenizer: Tokenizer | None = None, processes: int | None = None, label: str = "tokenising"
) -> TokenizedTexts:
    """Tokenise a list of texts; by default in compiled code where that pays (extra ``fast``).

    Without it, ``processes`` are the cores of this machine, or 1 for little text.

    >>> batch = tokenize_texts(["to be or", "not to be"])
    >>> batch.terms, batch.ids.tolist(), batch.offsets.tolist()
    (['to', 'be', 'or', 'not'], [0, 1, 2, 3, 0, 1], [0, 3, 6])
    """
    table = TermTable(tokenizer or Tokenizer())
    if processes is None and compiled_pays(texts, _CHARACTERS_A_SECOND):
        return table.texts((chunk.new, chunk.ids, chunk.offsets) for chunk in word_positions(texts, label))
    chunks = list(split_chunks(texts, _CHUNK_CHARACTERS))
    if processes is None:
        few = sum(map(len, texts)) < _PARALLEL_CHARACTERS
        processes = 1 if few or "fork" not in multiprocessing.get_all_start_methods() else available_cores()
    tracked = track(_tokenized(chunks, processes), label, total=len(texts), sizes=map(len, chunks))
    return table.texts(_numbered(tracked))


def available_cores() -> int:
    """The cores this process may use; ``OMP_NUM_THREADS`` bounds them, as it does for BLAS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


_Numbered = tuple[list[str], NDArray[np.int32], NDArray[np.int64]]
"""New words, the ids of all words of some texts, and where each text begins."""


class TermTable:
    """The terms of numbered words."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.terms: list[str] = []
        self._tokenizer = tokenizer
        self._term_of_word = np.zeros(0, np.int32)  # -1 is a stop word
        self._id_of_term: dict[str, int] = {}

    def texts(self, chunks: Iterable[_Numbered]) -> TokenizedTexts:
        """One chunk of texts after another, as terms."""
        ids, lengths = [np.zeros(0, np.int32)], []
        for words, word_ids, offsets in chunks:
            self._add(words)
            own_ids, own_lengths = self._kept(self._term_of_word[word_ids], np.diff(offsets))
            ids.append(own_ids)
            lengths.append(own_lengths)
        return TokenizedTexts(self.terms, np.concatenate(ids), running_sum(lengths))

    def _kept(
        self, terms: NDArray[np.int32], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        if not self._tokenizer.drop_stop_words:
            return terms, lengths
        kept = terms >= 0
        text_of = np.repeat(np.arange(len(lengths)), lengths)
        return terms[kept], np.bincount(text_of[kept], minlength=len(lengths))

    def _add(self, words: list[str]) -> None:
        """Add words whose numbers follow those of all words before."""
        wanted = [word for word in words if self._tokenizer.terms([word])] if self._tokenizer.drop_stop_words else words
        term_of = dict.fromkeys(words, -1)
        for word, term in zip(wanted, self._tokenizer.terms(wanted), strict=True):
            term_of[word] = self._id_of_term.setdefault(term, len(self.terms))
            if term_of[word] == len(self.terms):
                self.terms.append(term)
        self._term_of_word = np.append(self._term_of_word, np.fromiter(term_of.values(), np.int32, len(words)))


_Chunk = tuple[list[str], NDArray[np.int32], NDArray[np.int64]]
"""The words of a chunk, their ids in its texts, and the length of each text."""


def _numbered(chunks: Iterable[_Chunk]) -> Iterator[_Numbered]:
    """The chunks with ids that are numbered on from one to the next."""
    id_of: dict[str, int] = {}
    for words, ids, lengths in chunks:
        known = len(id_of)
        own = np.fromiter((id_of.setdefault(word, len(id_of)) for word in words), np.int32, len(words))
        yield list(itertools.islice(id_of, known, None)), own[ids] if len(words) else ids, running_sum([lengths])


def _tokenized(chunks: Iterable[Sequence[str]], processes: int) -> Iterator[_Chunk]:
    if processes == 1:
        yield from map(_tokenize_chunk, chunks)
        return
    # Workers ignore interrupts, which the parent handles. Not a Pool: it ends its workers by SIGTERM, and waits for
    # ever where a handler they inherited, such as Ray's, keeps them alive.
    fork, ignore = multiprocessing.get_context("fork"), (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(processes, fork, signal.signal, ignore) as pool:
        yield from pool.map(_tokenize_chunk, chunks)


def _tokenize_chunk(texts: Sequence[str]) -> _Chunk:
    tokens = [tokenize(text) for text in texts]
    id_of: dict[str, int] = {}
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    numbers = (id_of.setdefault(word, len(id_of)) for word in itertools.chain.from_iterable(tokens))
    ids = np.fromiter(numbers, dtype=np.int32, count=int(lengths.sum()))
    return list(id_of), ids, lengths

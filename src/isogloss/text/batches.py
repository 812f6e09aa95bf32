"""Many texts to term ids at once, on all cores where it pays.

What comes back is three arrays instead of millions of strings: the distinct terms, the ids of all tokens one text after
another, and where each text begins. Each distinct word is stemmed once, however often it occurs.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isogloss.base.progress import track
from isogloss.text.tokenizer import Tokenizer, tokenize

_CHUNK_CHARACTERS = 500_000
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
    """Tokenise a list of texts; ``processes`` defaults to the cores of this machine, or 1 for little text.

    >>> batch = tokenize_texts(["to be or", "not to be"])
    >>> batch.terms, batch.ids.tolist(), batch.offsets.tolist()
    (['to', 'be', 'or', 'not'], [0, 1, 2, 3, 0, 1], [0, 3, 6])
    """
    chunks = list(_chunks(texts))
    if processes is None:
        few = sum(map(len, texts)) < _PARALLEL_CHARACTERS
        processes = 1 if few or "fork" not in multiprocessing.get_all_start_methods() else available_cores()
    table = _TermTable(tokenizer or Tokenizer())
    ids, lengths = [], []
    for chunk in track(_tokenized(chunks, processes), label, total=len(texts), sizes=map(len, chunks)):
        chunk_ids, chunk_lengths = table.add(*chunk)
        ids.append(chunk_ids)
        lengths.append(chunk_lengths)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    if lengths:
        np.cumsum(np.concatenate(lengths), out=offsets[1:])
    return TokenizedTexts(table.terms, np.concatenate(ids) if ids else np.zeros(0, np.int32), offsets)


def available_cores() -> int:
    """The cores this process may use; ``OMP_NUM_THREADS`` bounds them, as it does for the libraries beneath."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(cores, int(told)) if told.isdecimal() and int(told) else cores


_Chunk = tuple[list[str], NDArray[np.int32], NDArray[np.int64]]


class _TermTable:
    """Words of all chunks to global term ids; -1 is a stop word."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.terms: list[str] = []
        self._tokenizer = tokenizer
        self._id_of_word: dict[str, int] = {}
        self._id_of_term: dict[str, int] = {}

    def add(
        self, words: list[str], ids: NDArray[np.int32], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        self._learn([word for word in words if word not in self._id_of_word])
        to_term = np.fromiter((self._id_of_word[word] for word in words), dtype=np.int32, count=len(words))
        if not len(words):
            return ids, lengths
        terms = to_term[ids]
        if not self._tokenizer.drop_stop_words:
            return terms, lengths
        kept = terms >= 0
        text_of = np.repeat(np.arange(len(lengths)), lengths)
        return terms[kept], np.bincount(text_of[kept], minlength=len(lengths))

    def _learn(self, words: list[str]) -> None:
        wanted = [word for word in words if self._tokenizer.terms([word])] if self._tokenizer.drop_stop_words else words
        self._id_of_word.update(dict.fromkeys(words, -1))
        for word, term in zip(wanted, self._tokenizer.terms(wanted), strict=True):
            number = self._id_of_term.setdefault(term, len(self.terms))
            if number == len(self.terms):
                self.terms.append(term)
            self._id_of_word[word] = number


def _chunks(texts: Sequence[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    characters = 0
    for text in texts:
        chunk.append(text)
        characters += len(text) + 1
        if characters > _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _tokenized(chunks: Iterable[list[str]], processes: int) -> Iterator[_Chunk]:
    if processes == 1:
        yield from map(_tokenize_chunk, chunks)
        return
    # An interrupt is the parent's to handle: it ends the pool; workers that print tracebacks of their own help nobody.
    ignore = (signal.SIGINT, signal.SIG_IGN)
    with multiprocessing.get_context("fork").Pool(processes, signal.signal, ignore) as pool:
        yield from pool.imap(_tokenize_chunk, chunks)


def _tokenize_chunk(texts: list[str]) -> _Chunk:
    tokens = [tokenize(text) for text in texts]
    id_of: dict[str, int] = {}
    for word in itertools.chain.from_iterable(tokens):
        if word not in id_of:
            id_of[word] = len(id_of)
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    ids = np.fromiter(
        map(id_of.__getitem__, itertools.chain.from_iterable(tokens)), dtype=np.int32, count=int(lengths.sum())
    )
    return list(id_of), ids, lengths

"""Inverted lists: for each term, the documents that hold it and how often. Flat arrays, memory-mapped from disk."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.strings import StringTable
from isogloss.text.batches import TokenizedTexts


class Posting(NamedTuple):
    """The documents that hold a term, ascending, and how often each does."""

    documents: NDArray[np.int32]
    frequencies: NDArray[np.int32]


_NOWHERE = Posting(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


class InvertedLists(Protocol):
    """What a scorer asks of inverted lists, in one part or in several."""

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The terms in each document."""

    @property
    def document_count(self) -> int:
        """How many documents have a number."""

    @property
    def counted(self) -> int:
        """How many of them count in what is known of the collection."""

    @property
    def total_length(self) -> int:
        """How many terms the documents that count have together."""

    def __getitem__(self, term: str) -> Posting: ...


class Postings:
    """The inverted lists of a collection, and the length of each of its documents in terms."""

    def __init__(
        self, terms: StringTable, offsets: NDArray[np.int64], documents: NDArray[np.int32],
        frequencies: NDArray[np.int32], lengths: NDArray[np.int32],
    ) -> None:  # fmt: skip
        self.terms = terms
        self.offsets = offsets
        self.documents = documents
        self.frequencies = frequencies
        self.lengths = lengths
        self._find = lru_cache(maxsize=50_000)(terms.find)

    @classmethod
    def build(cls, texts: TokenizedTexts) -> Postings:
        """Invert tokenised texts: one sort of (term, document) keys, then runs of equal keys are counted."""
        by_name = sorted(range(len(texts.terms)), key=texts.terms.__getitem__)  # as their UTF-8 bytes sort too
        rank = np.empty(len(by_name), dtype=np.int64)
        rank[by_name] = np.arange(len(by_name))
        lengths = np.diff(texts.offsets)
        count = max(1, len(lengths))
        keys = rank[texts.ids] * count + np.repeat(np.arange(len(lengths)), lengths) if len(texts.ids) else rank[:0]
        keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        frequencies = np.diff(starts, append=len(keys)).astype(np.int32)
        term_of, document_of = np.divmod(keys[starts], count)
        offsets = np.searchsorted(term_of, np.arange(len(by_name) + 1))
        terms = StringTable.of(texts.terms[number] for number in by_name)
        return cls(terms, offsets, document_of.astype(np.int32), frequencies, lengths.astype(np.int32))

    @property
    def document_count(self) -> int:
        """How many documents there are."""
        return len(self.lengths)

    @property
    def counted(self) -> int:
        """How many of them count in what is known of the collection: all."""
        return len(self.lengths)

    @property
    def total_length(self) -> int:
        """How many terms the documents that count have together."""
        return int(self.lengths.sum(dtype=np.int64))

    def __getitem__(self, term: str) -> Posting:
        number = self._find(term)
        if number is None:
            return _NOWHERE
        span = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return Posting(self.documents[span], self.frequencies[span])

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        self.terms.save(directory, "terms")
        for name in ("offsets", "documents", "frequencies", "lengths"):
            save_array(directory / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, directory: Path) -> Postings:
        """Map what ``save`` wrote."""
        arrays = (load_array(directory / f"{name}.npy") for name in ("offsets", "documents", "frequencies", "lengths"))
        return cls(StringTable.load(directory, "terms"), *arrays)

"""Inverted lists: for each term, the documents that hold it and how often. Flat arrays, memory-mapped from disk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.strings import StringTable
from isogloss.lexical.inversion import inverted
from isogloss.text.batches import TokenizedTexts


class Posting(NamedTuple):
    """The documents that hold a term, ascending, and how often each does."""

    documents: NDArray[np.int32]
    frequencies: NDArray[np.int32]

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """How often each of some documents holds the term, in any order; only their places are looked up.

        >>> Posting(np.array([2, 5, 9], np.int32), np.array([1, 4, 2], np.int32)).at(np.array([9, 3, 5, 70, -1]))
        array([2, 0, 4, 0, 0], dtype=int32)
        """
        found = np.zeros(len(rows), dtype=np.int32)
        if len(self.documents):
            wanted = rows.astype(self.documents.dtype)  # else all of the list would be cast
            places = np.minimum(np.searchsorted(self.documents, wanted), len(self.documents) - 1)
            held = self.documents[places] == wanted
            found[held] = self.frequencies[places[held]]
        return found


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

    @property
    def parts(self) -> Sequence[Postings]:
        """The parts, in the order of their documents' numbers."""

    @property
    def live(self) -> NDArray[np.bool_] | None:
        """Which documents count, if not all do."""

    def __getitem__(self, term: str) -> Posting: ...

    def counts_at(self, term: str, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """How often each of some documents holds a term; those that do not count hold none."""


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
        """Invert tokenised texts."""
        by_name = sorted(range(len(texts.terms)), key=texts.terms.__getitem__)  # as their UTF-8 bytes sort too
        rank = np.empty(len(by_name), dtype=np.int64)
        rank[by_name] = np.arange(len(by_name))
        terms = StringTable.of(texts.terms[number] for number in by_name)
        return cls(terms, *inverted(texts.ids, texts.offsets, rank), np.diff(texts.offsets).astype(np.int32))

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

    @property
    def parts(self) -> Sequence[Postings]:
        """Itself: the only part."""
        return [self]

    @property
    def live(self) -> None:
        """All documents count."""

    def span(self, term: str) -> tuple[int, int]:
        """Where the list of a term begins and ends in ``documents`` and ``frequencies``."""
        number = self._find(term)
        return (0, 0) if number is None else (int(self.offsets[number]), int(self.offsets[number + 1]))

    def __getitem__(self, term: str) -> Posting:
        begin, end = self.span(term)
        return Posting(self.documents[begin:end], self.frequencies[begin:end])

    def counts_at(self, term: str, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """How often each of some documents holds a term."""
        return self[term].at(rows)

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

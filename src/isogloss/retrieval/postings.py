"""Inverted lists: for each term, the documents that hold it and how often. Flat arrays, memory-mapped from disk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.compiled import pays
from isogloss.storage.strings import StringTable
from isogloss.text.batches import TokenizedTexts

# Term ids text by text, turned round: the texts of each term, and how often it stands in each.

_TOKENS_A_SECOND = 6_000_000  # by sorting

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]


class Inverted(NamedTuple):
    """``documents[offsets[t]:offsets[t + 1]]`` are the texts of term ``t``, ascending."""

    offsets: Numbers
    documents: Ids
    frequencies: Ids


def inverted(ids: Ids, starts: Numbers, rank: Numbers) -> Inverted:
    """Invert the ids of texts that begin at ``starts``; the term of an id is ``rank[id]``.

    >>> [array.tolist() for array in inverted(np.array([0, 1, 0, 1], np.int32), np.array([0, 3, 4]), np.array([1, 0]))]
    [[0, 2, 3], [0, 1, 0], [1, 1, 2]]
    """
    if not pays(len(ids) / _TOKENS_A_SECOND):
        return _by_sorting(ids, starts, rank)
    from isogloss.retrieval.compiled import (
        count_texts,
        fill_lists,  # imports numba
    )

    offsets = np.zeros(len(rank) + 1, np.int64)
    np.cumsum(count_texts(ids, starts, rank), out=offsets[1:])
    documents, frequencies = np.empty((2, int(offsets[-1])), np.int32)
    fill_lists(ids, starts, rank, offsets[:-1].copy(), documents, frequencies)
    return Inverted(offsets, documents, frequencies)


def _by_sorting(ids: Ids, starts: Numbers, rank: Numbers) -> Inverted:
    """One sort of (term, text) keys, then runs of equal keys are counted."""
    lengths = np.diff(starts)
    count = max(1, len(lengths))
    keys = rank[ids] * count + np.repeat(np.arange(len(lengths)), lengths) if len(ids) else rank[:0].copy()
    keys.sort()
    runs = np.flatnonzero(np.diff(keys, prepend=-1))
    frequencies = np.diff(runs, append=len(keys)).astype(np.int32)
    term_of, document_of = np.divmod(keys[runs], count)
    return Inverted(np.searchsorted(term_of, np.arange(len(rank) + 1)), document_of.astype(np.int32), frequencies)


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


# The inverted lists of several parts, searched as if all their documents had been indexed at once.
#
# Document i of part p has the number  start_p + i,  start_p being how many documents the parts before have. A term is
# looked up in each part; lists and lengths are put one after the other, so that frequencies, lengths and scores are
# those of one index over all documents. Documents that are gone keep their number, but stand in no list and count
# nowhere.

Live = NDArray[np.bool_]


class JoinedPostings:
    """Several inverted lists as one; ``live`` says which documents still count."""

    def __init__(self, parts: Sequence[Postings], live: Live | None = None) -> None:
        self.parts = list(parts)
        self._starts = np.cumsum([0, *(part.document_count for part in parts)])
        self.live = live
        spans = [slice(*self._starts[number : number + 2]) for number in range(len(parts))]
        whole = live is None
        self._live = [None if whole or live[span].all() else live[span] for span in spans]  # type: ignore[index]

    @classmethod
    def load(cls, directories: Sequence[Path]) -> JoinedPostings:
        """Map what ``Postings.save`` wrote into each directory."""
        return cls([Postings.load(directory) for directory in directories])

    def counting_only(self, live: Live) -> JoinedPostings:
        """The same lists, of which only some documents count."""
        return JoinedPostings(self.parts, live)

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """The terms in each document."""
        if len(self.parts) == 1:
            return self.parts[0].lengths
        return np.concatenate([np.zeros(0, np.int32), *(part.lengths for part in self.parts)])

    @property
    def document_count(self) -> int:
        """How many documents have a number."""
        return int(self._starts[-1])

    @cached_property
    def counted(self) -> int:
        """How many documents are not gone."""
        return self.document_count if self.live is None else int(np.count_nonzero(self.live))

    @cached_property
    def total_length(self) -> int:
        """How many terms the documents that are not gone have together."""
        lengths = self.lengths if self.live is None else self.lengths[self.live]
        return int(lengths.sum(dtype=np.int64))

    def __getitem__(self, term: str) -> Posting:
        found = []
        for part, start, live in zip(self.parts, self._starts.tolist(), self._live, strict=False):
            documents, frequencies = part[term]
            if live is not None and len(documents):
                held = live[documents]
                documents, frequencies = documents[held], frequencies[held]
            if len(documents):
                found.append((documents + np.int32(start) if start else documents, frequencies))
        if not found:
            return Posting(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
        if len(found) == 1:
            return Posting(*found[0])
        return Posting(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))

    def counts_at(self, term: str, rows: Numbers) -> NDArray[np.int32]:
        """How often each of some documents holds a term; those that are gone hold none."""
        found = np.zeros(len(rows), dtype=np.int32)
        for part, start in zip(self.parts, self._starts.tolist(), strict=False):
            found += part.counts_at(term, rows - start)
        return found if self.live is None else np.where(self.live[rows], found, np.int32(0))

    def without_gone(self) -> Postings:
        """One part of them all with every number as it is; documents that are gone stand in no list, and are empty."""
        merged = self.merged()
        if self.live is None:
            return merged
        held = self.live[merged.documents]
        ends = np.concatenate([[0], np.cumsum(held)])
        lengths = np.where(self.live, merged.lengths, 0).astype(np.int32)
        kept = merged.documents[held], merged.frequencies[held]
        return Postings(merged.terms, ends[merged.offsets], *kept, lengths)

    def merged(self, keep: Live | None = None) -> Postings:
        """One part of them all, of the documents to keep, renumbered without gaps."""
        if len(self.parts) == 1 and (keep is None or keep.all()):
            return self.parts[0]
        kept = np.ones(self.document_count, bool) if keep is None else np.asarray(keep)
        return _merged(self.parts, self._starts.tolist(), kept, self.lengths)


def _merged(parts: Sequence[Postings], starts: Sequence[int], keep: Live, lengths: NDArray[np.int32]) -> Postings:
    """Each part's list of a term goes behind those of the parts before: places are counted, nothing is sorted."""
    number_of = np.cumsum(keep) - 1
    names = sorted({term for part in parts for term in part.terms})  # code points sort as their UTF-8 bytes do
    place_of = {term: place for place, term in enumerate(names)}
    pieces, counts = [], np.zeros((len(parts), len(names)), dtype=np.int64)
    for row, (part, start) in enumerate(zip(parts, starts, strict=False)):
        term_of = np.fromiter((place_of[term] for term in part.terms), np.int64, len(part.terms))
        terms = np.repeat(term_of, np.diff(part.offsets))
        documents = np.asarray(part.documents, dtype=np.int64) + start
        held = keep[documents]
        pieces.append((terms[held], number_of[documents[held]].astype(np.int32), part.frequencies[held]))
        counts[row] = np.bincount(terms[held], minlength=len(names))
    used = np.flatnonzero(counts.any(axis=0))
    offsets = np.concatenate([[0], np.cumsum(counts[:, used].sum(axis=0))])
    all_documents, frequencies = (np.empty(offsets[-1], dtype=np.int32) for _ in range(2))
    first = np.zeros(len(names), dtype=np.int64)
    first[used] = offsets[:-1]
    for (terms, numbers, times), count in zip(pieces, counts, strict=True):
        places = _places(first, terms, count)
        all_documents[places], frequencies[places] = numbers, times
        first += count
    table = StringTable.of(names[place] for place in used.tolist())
    return Postings(table, offsets, all_documents, frequencies, np.asarray(lengths[keep], dtype=np.int32))


def _places(first: Numbers, terms: Numbers, count: Numbers) -> Numbers:
    """Where the entries of a part go: they come grouped by term, the terms ascending."""
    within = np.arange(len(terms)) - np.repeat((np.cumsum(count) - count), count)
    places: Numbers = first[terms] + within
    return places

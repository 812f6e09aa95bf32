"""The inverted lists of several parts, searched as if all their documents had been indexed at once.

Document i of part p has the number  start_p + i,  start_p being how many documents the parts before have. A term is
looked up in each part; lists and lengths are put one after the other, so that frequencies, lengths and scores are those
of one index over all documents. Documents that are gone keep their number, but stand in no list and count nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.strings import StringTable
from isogloss.lexical.postings import Posting, Postings

Live = NDArray[np.bool_]
Numbers = NDArray[np.int64]


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

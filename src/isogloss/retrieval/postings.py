"""Inverted lists: for each term, the documents that contain it and how often. Flat arrays, memory-mapped from disk.

``Postings`` are the lists of documents that were indexed together. ``JoinedPostings`` searches several of them as if
all their documents had been indexed at once: document i of part p has the number start_p + i, start_p being the number
of documents in the parts before it. Deleted documents keep their number, but are in no list and in no statistic.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.list_checks import ARRAYS, ListChecks
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.compiled import pays
from isogloss.storage.strings import StringTable
from isogloss.text.batches import TokenizedTexts

_TOKENS_A_SECOND = 6_000_000  # by sorting

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]
Live = NDArray[np.bool_]


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
    from isogloss.retrieval.compiled import count_texts, fill_lists  # imports numba

    offsets = np.zeros(len(rank) + 1, np.int64)
    np.cumsum(count_texts(ids, starts, rank), out=offsets[1:])
    documents, frequencies = np.empty((2, int(offsets[-1])), np.int32)
    fill_lists(ids, starts, rank, offsets[:-1].copy(), documents, frequencies)
    return Inverted(offsets, documents, frequencies)


def _by_sorting(ids: Ids, starts: Numbers, rank: Numbers) -> Inverted:
    """One sort of (term, text) keys, then a count of equal keys."""
    lengths = np.diff(starts)
    count = max(1, len(lengths))
    keys = rank[ids] * count + np.repeat(np.arange(len(lengths)), lengths) if len(ids) else rank[:0].copy()
    keys.sort()
    runs = np.flatnonzero(np.diff(keys, prepend=-1))
    frequencies = np.diff(runs, append=len(keys)).astype(np.int32)
    term_of, document_of = np.divmod(keys[runs], count)
    return Inverted(np.searchsorted(term_of, np.arange(len(rank) + 1)), document_of.astype(np.int32), frequencies)


class Posting(NamedTuple):
    """The documents that contain a term, ascending, and how often each does."""

    documents: Ids
    frequencies: Ids

    def at(self, rows: Numbers) -> Ids:
        """How often each of some documents, in any order, contains the term. Only these documents are looked up.

        >>> Posting(np.array([2, 5, 9], np.int32), np.array([1, 4, 2], np.int32)).at(np.array([9, 3, 5, 70, -1]))
        array([2, 0, 4, 0, 0], dtype=int32)
        """
        counts = np.zeros(len(rows), dtype=np.int32)
        if len(self.documents):
            wanted = rows.astype(self.documents.dtype)  # else all of the list would be cast
            positions = np.minimum(np.searchsorted(self.documents, wanted), len(self.documents) - 1)
            found = self.documents[positions] == wanted
            counts[found] = self.frequencies[positions[found]]
        return counts


class Postings:
    """The inverted lists of a collection, and the length of each of its documents in terms.

    Lists from files are checked by ``span``; who reads the arrays without it calls ``check_all`` before.
    """

    def __init__(
        self, terms: StringTable, offsets: Numbers, documents: Ids, frequencies: Ids, lengths: Ids,
        checks: ListChecks | None = None,
    ) -> None:  # fmt: skip
        self.terms, self.lengths = terms, lengths
        self.offsets, self.documents, self.frequencies = offsets, documents, frequencies
        self._checks = checks
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
        """The number of documents."""
        return len(self.lengths)

    def span(self, term: str) -> tuple[int, int]:
        """Where the list of a term begins and ends in ``documents`` and ``frequencies``."""
        number = self._find(term)
        if number is None:
            return 0, 0
        if self._checks is not None:
            self._checks.check(number)
        return int(self.offsets[number]), int(self.offsets[number + 1])

    def __getitem__(self, term: str) -> Posting:
        begin, end = self.span(term)
        return Posting(self.documents[begin:end], self.frequencies[begin:end])

    def counts_within(self, chosen: Live, prefix: str, after: str) -> Iterator[tuple[str, int]]:
        """Each term from ``prefix`` up to ``after`` that some of the ``chosen`` documents contain, and how many do."""
        first, last = bisect_left(self.terms, prefix), bisect_left(self.terms, after)
        if self._checks is not None:
            for number in range(first, last):
                self._checks.check(number)
        offsets = self.offsets[first : last + 1]
        found = np.concatenate([[0], np.cumsum(chosen[self.documents[offsets[0] : offsets[-1]]])])
        counts = np.diff(found[offsets - offsets[0]])
        for number in np.flatnonzero(counts).tolist():
            yield self.terms[first + number], int(counts[number])

    def check_all(self) -> Postings:
        """These lists, all of which are checked; a ``ValueError`` if one is damaged."""
        if self._checks is not None:
            self._checks.check_all()
        return self

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        self.terms.save(directory, "terms")
        for name in ARRAYS:
            save_array(directory / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, directory: Path) -> Postings:
        """Map what ``save`` wrote; a ``ValueError`` if it is damaged."""
        terms = StringTable.load(directory, "terms")
        offsets, documents, frequencies, lengths = (load_array(directory / f"{name}.npy") for name in ARRAYS)
        checks = ListChecks(directory, offsets, documents, frequencies, lengths, len(terms))
        return cls(terms, offsets, documents, frequencies, lengths, checks)


class JoinedPostings:
    """Several inverted lists as one; ``live`` says which documents are not deleted."""

    def __init__(self, parts: Sequence[Postings], live: Live | None = None) -> None:
        self.parts = list(parts)
        self.live = live
        self._starts = np.cumsum([0, *(part.document_count for part in parts)])
        spans = [slice(*ends) for ends in pairwise(self._starts.tolist())]
        self.live_parts = [None if live is None or live[span].all() else live[span] for span in spans]

    @classmethod
    def load(cls, directories: Sequence[Path]) -> JoinedPostings:
        """Map what ``Postings.save`` wrote into each directory."""
        return cls([Postings.load(directory) for directory in directories])

    def counting_only(self, live: Live) -> JoinedPostings:
        """The same lists, with all but the ``live`` documents deleted."""
        return JoinedPostings(self.parts, live)

    @cached_property
    def lengths(self) -> Ids:
        """The number of terms in each document."""
        if len(self.parts) == 1:
            return self.parts[0].lengths
        return np.concatenate([np.zeros(0, np.int32), *(part.lengths for part in self.parts)])

    @property
    def document_count(self) -> int:
        """The number of documents, deleted ones included."""
        return int(self._starts[-1])

    @cached_property
    def _gone(self) -> list[Numbers]:
        """The deleted documents of each part."""
        return [np.zeros(0, np.int64) if live is None else np.flatnonzero(~live) for live in self.live_parts]

    @cached_property
    def counted(self) -> int:
        """The number of documents that are not deleted."""
        return self.document_count if self.live is None else int(np.count_nonzero(self.live))

    @cached_property
    def total_length(self) -> int:
        """The number of terms in all documents that are not deleted."""
        lengths = self.lengths if self.live is None else self.lengths[self.live]
        return int(lengths.sum(dtype=np.int64))

    def __getitem__(self, term: str) -> Posting:
        found = []
        for part, start, live in zip(self.parts, self._starts.tolist(), self.live_parts, strict=False):
            documents, frequencies = part[term]
            if live is not None and len(documents):
                kept = live[documents]
                documents, frequencies = documents[kept], frequencies[kept]
            if len(documents):
                found.append((documents + np.int32(start) if start else documents, frequencies))
        if not found:
            return Posting(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
        if len(found) == 1:
            return Posting(*found[0])
        return Posting(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))

    def counts_within(self, rows: Numbers, prefix: str, after: str) -> Counter[str]:
        """For each term from ``prefix`` up to ``after``: how many of some documents contain it."""
        chosen = np.zeros(self.document_count, dtype=bool)
        chosen[rows] = True
        counts = Counter[str]()
        for part, (start, end) in zip(self.parts, pairwise(self._starts.tolist()), strict=True):
            counts.update(dict(part.counts_within(chosen[start:end], prefix, after)))
        return counts

    def document_frequency(self, term: str) -> int:
        """The number of documents that contain a term."""
        found = 0
        for part, live, gone in zip(self.parts, self.live_parts, self._gone, strict=True):
            begin, end = part.span(term)
            found += end - begin
            if live is not None and len(gone) < end - begin:  # the shorter of the two is looked up
                found -= int(np.count_nonzero(part[term].at(gone)))
            elif live is not None:
                found -= int(np.count_nonzero(~live[part.documents[begin:end]]))
        return found

    def counts_at(self, term: str, rows: Numbers) -> Ids:
        """How often each of some documents contains a term; 0 for deleted documents."""
        counts = np.zeros(len(rows), dtype=np.int32)
        for part, start in zip(self.parts, self._starts.tolist(), strict=False):
            counts += part[term].at(rows - start)
        return counts if self.live is None else np.where(self.live[rows], counts, np.int32(0))

    def without_gone(self) -> Postings:
        """One part with every number as it is; deleted documents are in no list, and empty."""
        merged = self.merged()
        if self.live is None:
            return merged
        kept = self.live[merged.documents]
        ends = np.concatenate([[0], np.cumsum(kept)])
        lengths = np.where(self.live, merged.lengths, 0).astype(np.int32)
        return Postings(merged.terms, ends[merged.offsets], merged.documents[kept], merged.frequencies[kept], lengths)

    def merged(self, keep: Live | None = None) -> Postings:
        """One part of the documents to keep, renumbered without gaps.

        Each part's list of a term goes behind those of the parts before: positions are counted, nothing is sorted.
        """
        if len(self.parts) == 1 and (keep is None or keep.all()):
            return self.parts[0].check_all()
        keep = np.ones(self.document_count, bool) if keep is None else np.asarray(keep)
        number_of = np.cumsum(keep) - 1
        names = sorted({term for part in self.parts for term in part.terms})  # code points sort as UTF-8 bytes do
        rank_of = {term: rank for rank, term in enumerate(names)}
        kept, counts = [], np.zeros((len(self.parts), len(names)), dtype=np.int64)
        for row, (part, start) in enumerate(zip(self.parts, self._starts.tolist(), strict=False)):
            ranks = np.fromiter((rank_of[term] for term in part.terms), np.int64, len(part.terms))
            terms = np.repeat(ranks, np.diff(part.check_all().offsets))
            documents = np.asarray(part.documents, dtype=np.int64) + start
            live = keep[documents]
            kept.append((terms[live], number_of[documents[live]].astype(np.int32), part.frequencies[live]))
            counts[row] = np.bincount(terms[live], minlength=len(names))
        used = np.flatnonzero(counts.any(axis=0))
        offsets = np.concatenate([[0], np.cumsum(counts[:, used].sum(axis=0))])
        documents, frequencies = np.empty((2, int(offsets[-1])), dtype=np.int32)
        first = np.zeros(len(names), dtype=np.int64)
        first[used] = offsets[:-1]
        for (terms, numbers, times), count in zip(kept, counts, strict=True):
            within = np.arange(len(terms)) - np.repeat(np.cumsum(count) - count, count)  # entries come term by term
            positions = first[terms] + within
            documents[positions], frequencies[positions] = numbers, times
            first += count
        table = StringTable.of(names[rank] for rank in used.tolist())
        return Postings(table, offsets, documents, frequencies, np.asarray(self.lengths[keep], dtype=np.int32))

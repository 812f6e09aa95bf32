"""BM25 over structured queries.

A query is a list of concepts; a concept is one thing the searcher asks for, said by one or more weighted terms (the
translations of a query word). With tf(c, d) = sum_t w_t tf(t, d):

    score(q, d) = sum_c n_c idf(c) tf(c, d) / (tf(c, d) + k1 (1 - b + b |d| / avg|d|))
    idf(c) = ln(1 + (N - df(c) + 0.5) / (df(c) + 0.5))

(Robertson's BM25 as Lucene computes it, without the constant k1 + 1). A concept of one term is plain BM25. df(c) of
several terms is the number of documents that hold any of them (Pirkola 1998, "synonyms") or sum_t w_t df(t) (Darwish
and Oard 2003, probabilistic structured queries), so that synonyms do not add up as independent evidence.

No library at hand scores concepts: tantivy and bm25s sum over terms. Hence our own inverted lists, in plain numpy;
``benchmarks/bm25.py`` compares speed and results with theirs. Here all documents are scored, or those named;
``bm25_search`` finds the best without scoring all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.lexical.postings import InvertedLists, Posting

_KEPT = 1024  # concepts of which df(c) is remembered: a query's hits are explained one by one

Terms = tuple[tuple[str, float], ...]


class Concept(NamedTuple):
    """Terms with weights that say one thing; ``words`` is what the query says, ``times`` how often."""

    words: str
    terms: Terms
    times: float = 1.0


class _Evidence(NamedTuple):
    """The documents that hold a concept, each once, and tf(c, d) there; df(c)."""

    documents: NDArray[np.int32]
    frequencies: NDArray[np.float32]
    document_frequency: float


class BM25:
    """Scores all documents of inverted lists. ``expected_df`` chooses sum_t w_t df(t) over counting the union.

    The defaults of k1 and b are Lucene's. Nothing but df(c) is kept between calls, so that threads may share a scorer.
    """

    def __init__(self, postings: InvertedLists, k1: float = 1.2, b: float = 0.75, expected_df: bool = False) -> None:
        self.postings = postings
        self.expected_df = expected_df
        mean = postings.total_length / max(1, postings.counted)
        self._document_frequency = lru_cache(_KEPT)(self._count_documents)
        self.saturation = (k1 * (1 - b + b * postings.lengths / (mean or 1.0))).astype(np.float32)

    def scores(self, concepts: Sequence[Concept]) -> NDArray[np.float32]:
        """The score of every document."""
        scores = np.zeros(self.postings.document_count, dtype=np.float32)
        for concept in concepts:
            np.add.at(scores, *self.contributions(concept))  # faster than += at an index, which reads, adds and writes
        return scores

    def scores_at(self, concepts: Sequence[Concept], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of some documents, to the last bit those of ``scores``: only their places are looked up."""
        scores = np.zeros(len(rows), dtype=np.float32)
        for concept in concepts:
            scores += self.contributions_at(concept, rows)
        return scores

    def contributions_at(self, concept: Concept, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """What a concept adds to the score of each of some documents."""
        frequencies = np.zeros(len(rows), dtype=np.float32)
        for term, weight in concept.terms:
            if weight:
                frequencies += self.postings.counts_at(term, rows).astype(np.float32) * np.float32(weight)
        held = np.flatnonzero(frequencies)
        parts = np.zeros(len(rows), dtype=np.float32)
        parts[held] = frequencies[held] / (self.saturation[rows[held]] + frequencies[held])
        parts *= np.float32(concept.times * self.idf(concept.terms))
        return parts

    def contributions(self, concept: Concept) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The documents a concept occurs in and what it adds to the score of each."""
        documents, frequencies, df = self._evidence(concept)
        parts = self.saturation.take(documents)
        parts += frequencies
        np.divide(frequencies, parts, out=parts)
        parts *= np.float32(concept.times * self._idf(df))
        return documents, parts

    def best_possible(self, concepts: Sequence[Concept]) -> float:
        """What a document would score that held every concept of the query without end: sum_c n_c idf(c).

        A concept that no document holds counts like one that a single document holds: the query asked for it in vain.
        """
        found = ((concept.times, self._document_frequency(concept.terms)) for concept in concepts)
        return sum(times * self._idf(frequency or 1.0) for times, frequency in found)

    def idf(self, terms: Terms) -> float:
        """idf(c) of a concept of these terms."""
        return self._idf(self._document_frequency(terms))

    def _idf(self, document_frequency: float) -> float:
        return math.log1p((self.postings.counted - document_frequency + 0.5) / (document_frequency + 0.5))

    def _count_documents(self, terms: Terms) -> float:
        """df(c), which takes reading whole lists."""
        lists = [(self.postings[term].documents, weight) for term, weight in terms if weight]
        if self.expected_df:
            return float(sum(weight * len(documents) for documents, weight in lists))
        if len(lists) == 1:
            return float(len(lists[0][0]))
        held = np.zeros(self.postings.document_count, dtype=bool)
        for documents, _ in lists:
            held[documents] = True
        return float(np.count_nonzero(held))

    def _evidence(self, concept: Concept) -> _Evidence:
        lists = [(self.postings[term], weight) for term, weight in concept.terms]
        lists = [(posting, weight) for posting, weight in lists if weight and len(posting.documents)]
        if len(lists) == 1:
            (documents, counts), weight = lists[0]
            frequencies = counts.astype(np.float32)
            if weight != 1.0:
                frequencies *= np.float32(weight)
        else:
            documents, frequencies = self._sum(lists)
        expected = sum(weight * len(posting.documents) for posting, weight in lists)
        return _Evidence(documents, frequencies, expected if self.expected_df else float(len(documents)))

    def _sum(self, lists: Sequence[tuple[Posting, float]]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The documents of several lists, each once, and their weighted frequencies added up."""
        sums = np.zeros(self.postings.document_count, dtype=np.float32)
        for posting, weight in lists:
            np.add.at(sums, posting.documents, posting.frequencies.astype(np.float32) * np.float32(weight))
        documents = np.flatnonzero(sums > 0).astype(np.int32)
        return documents, sums[documents]

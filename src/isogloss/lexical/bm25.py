"""BM25 over structured queries.

A query is a list of concepts; a concept is one thing the searcher asks for, said by one or more weighted terms (the
translations of a query word). With tf(c, d) = sum_t w_t tf(t, d):

    score(q, d) = sum_c n_c idf(c) tf(c, d) / (tf(c, d) + k1 (1 - b + b |d| / avg|d|))
    idf(c) = ln(1 + (N - df(c) + 0.5) / (df(c) + 0.5))

(Robertson's BM25 as Lucene computes it, without the constant k1 + 1). A concept of one term is plain BM25. df(c) of
several terms is the number of documents that hold any of them (Pirkola 1998, "synonyms") or sum_t w_t df(t) (Darwish
and Oard 2003, probabilistic structured queries), so that synonyms do not add up as independent evidence.

No library at hand scores concepts: tantivy and bm25s sum over terms. Hence our own inverted lists, in plain numpy;
``benchmarks/bm25.py`` compares speed and results with theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.lexical.postings import InvertedLists, Posting


class Concept(NamedTuple):
    """Terms with weights that say one thing; ``words`` is what the query says, ``times`` how often."""

    words: str
    terms: tuple[tuple[str, float], ...]
    times: float = 1.0


class _Evidence(NamedTuple):
    """The documents that hold a concept, each once, and tf(c, d) there; df(c)."""

    documents: NDArray[np.int32]
    frequencies: NDArray[np.float32]
    document_frequency: float


class BM25:
    """Scores all documents of inverted lists. ``expected_df`` chooses sum_t w_t df(t) over counting the union.

    The defaults of k1 and b are Lucene's. Nothing is kept between calls, so that threads may share a scorer.
    """

    def __init__(self, postings: InvertedLists, k1: float = 1.2, b: float = 0.75, expected_df: bool = False) -> None:
        self.postings = postings
        self.expected_df = expected_df
        mean = postings.total_length / max(1, postings.counted)
        self._saturation = (k1 * (1 - b + b * postings.lengths / (mean or 1.0))).astype(np.float32)

    def scores(self, concepts: Sequence[Concept]) -> NDArray[np.float32]:
        """The score of every document."""
        scores = np.zeros(self.postings.document_count, dtype=np.float32)
        for concept in concepts:
            np.add.at(scores, *self.contributions(concept))  # faster than += at an index, which reads, adds and writes
        return scores

    def contributions(self, concept: Concept) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The documents a concept occurs in and what it adds to the score of each."""
        documents, frequencies, df = self._evidence(concept)
        parts = self._saturation.take(documents)
        parts += frequencies
        np.divide(frequencies, parts, out=parts)
        parts *= np.float32(concept.times * self._idf(df))
        return documents, parts

    def best_possible(self, concepts: Sequence[Concept]) -> float:
        """What a document would score that held every concept of the query without end: sum_c n_c idf(c).

        A concept that no document holds counts like one that a single document holds: the query asked for it in vain.
        """
        return sum(concept.times * self._idf(self._evidence(concept).document_frequency or 1.0) for concept in concepts)

    def _idf(self, document_frequency: float) -> float:
        return math.log1p((self.postings.counted - document_frequency + 0.5) / (document_frequency + 0.5))

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

"""BM25 over structured queries, and the search for its best documents.

A query is a list of concepts. A concept is one or more weighted terms with one meaning, such as the translations of a
query word. With tf(c, d) = sum_t w_t tf(t, d):

    score(q, d) = sum_c n_c idf(c) tf(c, d) / (tf(c, d) + k1 (1 - b + b |d| / avg|d|))
    idf(c) = ln(1 + (N - df(c) + 0.5) / (df(c) + 0.5))

(Robertson's BM25 as Lucene computes it, without the constant k1 + 1). A concept of one term is plain BM25. df(c) of
several terms is the number of documents that contain any of them (Pirkola 1998, "synonyms") or sum_t w_t df(t) (Darwish
and Oard 2003, probabilistic structured queries), so that synonyms do not add up as if they were independent.

``BM25`` scores all documents, or some. ``BM25Search`` finds the best without scoring the others; its ranking is that of
all scores, to the last bit. It is MaxScore (Turtle and Flood 1995). A concept adds less than

    u(c) = n_c idf(c)

to a score. (The highest that it adds to any would be a better bound, but finding it means to read all of its lists, and
costs more than it saves.) Concepts with large bounds are read first: they are the rare ones, with short lists. Once
the k-th best of the sums so far is above what the other concepts can add together, a document with only those cannot be
among the best: their lists, the long ones, are not read, and the documents found so far are looked up in them.
``compiled.py`` does the same faster, for a process with many queries. Where the lists are short, or many results are
wanted, all documents are scored, which is faster.

No library at hand scores concepts: tantivy and bm25s sum over terms. ``benchmarks/bm25.py`` compares speed and results
with theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from itertools import accumulate
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.postings import JoinedPostings, Posting, Postings
from isogloss.retrieval.ranking import Allowed, Ranking, top_k
from isogloss.storage.compiled import CompileLater
from isogloss.text.batches import TokenizedTexts

MANY = 100_000_000
"""Documents, summed over queries, that numpy searches in the time in which compiled code is loaded."""
_CACHED_CONCEPTS = 20_000
_FEW_RESULTS = 10_000  # for more, all scores are sorted
_FEW_DOCUMENTS = 200_000  # that numpy scores all in less time than it takes to choose
_ENTRIES_A_LOOKUP = 80  # that numpy reads while one of the best is looked up in one list to be scored again
_ALL = np.zeros(0, dtype=bool)

Terms = tuple[tuple[str, float], ...]
Floats = NDArray[np.float32]
Order = NDArray[np.int64]


class Concept(NamedTuple):
    """Weighted terms with one meaning; ``words`` is what the query has for it, ``times`` how often."""

    words: str
    terms: Terms
    times: float = 1.0


class Matches(NamedTuple):
    """What a concept adds to the scores of some documents, and how often each of them has each of its terms."""

    contributions: Floats
    counts: dict[str, NDArray[np.int32]]


class BM25:
    """Scores the documents of inverted lists. ``expected_df`` chooses sum_t w_t df(t) over the size of the union.

    The defaults of k1 and b are Lucene's. Only df(c) is cached between calls, so that threads may share a scorer.
    """

    def __init__(
        self, postings: Postings | JoinedPostings, k1: float = 1.2, b: float = 0.75, expected_df: bool = False
    ) -> None:
        self.postings = JoinedPostings([postings]) if isinstance(postings, Postings) else postings
        self.expected_df = expected_df
        mean = self.postings.total_length / max(1, self.postings.counted)
        self._document_frequency = lru_cache(_CACHED_CONCEPTS)(self._count_documents)
        self.saturation = (k1 * (1 - b + b * self.postings.lengths / (mean or 1.0))).astype(np.float32)

    def scores(self, concepts: Sequence[Concept]) -> NDArray[np.float32]:
        """The score of every document."""
        scores = np.zeros(self.postings.document_count, dtype=np.float32)
        for concept in concepts:
            np.add.at(scores, *self.contributions(concept))  # faster than += at an index, which reads, adds and writes
        return scores

    def scores_at(self, concepts: Sequence[Concept], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of some documents, the same as in ``scores`` to the last bit."""
        scores = np.zeros(len(rows), dtype=np.float32)
        for concept in concepts:
            scores += self.contributions_at(concept, rows)
        return scores

    def contributions_at(self, concept: Concept, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """What a concept adds to the score of each of some documents. Only these documents are looked up."""
        return self.matches_at(concept, rows).contributions

    def matches_at(self, concept: Concept, rows: NDArray[np.int64]) -> Matches:
        """The same, with the counts of the terms."""
        counts = {term: self.postings.counts_at(term, rows) for term, _ in concept.terms}
        frequencies = np.zeros(len(rows), dtype=np.float32)
        for term, weight in concept.terms:
            if weight:
                frequencies += counts[term].astype(np.float32) * np.float32(weight)
        found = np.flatnonzero(frequencies)
        parts = np.zeros(len(rows), dtype=np.float32)
        parts[found] = frequencies[found] / (self.saturation[rows[found]] + frequencies[found])
        parts *= np.float32(concept.times * self.idf(concept.terms))
        return Matches(parts, counts)

    def contributions(self, concept: Concept) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The documents a concept occurs in and what it adds to the score of each."""
        lists = [(self.postings[term], weight) for term, weight in concept.terms]
        lists = [(posting, weight) for posting, weight in lists if weight and len(posting.documents)]
        documents, frequencies = self._frequencies(lists)
        expected = sum(weight * len(posting.documents) for posting, weight in lists)
        df = expected if self.expected_df else float(len(documents))
        parts = self.saturation.take(documents)
        parts += frequencies
        np.divide(frequencies, parts, out=parts)
        parts *= np.float32(concept.times * self._idf(df))
        return documents, parts

    def best_possible(self, concepts: Sequence[Concept]) -> float:
        """The score of a document with infinitely many occurrences of every concept: sum_c n_c idf(c).

        A concept that is in no document counts like one that is in a single document.
        """
        found = ((concept.times, self._document_frequency(concept.terms)) for concept in concepts)
        return sum(times * self._idf(frequency or 1.0) for times, frequency in found)

    def idf(self, terms: Terms) -> float:
        """idf(c) of a concept of these terms."""
        return self._idf(self._document_frequency(terms))

    def _idf(self, document_frequency: float) -> float:
        return math.log1p((self.postings.counted - document_frequency + 0.5) / (document_frequency + 0.5))

    def _count_documents(self, terms: Terms) -> float:
        """df(c)."""
        weights = {term: weight for term, weight in terms if weight}
        if self.expected_df:
            return float(sum(weight * self.postings.document_frequency(term) for term, weight in terms if weight))
        if len(weights) == 1:
            return float(self.postings.document_frequency(*weights))
        if compiled := FAST.functions(0):
            return float(self._count_union(compiled, [*weights]))
        found = np.zeros(self.postings.document_count, dtype=bool)
        for term in weights:
            found[self.postings[term].documents] = True
        return float(np.count_nonzero(found))

    def _count_union(self, compiled: ModuleType, terms: Sequence[str]) -> int:
        count = 0
        for part, live in zip(self.postings.parts, self.postings.live_parts, strict=True):
            seen = np.zeros(part.document_count, dtype=bool) if live is None else ~live
            spans = np.asarray([part.span(term) for term in terms], dtype=np.int64)
            count += compiled.count_unseen(_fixed(part.documents, np.int32), spans, seen)
        return count

    def _frequencies(self, lists: Sequence[tuple[Posting, float]]) -> tuple[NDArray[np.int32], Floats]:
        """The documents of several lists, each once, and their weighted frequencies added up."""
        if len(lists) == 1:
            (documents, counts), weight = lists[0]
            frequencies = counts.astype(np.float32)
            return documents, frequencies if weight == 1.0 else frequencies * np.float32(weight)
        sums = np.zeros(self.postings.document_count, dtype=np.float32)
        for posting, weight in lists:
            np.add.at(sums, posting.documents, posting.frequencies.astype(np.float32) * np.float32(weight))
        documents = np.flatnonzero(sums > 0).astype(np.int32)
        return documents, sums[documents]


def compile_later(many: float = MANY) -> CompileLater:
    """The compiled search, for a process that has searched so many documents without it."""
    return CompileLater(lambda: import_module("isogloss.retrieval.compiled"), many)


FAST = compile_later()
"""Of this process."""


class _TermStatistics(NamedTuple):
    """Of a concept: idf(c), and where the list of term t begins and ends in part p: ``spans[p, t]``.

    ``entries`` is the number of entries in these lists together.
    """

    idf: float
    weights: Floats
    spans: NDArray[np.int64]
    entries: int


class _QueryTerms(NamedTuple):
    """The concepts of a query that occur, the statistics of each, and u(c) = n_c idf(c)."""

    concepts: list[Concept]
    statistics: list[_TermStatistics]
    factors: Floats

    @property
    def terms(self) -> int:
        """The number of their lists."""
        return sum(len(each.weights) for each in self.statistics)

    @property
    def entries(self) -> int:
        """The number of entries in these lists."""
        return sum(each.entries for each in self.statistics)

    @property
    def exactness(self) -> float:
        """What is below this share of a score is less than it, in whatever order parts were added and rounded.

        n additions and four operations a part err by 2^-24 each, in the score and in the sum. This is twice that.
        """
        return 1 - (len(self.concepts) + 4) * 2.0**-21


class BM25Search:
    """Searches what a BM25 scores; ``fast`` decides when compiled code does. Threads may share it."""

    def __init__(self, bm25: BM25, fast: CompileLater | None = None) -> None:
        self._bm25, self._fast = bm25, fast or FAST
        self._statistics: dict[Terms, _TermStatistics | None] = {}
        lists = bm25.postings
        self._size = lists.document_count
        self._live = _ALL if lists.live is None else lists.live
        starts = [*accumulate((part.document_count for part in lists.parts), initial=0)]
        self._parts = [
            (start, _fixed(part.documents, np.int32), _fixed(part.frequencies, np.int32), bm25.saturation[start:end])
            for part, start, end in zip(lists.parts, starts, starts[1:], strict=False)
        ]

    def best(self, concepts: Sequence[Concept], k: int, id_order: Order, allowed: Allowed | None = None) -> Ranking:
        """The ``k`` best of the documents, or of those allowed, that score above 0; ties go by ``id_order``."""
        compiled = self._fast.functions(self._size)
        if not 0 < k <= _FEW_RESULTS or (compiled is None and self._size < _FEW_DOCUMENTS):
            return self._best_of_all(concepts, k, id_order, allowed)
        query = self._query_terms(concepts)
        fits = len(id_order) == self._size and (allowed is None or len(allowed) == self._size)
        short = compiled is not None and query.entries < _ENTRIES_A_LOOKUP * query.terms * k
        if short or not query.concepts or not fits or not (query.factors > 0).all():
            return self._best_of_all(concepts, k, id_order, allowed)
        if compiled:
            return self._best_compiled(compiled, query, k, id_order, allowed)
        return self._best_in_numpy(query, k, id_order, allowed)

    def _best_of_all(self, concepts: Sequence[Concept], k: int, id_order: Order, allowed: Allowed | None) -> Ranking:
        scores = self._bm25.scores(concepts)
        return top_k(scores if allowed is None else np.where(allowed, scores, -np.inf), k, id_order, above=0.0)

    def _best_in_numpy(self, query: _QueryTerms, k: int, id_order: Order, allowed: Allowed | None) -> Ranking:
        order = np.argsort(query.factors)[::-1].tolist()
        rests = [*accumulate(query.factors[order[::-1]].tolist(), initial=0.0)][::-1]
        sums = np.zeros(self._size, dtype=np.float32)
        found: list[NDArray[np.int32]] = []
        least, read = 0.0, 0
        while read < len(order) and rests[read] >= least:
            documents, parts = self._bm25.contributions(query.concepts[order[read]])
            np.add.at(sums, documents, parts)
            found.append(documents if allowed is None else documents[allowed[documents]])
            least = max(least, query.exactness * _kth_best(sums[found[-1]], k))
            read += 1
        rows, partial = _taken(sums, found, least - rests[read])
        for number, rest in zip(order[read:], rests[read + 1 :], strict=True):
            partial += self._bm25.contributions_at(query.concepts[number], rows)
            able = partial >= max(least, query.exactness * _kth_best(partial, k)) - rest
            rows, partial = rows[able], partial[able]
        return top_k(self._bm25.scores_at(query.concepts, rows), k, id_order, rows, above=0.0)

    def _best_compiled(
        self, compiled: ModuleType, query: _QueryTerms, k: int, id_order: Order, allowed: Allowed | None
    ) -> Ranking:
        order = np.argsort(query.factors)
        reach = [*accumulate(query.factors[order].tolist(), initial=0.0)]
        first = [0, *accumulate(len(each.weights) for each in query.statistics)]
        weights = np.concatenate([each.weights for each in query.statistics])
        compiled_query = compiled.Query(
            np.asarray(first), weights, query.factors, order, np.asarray(reach), query.exactness
        )
        spans = np.concatenate([each.spans for each in query.statistics], axis=1)
        size = min(k, self._size)
        best = compiled.Best(np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.int64))
        masks = _fixed(_ALL if allowed is None else allowed, np.bool_), _fixed(self._live, np.bool_)
        ids = _fixed(id_order, np.int64)
        count = 0
        for part, (start, *lists) in enumerate(self._parts):
            rows = compiled.Rows(start, *masks, ids)
            count = compiled.search_part(compiled.Lists(*lists), compiled_query, spans[part], rows, best, count)
        return top_k(best.scores[:count], k, id_order, best.rows[:count])

    def _query_terms(self, concepts: Sequence[Concept]) -> _QueryTerms:
        pairs = [(concept, self._statistics_of(concept.terms)) for concept in concepts]
        found = [(concept, statistics) for concept, statistics in pairs if statistics is not None]
        factors = np.asarray([concept.times * statistics.idf for concept, statistics in found], dtype=np.float32)
        return _QueryTerms([concept for concept, _ in found], [each for _, each in found], factors)

    def _statistics_of(self, terms: Terms) -> _TermStatistics | None:
        cached = self._statistics  # another thread may replace it meanwhile
        if terms not in cached:
            if len(cached) >= _CACHED_CONCEPTS:
                self._statistics = cached = {}
            cached[terms] = self._compute_statistics(terms)
        return cached[terms]

    def _compute_statistics(self, terms: Terms) -> _TermStatistics | None:
        occurring = [(term, weight) for term, weight in terms if weight]
        parts = self._bm25.postings.parts
        spans = np.asarray([[part.span(term) for term, _ in occurring] for part in parts], dtype=np.int64)
        entries = int((spans[..., 1] - spans[..., 0]).sum()) if spans.size else 0
        if not entries:
            return None
        weights = np.asarray([weight for _, weight in occurring], dtype=np.float32)
        return _TermStatistics(self._bm25.idf(terms), weights, spans, entries)


def _taken(sums: Floats, found: list[NDArray[np.int32]], least: float) -> tuple[NDArray[np.int64], Floats]:
    """The documents of several lists whose sum is at least this, each once, and their sums."""
    rows, taken = [], []
    for documents in found:
        here = sums[documents]
        enough = (here > 0) & (here >= least)
        rows.append(documents[enough])
        taken.append(here[enough])
        sums[rows[-1]] = 0
    return np.concatenate(rows).astype(np.int64), np.concatenate(taken)


def _kth_best(scores: Floats, k: int) -> float:
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else 0.0


def _fixed(array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """The same array, read-only: in memory or mapped, it has one type for compiled code."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def compile_ahead() -> None:
    """Compile the search, if numba is installed, and use it from now on."""
    FAST.begin()
    one = Postings.build(TokenizedTexts(["a"], np.zeros(1, dtype=np.int32), np.asarray([0, 1])))
    BM25Search(BM25(one)).best([Concept("a", (("a", 1.0),))], 1, np.zeros(1, dtype=np.int64))

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
from itertools import accumulate
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.postings import InvertedLists, Posting, Postings
from isogloss.retrieval.ranking import Ranking, top_k
from isogloss.storage.compiled import CompileLater
from isogloss.text.batches import TokenizedTexts

_KEPT = 1024  # concepts of which df(c) is remembered: a query's hits are explained one by one

Terms = tuple[tuple[str, float], ...]


class Concept(NamedTuple):
    """Terms with weights that say one thing; ``words`` is what the query says, ``times`` how often."""

    words: str
    terms: Terms
    times: float = 1.0


class _Matches(NamedTuple):
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

    def _evidence(self, concept: Concept) -> _Matches:
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
        return _Matches(documents, frequencies, expected if self.expected_df else float(len(documents)))

    def _sum(self, lists: Sequence[tuple[Posting, float]]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The documents of several lists, each once, and their weighted frequencies added up."""
        sums = np.zeros(self.postings.document_count, dtype=np.float32)
        for posting, weight in lists:
            np.add.at(sums, posting.documents, posting.frequencies.astype(np.float32) * np.float32(weight))
        documents = np.flatnonzero(sums > 0).astype(np.int32)
        return documents, sums[documents]


# The best documents of BM25, found without scoring the others: the ranking of all scores, to the last bit.
#
# MaxScore (Turtle and Flood 1995). What a concept can add to a score,
#
#     u(c) = n_c idf(c) max_d tf(c, d) / (tf(c, d) + k1 (1 - b + b |d| / avg|d|)),
#
# is worked out when the concept is first asked for, and remembered. Concepts of large bounds are read first: they are
# the rare ones, with short lists. Once the k-th best of the sums so far is above what the other concepts can add
# together, a document that holds only those cannot be among the best: their lists, the long ones, are not read, and
# the documents found so far are looked up in them. ``bm25_compiled`` does it faster, for those who ask much. Where the
# lists are short, or many results are asked for, all documents are scored: it takes less time.

Allowed = NDArray[np.bool_]
Floats = NDArray[np.float32]
Order = NDArray[np.int64]

MANY = 500_000_000
"""Documents, those of one query added to those of another, after which a process is taken to answer many more."""
_REMEMBERED = 20_000  # concepts
_FEW_RESULTS = 10_000  # for more, all scores are sorted
_FEW_DOCUMENTS = 200_000  # that numpy scores all in less time than it takes to choose
_ENTRIES_A_LOOKUP = 80  # that numpy reads while one of the best is looked up in one list to be scored anew
_ALL = np.zeros(0, dtype=bool)


def _compiled() -> ModuleType:
    from isogloss.retrieval import compiled as bm25_compiled

    return bm25_compiled


def compile_later(many: float = MANY) -> CompileLater:
    """The compiled search, for a process that has searched so many documents without it."""
    return CompileLater(_compiled, many)


FAST = compile_later()
"""Of this process."""


class _Known(NamedTuple):
    """Of a concept: idf(c), u(c) / n_c, where the list of term t begins and ends in part p: ``spans[p, t]``.

    ``entries`` is how many these lists have together.
    """

    idf: float
    largest: float
    weights: Floats
    spans: NDArray[np.int64]
    entries: int


class _QueryTerms(NamedTuple):
    """The concepts of a query that occur, what is known of each, n_c idf(c) and u(c)."""

    concepts: list[Concept]
    known: list[_Known]
    factors: Floats
    bounds: list[float]

    @property
    def terms(self) -> int:
        """How many lists they have."""
        return sum(len(known.weights) for known in self.known)

    @property
    def entries(self) -> int:
        """How many entries these lists have together."""
        return sum(known.entries for known in self.known)

    @property
    def exactness(self) -> float:
        """What lies below this share of a score is less than it, in whatever order parts were added and rounded.

        n additions and four operations a part err by 2^-24 each: in the score and the sum of either side. Twice that.
        """
        return 1 - (len(self.concepts) + 4) * 2.0**-21


class BM25Search:
    """Searches what a BM25 scores; ``fast`` decides when compiled code does. Threads may share it."""

    def __init__(self, bm25: BM25, fast: CompileLater | None = None) -> None:
        self._bm25 = bm25
        self._fast = fast or FAST
        self._remembered: dict[Terms, _Known | None] = {}
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
        asked = self._asked(concepts)
        fits = len(id_order) == self._size and (allowed is None or len(allowed) == self._size)
        if not asked.concepts or not fits or not (asked.factors > 0).all():
            return self._best_of_all(concepts, k, id_order, allowed)
        if compiled and asked.entries < _ENTRIES_A_LOOKUP * asked.terms * k:
            return self._best_of_all(concepts, k, id_order, allowed)
        if compiled:
            return self._best_compiled(compiled, asked, k, id_order, allowed)
        return self._best_in_numpy(asked, k, id_order, allowed)

    def _best_of_all(self, concepts: Sequence[Concept], k: int, id_order: Order, allowed: Allowed | None) -> Ranking:
        scores = self._bm25.scores(concepts)
        return top_k(scores if allowed is None else np.where(allowed, scores, -np.inf), k, id_order, above=0.0)

    def _best_in_numpy(self, asked: _QueryTerms, k: int, id_order: Order, allowed: Allowed | None) -> Ranking:
        order = np.argsort(asked.bounds)[::-1].tolist()
        rests = [*accumulate((asked.bounds[number] for number in reversed(order)), initial=0.0)][::-1]
        sums = np.zeros(self._size, dtype=np.float32)
        found: list[NDArray[np.int32]] = []
        least, read = 0.0, 0
        while read < len(order) and rests[read] >= least:
            documents, parts = self._bm25.contributions(asked.concepts[order[read]])
            np.add.at(sums, documents, parts)
            found.append(documents if allowed is None else documents[allowed[documents]])
            least = max(least, asked.exactness * _kth_best(sums[found[-1]], k))
            read += 1
        rows, partial = _taken(sums, found, least - rests[read])
        for number, rest in zip(order[read:], rests[read + 1 :], strict=True):
            partial += self._bm25.contributions_at(asked.concepts[number], rows)
            able = partial >= max(least, asked.exactness * _kth_best(partial, k)) - rest
            rows, partial = rows[able], partial[able]
        return top_k(self._bm25.scores_at(asked.concepts, rows), k, id_order, rows, above=0.0)

    def _best_compiled(
        self, compiled: ModuleType, asked: _QueryTerms, k: int, id_order: Order, allowed: Allowed | None
    ) -> Ranking:
        order = np.argsort(asked.bounds)
        reach = [0.0, *accumulate(asked.bounds[number] for number in order.tolist())]
        first = [0, *accumulate(len(known.weights) for known in asked.known)]
        weights = np.concatenate([known.weights for known in asked.known])
        query = compiled.Query(np.asarray(first), weights, asked.factors, order, np.asarray(reach), asked.exactness)
        spans = np.concatenate([known.spans for known in asked.known], axis=1)
        size = min(k, self._size)
        best = compiled.Best(np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.int64))
        masks = _fixed(_ALL if allowed is None else allowed, np.bool_), _fixed(self._live, np.bool_)
        ids = _fixed(id_order, np.int64)
        count = 0
        for part, (start, *lists) in enumerate(self._parts):
            rows = compiled.Rows(start, *masks, ids)
            count = compiled.search_part(compiled.Lists(*lists), query, spans[part], rows, best, count)
        return top_k(best.scores[:count], k, id_order, best.rows[:count])

    def _asked(self, concepts: Sequence[Concept]) -> _QueryTerms:
        pairs = [(concept, self._known(concept.terms)) for concept in concepts]
        found = [(concept, known) for concept, known in pairs if known is not None]
        factors = np.asarray([concept.times * known.idf for concept, known in found], dtype=np.float32)
        bounds = [concept.times * known.largest for concept, known in found]
        return _QueryTerms([concept for concept, _ in found], [known for _, known in found], factors, bounds)

    def _known(self, terms: Terms) -> _Known | None:
        remembered = self._remembered  # another thread may begin anew meanwhile
        if terms not in remembered:
            if len(remembered) >= _REMEMBERED:
                self._remembered = remembered = {}
            remembered[terms] = self._look_up(terms)
        return remembered[terms]

    def _look_up(self, terms: Terms) -> _Known | None:
        documents, parts = self._bm25.contributions(Concept("", terms))
        if not len(documents):
            return None
        occurring = [(term, weight) for term, weight in terms if weight]
        parts_of = self._bm25.postings.parts
        spans = np.asarray([[part.span(term) for term, _ in occurring] for part in parts_of], dtype=np.int64)
        weights = np.asarray([weight for _, weight in occurring], dtype=np.float32)
        entries = int((spans[..., 1] - spans[..., 0]).sum())
        return _Known(self._bm25.idf(terms), float(parts.max()), weights, spans, entries)


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
    """The same array, not to be written to: whether in memory or mapped, it is of one type to compiled code."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def compile_ahead() -> None:
    """Compile the search, if there is numba, and use it from now on: who waits for a large index waits for this too."""
    FAST.begin()
    one = Postings.build(TokenizedTexts(["a"], np.zeros(1, dtype=np.int32), np.asarray([0, 1])))
    BM25Search(BM25(one)).best([Concept("a", (("a", 1.0),))], 1, np.zeros(1, dtype=np.int64))

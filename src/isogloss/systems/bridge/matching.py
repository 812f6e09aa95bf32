"""Match statistics: how likely a query and indexed passages are as translations of each other.

n(w, q) counts word w in the query q, n(t, p) term t in the passage p. P(w | t), P(t | w) and lambda are those of the
translation model (:mod:`isogloss.translation.model`), P(w) and P(t) the background probabilities of the collection.

    forward(q, p) = 1/|q| sum_w n(w, q) ln(1 + (1 - lambda) / (lambda P(w)) sum_t P(w | t) n(t, p) / |p|)
    reverse(q, p) =       sum_t n(t, p) ln(1 + (1 - lambda) / (lambda P(t)) sum_w P(t | w) n(w, q) / |q|)

``forward`` is by how much the passage raises the log-likelihood of the query, per query word; ``reverse`` is by how
much the query raises the log-likelihood of the passage. Both are 0 where nothing matches. BM25 over structured queries
(Darwish and Oard 2003) takes the translations of a word for one term:

    bm25(q, p) = 1/|q| sum_w n(w, q) idf(w) f (k + 1) / (f + k (1 - b + b |p| / mean |p|)),  f = sum_t g(w, t) n(t, p)

g(w, t) ~ sqrt(P(w | t) P(t | w)) adds up to 1 over t; idf(w) is that of sum_t g(w, t) n(t), n(t) counting t in the
collection. A query word that stands in the documents as a
term that the translation model does not know (a name, a number) matches this *verbatim* term too.

The first stage approximates ``forward`` by what was computed when a document was indexed
(:mod:`isogloss.systems.bridge.expansion`). The second stage computes all statistics of few documents from their tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import CompileLater
from isogloss.systems.bridge.expansion import Tokens
from isogloss.text.passages import windows
from isogloss.translation.model import Ids, Numbers, QueryStatistics, TranslationModel

_K, _B = 1.2, 0.75  # of BM25
_COMMON = 4 / 0.02  # (1 - lambda) / (lambda P(w)) of a word that is every fiftieth
_VERBATIM = 0.1  # P(t | w) of a word that has translations, t being the word itself
_MANY_TOKENS = 1_000_000  # matched by a process after which it is expected to match many more

Doubles = NDArray[np.float64]
COMPILED = CompileLater(lambda: import_module("isogloss.systems.bridge.compiled"), _MANY_TOKENS)
"""The compiled code of this process."""


class MatchStatistics(NamedTuple):
    """The statistics of a query and some texts: one row a text, one column a word of the query."""

    forward: Doubles
    """The summands of forward(q, p)."""
    counts: Doubles
    """sum_t P(w | t) n(t, p)."""
    frequencies: Doubles
    """sum_t g(w, t) n(t, p)."""
    reverse: Doubles
    """The shares of reverse(q, p): of each of its summands P(t | w) n(w, q) / sum_w' P(t | w') n(w', q)."""
    lengths: Doubles
    """|p|, in one dimension."""


class DocumentMatches(NamedTuple):
    """The statistics of a query and some documents: of the best passage of each, and of the whole.

    ``passage_counts`` to ``passage_reverse`` are those of the passage; ``lengths`` has a column for the passage and one
    for the document; ``best`` is the number of the passage, the first of those with the highest forward(q, p).
    """

    passage_counts: Doubles
    passage_frequencies: Doubles
    passage_reverse: Doubles
    counts: Doubles
    frequencies: Doubles
    reverse: Doubles
    lengths: Doubles
    best: Numbers

    @classmethod
    def empty(cls, rows: int, words: int) -> DocumentMatches:
        """All zeros."""
        one, two, three, four, five, six = np.zeros((6, rows, words))
        return cls(one, two, three, four, five, six, np.zeros((rows, 2)), np.zeros(rows, np.int64))


def rare_words(odds: NDArray[np.floating]) -> Numbers:
    """The positions of the words of a query that are not too common for the first stage; all where all are."""
    common = odds < _COMMON
    return np.flatnonzero(~common if not common.all() else common)


class CollectionStatistics:
    """What matching needs of the collection: the background, mean lengths of passages and documents, and IDF.

    ``counts`` are those of the translation model's terms, in all ``passages`` of all ``documents``.
    """

    def __init__(self, translation: TranslationModel, counts: Numbers, passages: int, documents: int) -> None:
        self.background = translation.background_of(counts)
        self.mean_length, self.mean_document = (
            max(1.0, float(counts.sum()) / max(1, n)) for n in (passages, documents)
        )
        self._passages = passages
        both = np.sqrt(translation.query_probabilities * translation.document_probabilities, dtype=np.float64)
        sums = [np.append(0.0, np.cumsum(each)) for each in (both * counts[translation.terms], both)]
        matched, whole = (np.diff(each[translation.offsets]) for each in sums)
        self._frequencies = matched / np.maximum(whole, 1e-9)

    def idf(self, query: QueryStatistics) -> Doubles:
        """ln(1 + (N - n + .5) / (n + .5)) of each word of a query; n of a word without translations is the term's."""
        frequencies = self._frequencies[query.numbers]
        for position, count in query.verbatim_counts.items():
            translated = query.numbers[position] != len(self._frequencies) - 1
            frequencies[position] = max(count, frequencies[position]) if translated else count
        frequencies = np.minimum(frequencies, self._passages)
        idf: Doubles = np.log1p((self._passages - frequencies + 0.5) / (frequencies + 0.5))
        return idf


class QueryTable:
    """The translation probabilities of a query's words, one row a word, one column a term t that matches any of them.

    ``forward`` is P(w | t), ``both`` is g(w, t), and ``reverse`` is what t adds to the share of w in reverse(q, d).
    ``columns`` has the column of each term of the translation model and, after *unknown*, of the verbatim terms; the
    first column is that of all terms that match nothing.
    """

    def __init__(
        self, translation: TranslationModel, query: QueryStatistics, collection: CollectionStatistics | None = None
    ) -> None:
        background = collection.background if collection else translation.background
        self.odds: Doubles = background.of(query).astype(np.float64)
        self.rare = np.zeros(len(query.words), bool)
        self.rare[rare_words(self.odds)] = True
        self.idf = collection.idf(query) if collection else np.zeros(len(query.words))
        self.mean_length, self.mean_document = (
            (collection.mean_length, collection.mean_document) if collection else (1.0, 1.0)
        )
        self.times: Doubles = query.times.astype(np.float64)
        self.each: Doubles = self.times / max(1.0, query.length)
        self.unknown = translation.unknown
        words, terms, forward, given = self._pairs(translation, query)
        numbers, column_of = np.unique(terms, return_inverse=True)
        self.terms, width = numbers, len(numbers) + 1
        self.columns = np.zeros(self.unknown + 1 + len(query.verbatim_terms), np.int32)
        self.columns[numbers] = np.arange(1, width)
        shares = given * self.each[words]
        both = np.sqrt(forward * shares)
        both /= np.maximum(np.bincount(words, both, len(query.words)), 1e-9)[words]
        whole = np.bincount(column_of, shares, len(numbers))
        odds = background.document_odds[np.minimum(numbers, self.unknown)].astype(np.float64)
        gains = np.log1p(odds * whole) / np.where(whole > 0, whole, 1)
        self._order = np.argsort(column_of, kind="stable")
        self._sparse = words, column_of + 1, forward, both, shares * gains[column_of]
        self._width = width

    def _pairs(
        self, translation: TranslationModel, query: QueryStatistics
    ) -> tuple[Numbers, Numbers, Doubles, Doubles]:
        """The words w and terms t that match, P(w | t) and P(t | w)."""
        number_of = {term: number for number, term in enumerate(query.verbatim_terms, self.unknown + 1)}
        words, terms, forward, reverse = ([np.zeros(0, kind)] for kind in (np.int64, np.int64, float, float))
        for row, number in enumerate(query.numbers.tolist()):
            translated = number != len(translation.query_words)
            if translated or row not in query.verbatim:
                found = translation.translations(number)
                words.append(np.full(len(found[0]), row))
                for array, values in zip((terms, forward, reverse), found, strict=True):
                    array.append(values.astype(array[0].dtype))
            if row in query.verbatim:
                own = row, number_of[query.verbatim[row]], 1.0, _VERBATIM if translated else 1.0
                for array, value in zip((words, terms, forward, reverse), own, strict=True):
                    array.append(np.asarray([value], array[0].dtype))
        return (*(np.concatenate(array) for array in (words, terms, forward, reverse)),)  # type: ignore[return-value]

    @cached_property
    def forward(self) -> Doubles:
        return self._dense(2)

    @cached_property
    def both(self) -> Doubles:
        return self._dense(3)

    @cached_property
    def reverse(self) -> Doubles:
        return self._dense(4)

    def _dense(self, which: int) -> Doubles:
        words, columns = self._sparse[:2]
        made = np.zeros((len(self.odds), self._width))
        made[words, columns] = self._sparse[which]
        return made

    @cached_property
    def by_column(self) -> tuple[Numbers, Ids, Doubles, Doubles, Doubles]:
        """Where the pairs of each column begin; their words, and their ``forward``, ``both`` and ``reverse``."""
        words, columns, *values = self._sparse
        starts = np.append(0, np.cumsum(np.bincount(columns, minlength=self._width)))
        order = self._order
        return starts, words[order].astype(np.int32), *(each[order] for each in values)  # type: ignore[return-value]

    @cached_property
    def pairs_of(self) -> Callable[[int], list[tuple[int, float]]]:
        """From a column to its words, and P(w | t) of each."""
        return lru_cache(None)(self._pairs_of)

    def _pairs_of(self, column: int) -> list[tuple[int, float]]:
        starts, words, forward, _, _ = self.by_column
        span = slice(starts[column], starts[column + 1])
        return list(zip(words[span].tolist(), forward[span].tolist(), strict=True))

    def bm25(self, frequencies: Doubles, lengths: Doubles, mean_length: float) -> Doubles:
        """The summand of each word of the query (a column) in bm25(q, d) of each text (a row)."""
        saturation = _K * (1 - _B + _B * lengths / mean_length)
        return self.each * self.idf * frequencies * (_K + 1) / (frequencies + saturation[:, None])


def match(table: QueryTable, words: Numbers, starts: Numbers) -> MatchStatistics:
    """The statistics of a query and texts: ``words`` of all texts, and where each text starts among them."""
    columns = table.columns[words]
    counts, frequencies, reverse = (
        _sums(each[:, columns], starts).T for each in (table.forward, table.both, table.reverse)
    )
    lengths = np.diff(starts).astype(np.float64)
    forward = np.log1p(table.odds * counts / np.maximum(1, lengths)[:, None]) * table.each
    return MatchStatistics(forward, counts, frequencies, reverse, lengths)


def _sums(values: Doubles, starts: Numbers) -> Doubles:
    """Sums over runs of columns; 0 where a run is empty."""
    padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)
    sums = np.add.reduceat(padded, starts[:-1], axis=1) if len(starts) > 1 else values[:, :0]
    sums[:, np.diff(starts) == 0] = 0
    return sums


class BestPassages(NamedTuple):
    """The number of the passage with the highest forward(q, p) of some documents.

    ``scores`` is the highest that a passage has without the summands of common words: it chooses documents better.
    """

    scores: Doubles
    numbers: Numbers


def best_passages(table: QueryTable, tokens: Tokens, verbatim: Ids, rows: Numbers) -> BestPassages:
    """The best passage of each of some documents; ``verbatim`` has the number of each verbatim term, or -1."""
    compiled = COMPILED.functions(int((tokens.offsets[rows + 1] - tokens.offsets[rows]).sum()))
    if compiled is None:
        return _all_passages(table, tokens, verbatim, rows)[1] if len(rows) else BestPassages(np.zeros(0), rows)
    scores, best = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
    compiled.best_passages(*_compiled_input(compiled, table, tokens, verbatim, rows), scores, best)
    return BestPassages(scores / max(1.0, float(table.times.sum())), best)


def match_documents(table: QueryTable, tokens: Tokens, verbatim: Ids, rows: Numbers, best: Numbers) -> DocumentMatches:
    """The statistics of some documents, whose best passages are known."""
    found = DocumentMatches.empty(len(rows), len(table.odds))
    compiled = COMPILED.functions(0)
    if not len(rows):
        return found
    if compiled is not None:
        documents, _, inputs = _compiled_input(compiled, table, tokens, verbatim, rows)
        compiled.match_documents(documents, rows, best, inputs, found)
        return found._replace(best=best)
    passages, _, firsts = _all_passages(table, tokens, verbatim, rows)
    own = firsts + best
    lengths = np.stack([passages.lengths[own], np.add.reduceat(passages.lengths, firsts)], axis=1)
    each = passages.counts, passages.frequencies, passages.reverse
    of_best, of_whole = [array[own] for array in each], [np.add.reduceat(array, firsts, axis=0) for array in each]
    return DocumentMatches._make([*of_best, *of_whole, lengths, best])


def _all_passages(
    table: QueryTable, tokens: Tokens, verbatim: Ids, rows: Numbers
) -> tuple[MatchStatistics, BestPassages, Numbers]:
    """The statistics of all passages of some documents, the best of each document, and its first."""
    terms, starts, counts = passage_terms(tokens, rows)
    words = np.minimum(terms, tokens.unknown).astype(np.int64)
    for number, own in enumerate(verbatim.tolist(), table.unknown + 1):
        words[terms == own] = number
    found = match(table, words, starts)
    firsts = np.cumsum(counts) - counts
    totals = found.forward.sum(axis=1)
    is_best = np.flatnonzero(totals == np.repeat(np.maximum.reduceat(totals, firsts), counts))
    best = is_best[np.searchsorted(is_best, firsts)] - firsts
    return found, BestPassages(np.maximum.reduceat(found.forward[:, table.rare].sum(axis=1), firsts), best), firsts


def _compiled_input(
    compiled: ModuleType, table: QueryTable, tokens: Tokens, verbatim: Ids, rows: Numbers
) -> tuple[Any, Numbers, Any]:
    documents = compiled.Documents(fixed(tokens.ids), fixed(tokens.offsets), tokens.passage)
    columns = table.columns[: table.unknown + 1], verbatim, table.columns[table.unknown + 1 :]
    return documents, rows, compiled.Table(*columns, *table.by_column, table.odds, table.times, table.rare)


def passage_terms(tokens: Tokens, rows: Numbers, numbers: Numbers | None = None) -> tuple[Ids, Numbers, Numbers]:
    """The terms of all passages of some documents, or of one passage of each by its number.

    Also where each passage starts among them, and how many passages there are of each document.
    """
    begins, lengths = tokens.offsets[rows], tokens.offsets[rows + 1] - tokens.offsets[rows]
    ends = np.append(0, np.cumsum(lengths))
    counts, firsts, sizes = windows(ends, tokens.passage)
    firsts = firsts + np.repeat(begins - ends[:-1], counts)
    if numbers is not None:
        chosen = np.cumsum(counts) - counts + numbers
        counts, firsts, sizes = np.ones_like(counts), firsts[chosen], sizes[chosen]
    starts = np.append(0, np.cumsum(sizes))
    return tokens.ids[np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], sizes)], starts, counts


def fixed(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only: in memory or mapped, it has one type for compiled code."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view

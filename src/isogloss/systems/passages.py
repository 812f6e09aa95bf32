"""Passage retrieval with any system: it indexes overlapping windows of words instead of documents.

    score(q, d) = max over the passages p of d of  score(q, p)

A document of many subjects is found by one of them, and its best passage can be shown. Adding the score of the whole
text was tried: one weight for all sets gained .007 MRR at most, with twice the index.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Query
from isogloss.retrieval.ranking import Allowed, Ranking, Rows, Scores
from isogloss.storage.array_checks import check_type, check_within
from isogloss.storage.arrays import load_array, place_of, save_array
from isogloss.systems.base import Contribution, System
from isogloss.text.passages import Span, passages_of_texts

_PASSAGES = 4  # passages that are retrieved at first for each document
_SHOWN = 100  # hits of a query whose best passage is cached, because it may be shown and explained
_CACHED = 128  # queries
_NO_SPANS = np.zeros((0, 2), np.int32)
_OF_INNER = (
    "name", "paper", "summary", "options_type", "learns", "measures_on_dev", "found_above", "joins", "searches",
    "explains_quickly", "fit", "best_possible", "unknown_words", "knows", "frequencies", "query_vocabulary",
    "translations", "glosser", "term_of", "thresholds", "chance", "save_shared",
)  # fmt: skip
"""What callers see of the inner system."""


class FindsPassages(System):
    """A system that implements the option ``passages`` itself."""


class Cut(NamedTuple):
    """Texts split into passages: the number of passages of each text, their spans, and the passages."""

    counts: NDArray[np.int64]
    spans: NDArray[np.int32]
    passages: list[str]


class Passages(FindsPassages):
    """A system whose ``inner`` system indexes passages of ``options.passages`` words.

    Rows are documents; rows of ``inner`` are passages, one document after the other. ``inner`` breaks ties by document
    id, so that its best passages are in the order of the best documents.
    """

    _best_of: OrderedDict[str, dict[int, int]]

    def __init__(self, inner: System) -> None:
        super().__init__(inner.options, inner.query_language, inner.document_language)
        self._wrap(inner)
        self._use(np.zeros(0, np.int64), [])

    def _wrap(self, inner: System) -> None:
        self.inner = inner
        vars(self).update({name: getattr(inner, name) for name in _OF_INNER})

    def __copy__(self) -> Passages:
        """A copy that can index other documents."""
        made = object.__new__(type(self))
        vars(made).update(vars(self), _best_of=OrderedDict())
        made._wrap(copy(self.inner))
        return made

    def index_texts(self, texts: Sequence[str]) -> None:
        cut = self.cut(texts)
        self.take(cut.counts, cut.spans)
        self.inner.index_texts(cut.passages)

    def warm(self) -> None:
        self.inner.warm()

    def cut(self, texts: Sequence[str]) -> Cut:
        """The passages of some texts."""
        counts, spans = passages_of_texts(texts, self.options.passages)
        each = zip(chain.from_iterable(map(repeat, texts, counts.tolist())), spans.tolist(), strict=True)
        return Cut(counts, spans, [text[begin:end] for text, (begin, end) in each])

    def take(self, counts: NDArray[np.int64], spans: NDArray[np.int32]) -> None:
        """Use documents with these numbers of passages and spans, which the inner system is about to index."""
        self._use(counts, [spans])
        self._take_order(self.id_order, len(counts))
        self.inner.id_order = self._passage_order()

    @property
    def comparable(self) -> bool:  # type: ignore[override]  # it can change when the inner system is fitted
        return self.inner.comparable

    def about(self) -> dict[str, Any]:
        return {**self.inner.about(), "passages": int(self._offsets[-1])}

    def scores(self, query: str) -> Scores:
        return self._best(self.inner.scores(query), self._offsets[:-1])

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        rows = np.asarray(rows, dtype=np.int64)
        counts = self._counts[rows]
        starts = np.cumsum(counts) - counts
        passages = np.repeat(self._offsets[rows] - starts, counts) + np.arange(int(counts.sum()))
        return self._best(self.inner.score(query, passages), starts)

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        return self._search(query, k, allowed, _PASSAGES * k)

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        found = self.inner.search_texts(queries, _PASSAGES * k, self._allowed(allowed))
        return [self._enough(query, ranking, k, allowed) for query, ranking in zip(queries, found, strict=True)]

    def search_all(self, queries: Sequence[Query], k: int, label: str = "searching") -> Iterator[Ranking]:
        found = self.inner.search_all(queries, _PASSAGES * k, label)
        return (self._enough(query.text, ranking, k, None) for query, ranking in zip(queries, found, strict=True))

    def passage(self, query: str, row: int) -> Span:
        begin, end = self._span(self._best_passage(query, row))
        return begin, end

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """Explain the score of the best passage, which is the document's."""
        best = self._best_passage(query, row)
        begin, end = self._span(best)
        return self.inner.explain(query, best, text[begin:end])

    def count_only(self, live: Allowed) -> None:
        self.inner.count_only(np.repeat(live, self._counts))
        self._best_of = OrderedDict()

    def load_shared(self, directory: Path) -> Self:
        self.inner.load_shared(directory)
        return self

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        kept = np.ones(len(self._counts), bool) if keep is None else keep
        passages = np.repeat(kept, self._counts)
        self.inner.save_part(directory, None if keep is None else passages)
        save_array(directory / "passages.counts.npy", self._counts[kept])
        save_array(directory / "passages.spans.npy", np.concatenate([*self._spans, _NO_SPANS])[passages])

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        counts = [load_array(directory / "passages.counts.npy") for directory in directories]
        spans = [load_array(directory / "passages.spans.npy") for directory in directories]
        for directory, count, of_part in zip(directories, counts, spans, strict=True):
            check_type(count, np.int64, place_of(directory / "passages.counts.npy"))
            check_within(count, len(of_part) + 1, place_of(directory / "passages.counts.npy"))
            if of_part.shape != (count.sum(), 2) or of_part.dtype != np.int32:
                raise ValueError(f"{place_of(directory / 'passages.spans.npy')} does not fit passages.counts.npy")
        self._use(np.concatenate([np.zeros(0, np.int64), *counts]), spans)
        self._take_order(id_order, len(self._counts))
        self.inner.load_parts(directories, self._passage_order())
        return self

    def _use(self, counts: NDArray[np.int64], spans: list[NDArray[np.int32]]) -> None:
        """``counts`` has the number of passages of each document, ``spans`` their spans, part by part."""
        self._counts, self._spans = counts, spans
        self._offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self._first_of_part = np.cumsum([0, *map(len, spans)])
        self._best_of = OrderedDict()

    def _passage_order(self) -> NDArray[np.int64]:
        """The order of the passages: by document id, then by position."""
        by_id = np.empty(len(self._counts), np.int64)
        by_id[self.id_order] = np.arange(len(by_id))
        counts = self._counts[by_id]
        first = np.empty_like(counts)
        first[by_id] = np.cumsum(counts) - counts
        return np.repeat(first - self._offsets[:-1], self._counts) + np.arange(self._offsets[-1])

    def _search(self, query: str, k: int, allowed: Allowed | None, wanted: int) -> Ranking:
        ranking = self.inner.search(query, wanted, self._allowed(allowed))
        return self._enough(query, ranking, k, allowed, wanted)

    def _enough(
        self, query: str, passages: Ranking, k: int, allowed: Allowed | None, wanted: int | None = None
    ) -> Ranking:
        """The documents of the best passages; more passages are retrieved where few documents have many of them."""
        wanted = wanted or _PASSAGES * k
        documents: Rows = np.searchsorted(self._offsets, passages.rows, side="right") - 1
        firsts = np.sort(np.unique(documents, return_index=True)[1])[:k]
        if len(firsts) < k and len(documents) >= wanted and wanted < self._offsets[-1]:
            return self._search(query, k, allowed, 4 * wanted)
        shown = firsts[:_SHOWN]
        best = dict(zip(documents[shown].tolist(), passages.rows[shown].tolist(), strict=True))
        self._best_of[query] = self._best_of.pop(query, {}) | best
        while len(self._best_of) > _CACHED:
            self._best_of.popitem(last=False)  # the oldest
        return Ranking(documents[firsts], passages.scores[firsts])

    def _best_passage(self, query: str, row: int) -> int:
        """The first of the best passages, as a row of the inner system."""
        known = self._best_of.get(query, {}).get(row)
        if known is not None:
            return known
        rows = np.arange(self._offsets[row], self._offsets[row + 1])
        return int(rows[np.argmax(self.inner.score(query, rows))])

    def _span(self, passage: int) -> list[int]:
        part = int(np.searchsorted(self._first_of_part, passage, side="right")) - 1
        span: list[int] = self._spans[part][passage - self._first_of_part[part]].tolist()
        return span

    def _allowed(self, allowed: Allowed | None) -> Allowed | None:
        return None if allowed is None else np.repeat(allowed, self._counts)

    def _best(self, scores: Scores, starts: NDArray[np.int64]) -> Scores:
        best: Scores = np.maximum.reduceat(scores, starts) if len(starts) else scores
        return best


def by_passages(system: System) -> System:
    """The system itself, or indexing passages where its options say so."""
    return Passages(system) if system.options.passages and not isinstance(system, FindsPassages) else system

"""Searching an index: the best documents of all its languages, with what made each score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isogloss.base.errors import InputError
from isogloss.corpus.records import Document, joined_fields
from isogloss.evaluation.ranking import Ranking
from isogloss.evaluation.system import Allowed, Contribution, System
from isogloss.index.field_lists import matching_rows
from isogloss.index.store import DocumentStore, JoinedStore, LiveStore
from isogloss.lexical.joined_postings import JoinedPostings
from isogloss.search.scales import divisors

CLASSES = ("not relevant", "partially relevant", "relevant")
Store = DocumentStore | JoinedStore
Filters = Mapping[str, str]


@dataclass(frozen=True)
class Hit:
    """A document found: its place among the hits from 1, its score, and what made the score.

    ``passage`` is where the best passage begins and ends in what was indexed of the document (``Engine.text_of``), and
    ``relevance`` one of the classes, both where the system knows.
    """

    rank: int
    score: float
    language: str
    document: Document
    explanation: tuple[Contribution, ...] = ()
    passage: tuple[int, int] | None = None
    relevance: str | None = None


@dataclass(frozen=True)
class Shelf:
    """The documents of one language, the system that scores them, which are not deleted, the lists of their fields."""

    system: System
    store: Store
    live: Allowed | None = None
    fields: JoinedPostings | None = None

    @property
    def count(self) -> int:
        """How many documents are not deleted."""
        return len(self.store) if self.live is None else int(np.count_nonzero(self.live))

    def allowed(self, filters: Filters | None) -> Allowed | None:
        """Which rows may be found; None if all may."""
        if not filters:
            return self.live
        if self.fields is None:
            raise InputError("filter: this index keeps no lists of fields; bring it up with 'isogloss index --upgrade'")
        matching = matching_rows(self.fields, filters)
        return matching if self.live is None else matching & self.live

    def find(self, id_: str) -> int | None:
        """The row of a document by its id, if it is not deleted."""
        row = self.store.find(id_)
        return row if row is not None and (self.live is None or self.live[row]) else None


Reorder = Callable[[str, Sequence[Hit]], list[Hit]]
"""Puts the hits of a query in another order."""


class _Found(NamedTuple):
    """A document of a shelf, its score as it compares with other languages', and what the system's was divided by."""

    score: float
    id: str
    language: str
    row: int
    divisor: float


class Engine:
    """Searches the shelves of an index, one a language; ``fields`` is what was indexed of each document.

    With several languages each score, and each part of its explanation, is divided by what makes it comparable with
    those of other languages (:mod:`isogloss.search.scales`); ``usual`` scores of the languages are part of that.
    """

    def __init__(
        self, shelves: Mapping[str, Shelf], open_sources: Callable[[], Store | LiveStore] | None = None,
        fields: tuple[str, ...] = ("title", "text"), usual: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        self.shelves = dict(shelves)
        self.fields = fields
        self._usual = dict(usual or {})
        self._reorder: Reorder | None = None
        self._depth = 0
        self._open_sources = open_sources

    @cached_property
    def sources(self) -> Store | LiveStore | None:
        """Documents in the language of the queries, to search with; opened when they are first asked for."""
        return self._open_sources() if self._open_sources else None

    def search(
        self, query: str, k: int = 10, languages: Sequence[str] | None = None, filters: Filters | None = None,
        offset: int = 0, explain: bool = True,
    ) -> list[Hit]:  # fmt: skip
        """The ``k`` best documents after the first ``offset``, of the given languages or of all.

        ``filters``: only documents that have these fields with these values.
        """
        wanted = max(offset + k, self._depth)
        rankings = {
            language: [shelf.system.search(query, wanted, shelf.allowed(filters))]
            for language, shelf in self.choose(languages).items()
        }
        if self._reorder is None:
            return self._hits(query, rankings, 0, offset, k, explain)
        hits = self._reorder(query, self._hits(query, rankings, 0, 0, wanted, False))[offset : offset + k]
        return [self._explained(query, hit) for hit in hits] if explain else hits

    def reordering(self, reorder: Reorder, depth: int) -> Engine:
        """The same engine, of which the first ``depth`` hits of each search are put in another order."""
        made = copy(self)
        made._reorder, made._depth = reorder, depth
        return made

    def search_many(
        self, queries: Sequence[str], k: int = 10, languages: Sequence[str] | None = None,
        filters: Filters | None = None,
    ) -> list[list[Hit]]:  # fmt: skip
        """The ``k`` best documents for each query: what ``search`` gives, without explanations, faster."""
        wanted = max(k, self._depth)
        rankings = {
            language: shelf.system.search_texts(queries, wanted, shelf.allowed(filters))
            for language, shelf in self.choose(languages).items()
        }
        found = [self._hits(query, rankings, number, 0, wanted, False) for number, query in enumerate(queries)]
        if self._reorder is not None:
            found = [self._reorder(query, hits) for query, hits in zip(queries, found, strict=True)]
        return [hits[:k] for hits in found]

    def get(self, id_: str, language: str | None = None) -> Document | None:
        """A document by its id, of a language or of the first that has it."""
        for shelf in self.choose([language] if language else None).values():
            row = shelf.find(id_)
            if row is not None:
                return shelf.store[row]
        return None

    def explain(self, query: str, language: str, id_: str) -> tuple[Contribution, ...]:
        """What made the score of a document, in the measure of the score that ``search`` gives."""
        shelf = self.choose([language])[language]
        row = shelf.find(id_)
        if row is None:
            raise InputError(f"document: {id_!r} is not in this index in {language!r}")
        return self._explain(query, language, row, shelf.store[row], self._divisors(query)[language])

    def unknown_words(self, query: str, languages: Sequence[str] | None = None) -> list[str]:
        """The words of a query that no system of the given languages, or of all, can do anything with."""
        unknown = [shelf.system.unknown_words(query) for shelf in self.choose(languages).values()]
        return [word for word in unknown[0] if all(word in other for other in unknown)] if unknown else []

    def translations(
        self, query: str, languages: Sequence[str] | None = None
    ) -> dict[str, list[tuple[str, list[str]]]]:
        """For each language, the words of a query and what stands for them there."""
        return {language: shelf.system.translations(query) for language, shelf in self.choose(languages).items()}

    def source(self, name: str) -> Document:
        """A document in the language of the queries, by its number from 1 or, where there is none, by its id."""
        store = self.sources
        if store is None:
            what = "this index keeps no documents in the language of the queries to search with"
            raise InputError(f"{what}; make it again from a source that has some")
        if name.isdecimal() and len(name) < 19 and 1 <= int(name) <= len(store):
            return store[int(name) - 1]
        row = store.find(name)
        if row is None:
            raise InputError(f"document: {name!r} is neither a number from 1 to {len(store)} nor the id of one")
        return store[row]

    def choose(self, languages: Sequence[str] | None) -> dict[str, Shelf]:
        """The shelves of the given languages, or all."""
        unknown = [language for language in languages or () if language not in self.shelves]
        if unknown:
            raise InputError(f"language: {unknown[0]!r} is not in this index; it has {', '.join(self.shelves)}")
        return {language: shelf for language, shelf in self.shelves.items() if not languages or language in languages}

    def text_of(self, document: Document) -> str:
        """What was indexed of a document."""
        return joined_fields(document, self.fields)

    def _hits(
        self, query: str, rankings: Mapping[str, Sequence[Ranking]], number: int, offset: int, k: int, explain: bool
    ) -> list[Hit]:
        """The best of what each language found for a query: the ``number``-th ranking of each."""
        found, scales = [], self._divisors(query)
        for language, of_language in rankings.items():
            ranking, store, divisor = of_language[number], self.shelves[language].store, scales[language]
            for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
                found.append(_Found(score / divisor, store.id_of(row), language, row, divisor))
        found.sort(key=lambda hit: (-hit.score, hit.id, hit.language))
        return [
            self._hit(query, rank, hit, explain)
            for rank, hit in enumerate(found[offset : offset + k], start=offset + 1)
        ]

    def _hit(self, query: str, rank: int, found: _Found, explain: bool) -> Hit:
        shelf = self.shelves[found.language]
        document = shelf.store[found.row]
        explanation = self._explain(query, found.language, found.row, document, found.divisor) if explain else ()
        passage = shelf.system.passage(query, found.row)
        relevance = _relevance(found.score * found.divisor, shelf.system.thresholds())
        return Hit(rank, found.score, found.language, document, explanation, passage, relevance)

    def _explained(self, query: str, hit: Hit) -> Hit:
        return replace(hit, explanation=self.explain(query, hit.language, hit.document.id))

    def _explain(
        self, query: str, language: str, row: int, document: Document, divisor: float
    ) -> tuple[Contribution, ...]:
        parts = self.shelves[language].system.explain(query, row, self.text_of(document))
        return tuple(part._replace(score=part.score / divisor) for part in parts)

    def _divisors(self, query: str) -> dict[str, float]:
        """What the scores of each language are divided by."""
        return divisors(query, {language: shelf.system for language, shelf in self.shelves.items()}, self._usual)


def _relevance(score: float, thresholds: Sequence[float]) -> str | None:
    """The class of a score: the lowest and the highest have their names, what is between is partially relevant."""
    if not thresholds:
        return None
    passed = sum(score >= threshold for threshold in thresholds)
    return CLASSES[0] if not passed else CLASSES[2] if passed == len(thresholds) else CLASSES[1]

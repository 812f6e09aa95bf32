"""Searching an index: the best documents of all its languages, with what made each score."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isogloss.base.errors import InputError
from isogloss.corpus.records import Document
from isogloss.evaluation.system import Contribution, System
from isogloss.index.store import DocumentStore


@dataclass(frozen=True)
class Hit:
    """A document found: its place among the hits from 1, its score, and what made the score."""

    rank: int
    score: float
    language: str
    document: Document
    explanation: tuple[Contribution, ...]


class Shelf(NamedTuple):
    """The documents of one language and the system that scores them."""

    system: System
    store: DocumentStore


class Engine:
    """Searches the shelves of an index, one a language.

    Raw scores of different languages do not compare (other lists, other frequencies), so with several languages each
    score, and each part of its explanation, is divided by the most the query could reach in its language.
    """

    def __init__(self, shelves: Mapping[str, Shelf], open_sources: Callable[[], DocumentStore] | None = None) -> None:
        self.shelves = dict(shelves)
        self._open_sources = open_sources

    @cached_property
    def sources(self) -> DocumentStore | None:
        """Documents in the language of the queries, to search with; opened when they are first asked for."""
        return self._open_sources() if self._open_sources else None

    def search(self, query: str, k: int = 10, languages: Sequence[str] | None = None) -> list[Hit]:
        """The ``k`` best documents, of the given languages or of all."""
        chosen = self.choose(languages)
        found = []
        bounds = {}
        for language, (system, store) in chosen.items():
            bounds[language] = system.best_possible(query) if len(self.shelves) > 1 else 1.0
            ranking = system.search(query, k)
            for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
                found.append((score / bounds[language], language, store[row], row))
        found.sort(key=lambda hit: (-hit[0], hit[2].id, hit[1]))
        return [
            Hit(
                rank,
                score,
                language,
                document,
                _explain(chosen[language].system, query, row, document, bounds[language]),
            )
            for rank, (score, language, document, row) in enumerate(found[:k], start=1)
        ]

    def unknown_words(self, query: str, languages: Sequence[str] | None = None) -> list[str]:
        """The words of a query that no system of the given languages, or of all, can do anything with."""
        first, *others = (system.unknown_words(query) for system, _ in self.choose(languages).values())
        return [word for word in first if all(word in other for other in others)]

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
        row = _find(store, name)
        if row is None:
            raise InputError(f"document: {name!r} is neither a number from 1 to {len(store)} nor the id of one")
        return store[row]

    def choose(self, languages: Sequence[str] | None) -> dict[str, Shelf]:
        """The shelves of the given languages, or all."""
        unknown = [language for language in languages or () if language not in self.shelves]
        if unknown:
            raise InputError(f"language: {unknown[0]!r} is not in this index; it has {', '.join(self.shelves)}")
        return {language: shelf for language, shelf in self.shelves.items() if not languages or language in languages}


def _find(store: DocumentStore, id_: str) -> int | None:
    """The row of a document by its id: the ids are known in their order, so few documents are read."""
    rows = np.argsort(store.id_order).tolist()
    place = bisect_left(rows, id_, key=lambda row: store[row].id)
    return rows[place] if place < len(rows) and store[rows[place]].id == id_ else None


def _explain(system: System, query: str, row: int, document: Document, bound: float) -> tuple[Contribution, ...]:
    parts = system.explain(query, row, f"{document.title} {document.text}")
    return tuple(part._replace(score=part.score / bound) for part in parts)

"""Searching an index: the best documents of all its languages, with what made each score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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

    def __init__(self, shelves: Mapping[str, Shelf]) -> None:
        self.shelves = dict(shelves)

    def search(self, query: str, k: int = 10, languages: Sequence[str] | None = None) -> list[Hit]:
        """The ``k`` best documents, of the given languages or of all."""
        chosen = self._choose(languages)
        found = []
        bounds = {}
        for language, (system, store) in chosen.items():
            bounds[language] = system.best_possible(query) if len(self.shelves) > 1 else 1.0
            ranking = system.search(query, k)
            for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
                found.append((score / bounds[language], language, store[row], row))
        found.sort(key=lambda hit: (-hit[0], hit[2].id, hit[1]))
        return [
            Hit(rank, score, language, document, _explain(chosen[language].system, query, row, bounds[language]))
            for rank, (score, language, document, row) in enumerate(found[:k], start=1)
        ]

    def _choose(self, languages: Sequence[str] | None) -> dict[str, Shelf]:
        unknown = [language for language in languages or () if language not in self.shelves]
        if unknown:
            raise InputError(f"language: {unknown[0]!r} is not in this index; it has {', '.join(self.shelves)}")
        return {language: shelf for language, shelf in self.shelves.items() if not languages or language in languages}


def _explain(system: System, query: str, row: int, bound: float) -> tuple[Contribution, ...]:
    return tuple(part._replace(score=part.score / bound) for part in system.explain(query, row))

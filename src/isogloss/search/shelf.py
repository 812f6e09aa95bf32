"""Shelf: the documents of one language and whatever searches them; in the files of the index, or in a store.

A shelf has its own name for the place of a document, a row or an id, which only itself understands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from isogloss.corpus.records import Document
from isogloss.evaluation.ranking import Ranking
from isogloss.evaluation.system import Allowed, Contribution, System
from isogloss.index.field_lists import matching_rows
from isogloss.index.store import DocumentStore, JoinedStore
from isogloss.lexical.joined_postings import JoinedPostings

Store = DocumentStore | JoinedStore
Filters = Mapping[str, str]
Place = TypeVar("Place")


class Candidate(NamedTuple, Generic[Place]):
    """A document that a shelf has found: its id, the score that the system gives it, and its place."""

    id: str
    score: float
    place: Place


class Candidates(NamedTuple, Generic[Place]):
    """What a shelf has found for a query, the best first; ``missing`` says which parts of it did not answer."""

    found: Sequence[Candidate[Place]]
    missing: tuple[str, ...] = ()


class Shelf(Protocol[Place]):
    """The documents of one language."""

    @property
    def system(self) -> System:
        """The system that scores them."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def search(self, query: str, k: int, filters: Filters | None = None) -> Candidates[Place]:
        """The best ``k`` of those that have these fields with these values."""
        ...

    def search_many(self, queries: Sequence[str], k: int, filters: Filters | None = None) -> list[Candidates[Place]]:
        """The same for each of many queries, faster."""
        ...

    def documents(self, places: Sequence[Place]) -> list[Document | None]:
        """The documents at some places; None for one that has been taken away since it was found."""
        ...

    def find(self, id_: str) -> Place | None:
        """The place of a document by its id."""
        ...

    def known(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that are here."""
        ...

    def explain(self, query: str, place: Place, text: str) -> list[Contribution]:
        """What made the score of a document, of which the indexed text is given."""
        ...

    def passage(self, query: str, place: Place) -> tuple[int, int] | None:
        """Where its best passage begins and ends in the indexed text, where the system knows."""
        ...

    def about(self) -> dict[str, Any]:
        """What there is to know of how its documents are kept."""
        ...


@dataclass(frozen=True)
class MappedShelf:
    """A shelf in files: documents by row, the lists of their fields, which of them are not deleted."""

    system: System
    store: Store
    fields: JoinedPostings
    live: Allowed | None = None

    @property
    def count(self) -> int:
        """How many documents are not deleted."""
        return len(self.store) if self.live is None else int(np.count_nonzero(self.live))

    def search(self, query: str, k: int, filters: Filters | None = None) -> Candidates[int]:
        """The best ``k``."""
        return self._candidates(self.system.search(query, k, self.allowed(filters)))

    def search_many(self, queries: Sequence[str], k: int, filters: Filters | None = None) -> list[Candidates[int]]:
        """The best ``k`` for each query."""
        return [self._candidates(each) for each in self.system.search_texts(queries, k, self.allowed(filters))]

    def documents(self, places: Iterable[int]) -> list[Document | None]:
        """Documents by row."""
        return [self.store[row] for row in places]

    def allowed(self, filters: Filters | None) -> Allowed | None:
        """Which rows may be found; None if all may."""
        if not filters:
            return self.live
        matching = matching_rows(self.fields, filters)
        return matching if self.live is None else matching & self.live

    def find(self, id_: str) -> int | None:
        """The row of a document by its id, if it is not deleted."""
        row = self.store.find(id_)
        return row if row is not None and (self.live is None or self.live[row]) else None

    def known(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that are not deleted."""
        return {id_ for id_ in ids if self.find(id_) is not None}

    def explain(self, query: str, place: int, text: str) -> list[Contribution]:
        """What made the score of a row."""
        return self.system.explain(query, place, text)

    def passage(self, query: str, place: int) -> tuple[int, int] | None:
        """The best passage of a row."""
        return self.system.passage(query, place)

    def about(self) -> dict[str, Any]:
        """What the system says of its documents."""
        return self.system.about()

    def _candidates(self, ranking: Ranking) -> Candidates[int]:
        ranked = zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)
        return Candidates([Candidate(self.store.id_of(row), score, row) for row, score in ranked])

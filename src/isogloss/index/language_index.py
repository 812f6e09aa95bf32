"""The documents of one language and the system that searches them, and those in the files of an index.

:mod:`isogloss.index.engine_language_index` has those in an engine. Each language index has its own key for a document,
a row or an id. Other code only passes keys back to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from isogloss.data.documents import Document
from isogloss.index.documents import JoinedDocuments
from isogloss.retrieval.field_lists import matching_rows, value_counts
from isogloss.retrieval.postings import JoinedPostings
from isogloss.retrieval.ranking import Allowed, Matches, Ranking
from isogloss.systems.base import Contribution, System

Filters = Mapping[str, str]
Key = TypeVar("Key")


class Candidate(NamedTuple, Generic[Key]):
    """A document that was found: its id, the score that the system gives it, and its key."""

    id: str
    score: float
    key: Key


class LanguageIndex(Protocol[Key]):
    """The documents of one language."""

    @property
    def system(self) -> System:
        """The system that scores the documents."""

    @property
    def count(self) -> int:
        """The number of documents."""

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Candidate[Key]]:
        """The best ``k`` documents that have these fields with these values, the best first."""

    def search_many(self, queries: Sequence[str], k: int, filters: Filters | None = None) -> list[list[Candidate[Key]]]:
        """The same for each of many queries, faster."""

    def count_matches(self, query: str, filters: Filters | None = None) -> Matches:
        """How many documents match, as far as that is known."""

    def documents(self, keys: Sequence[Key]) -> list[Document | None]:
        """Documents by their keys; None for a document that was deleted after it was found."""

    def find(self, id_: str) -> Key | None:
        """The key of a document by its id."""

    def known(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that the index has."""

    def stored(self, ids: Sequence[str]) -> Iterator[Document]:
        """The documents that have these ids, where the index has them."""

    def explain(self, query: str, key: Key, text: str) -> list[Contribution]:
        """The words that made the score of a document with this indexed text."""

    def passage(self, query: str, key: Key) -> tuple[int, int] | None:
        """Begin and end of the document's best passage in its indexed text, where the system knows it."""

    @property
    def countable(self) -> int:
        """How many of the best documents can be counted in about the time of a search."""

    def value_counts(self, name: str, keys: Sequence[Key]) -> Counter[str]:
        """The values of a field that some documents have, and how many of them have each."""

    def about(self) -> dict[str, Any]:
        """How the documents are stored, as plain values."""


@dataclass(frozen=True)
class MappedLanguageIndex:
    """A language index in files: documents by row, the lists of their fields, and which rows are not deleted."""

    system: System
    store: JoinedDocuments
    fields: JoinedPostings
    live: Allowed | None = None
    countable: int = 1_000

    @property
    def count(self) -> int:
        return len(self.store) if self.live is None else int(np.count_nonzero(self.live))

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Candidate[int]]:
        return self._candidates(self.system.search(query, k, self.allowed(filters)))

    def search_many(self, queries: Sequence[str], k: int, filters: Filters | None = None) -> list[list[Candidate[int]]]:
        return [self._candidates(each) for each in self.system.search_texts(queries, k, self.allowed(filters))]

    def count_matches(self, query: str, filters: Filters | None = None) -> Matches:
        return self.system.count_matches(query, self.allowed(filters))

    def documents(self, keys: Iterable[int]) -> list[Document | None]:
        return [self.store[row] for row in keys]

    def allowed(self, filters: Filters | None) -> Allowed | None:
        """Which rows may be found; None if all may."""
        if not filters:
            return self.live
        matching = matching_rows(self.fields, filters)
        return matching if self.live is None else matching & self.live

    def find(self, id_: str) -> int | None:
        return self.store.find(id_, self.live)

    def known(self, ids: Sequence[str]) -> set[str]:
        return {id_ for id_ in ids if self.find(id_) is not None}

    def stored(self, ids: Sequence[str]) -> Iterator[Document]:
        wanted = set(ids)
        for store, start in zip(self.store.stores, self.store.starts, strict=False):
            for row in store.rows_of(wanted).tolist():
                if self.live is None or self.live[start + row]:
                    yield store[row]

    def explain(self, query: str, key: int, text: str) -> list[Contribution]:
        return self.system.explain(query, key, text)

    def passage(self, query: str, key: int) -> tuple[int, int] | None:
        return self.system.passage(query, key)

    def value_counts(self, name: str, keys: Sequence[int]) -> Counter[str]:
        return value_counts(self.fields, name, np.asarray(keys, np.int64))

    def about(self) -> dict[str, Any]:
        return self.system.about()

    def _candidates(self, ranking: Ranking) -> list[Candidate[int]]:
        ranked = zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)
        return [Candidate(self.store.id_of(row), score, row) for row, score in ranked]

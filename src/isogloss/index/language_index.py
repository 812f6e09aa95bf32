"""Shelf: the documents of one language and whatever searches them; in the files of the index, or in a store.

A shelf has its own name for the place of a document, a row or an id, which only itself understands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from isogloss.data.documents import Document
from isogloss.engines.base import EngineAnswer, Matrix, VectorEngine
from isogloss.engines.registry import Approximating
from isogloss.index.documents import DocumentStore, JoinedDocuments
from isogloss.retrieval.field_lists import matching_rows
from isogloss.retrieval.postings import JoinedPostings
from isogloss.retrieval.ranking import Allowed, Ranking
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution, System
from isogloss.systems.dense import DenseSystem
from isogloss.systems.passages import Passages

Store = DocumentStore | JoinedDocuments
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


class LanguageIndex(Protocol[Place]):
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
class MappedLanguageIndex:
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


# A shelf whose documents are in a store: the query becomes a vector here, everything else happens there.


@dataclass(frozen=True)
class EngineLanguageIndex:
    """The documents of a language in a store. A place is an id.

    ``dimension`` is that of the store: languages with shorter vectors have zeros behind them, which change no product.
    """

    system: DenseSystem
    store: VectorEngine
    language: str
    dimension: int
    count: int = 0

    def search(self, query: str, k: int, filters: Filters | None = None) -> Candidates[str]:
        """The best ``k``."""
        return self.search_many([query], k, filters)[0]

    def search_many(self, queries: Sequence[str], k: int, filters: Filters | None = None) -> list[Candidates[str]]:
        """The best ``k`` for each query; nothing for one without a known word, to which all documents are alike."""
        vectors = padded(self.system.encode_queries(queries), self.dimension)
        known = np.flatnonzero(vectors.any(axis=1))
        found: list[Candidates[str]] = [Candidates(())] * len(queries)
        answers = self.store.search(self.language, vectors[known], k, filters) if len(known) else []
        for number, answer in zip(known.tolist(), answers, strict=True):
            found[number] = _candidates(answer)
        return found

    def documents(self, places: Sequence[str]) -> list[Document | None]:
        """Documents by id, in one request."""
        return self.store.get(self.language, places)

    def find(self, id_: str) -> str | None:
        """The id itself, if it is there."""
        return id_ if self.known([id_]) else None

    def known(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that are in the store."""
        there = self.store.get(self.language, ids)
        return {id_ for id_, document in zip(ids, there, strict=True) if document is not None}

    def explain(self, query: str, place: str, text: str) -> list[Contribution]:
        """What made the score: the document is encoded again, as the only one of a system like this."""
        alone = copy(self.system)
        alone.index_vectors(alone.encode_documents([text]))
        return alone.explain(query, 0, text)

    def passage(self, query: str, place: str) -> tuple[int, int] | None:
        """Documents in a store are scored as a whole."""
        return None

    def about(self) -> dict[str, Any]:
        """The recall that was measured, where the language is searched approximately; the rest the store tells once."""
        recalls = self.store.recalls() if isinstance(self.store, Approximating) else {}
        return {"kind": "approximate", "recall": recalls[self.language]} if self.language in recalls else {}


def for_engine(system: System) -> DenseSystem:
    """The system, if its documents can be kept in a store."""
    inner = system.inner if isinstance(system, Passages) else system
    if not isinstance(inner, DenseSystem) or not inner.ranks_by_product:
        what = "does not make one vector of each text, which is all that a store can search"
        raise InputError(f"{system.name}: {what}; choose aligned, smooth, dssm or pretrained, or leave --engine out")
    if inner is not system:
        what = "a store holds documents whole, not by passages"
        raise InputError(f"{system.name}: {what}; use it with the option passages=0, or leave --engine out")
    return inner


def padded(vectors: Matrix, dimension: int) -> Matrix:
    """Vectors with zeros behind them; longer ones are refused."""
    missing = dimension - vectors.shape[1]
    if missing < 0:
        what = f"vectors of {vectors.shape[1]} components do not fit a store made for {dimension}"
        raise InputError(f"{what}; make the index again with all its languages")
    return np.pad(vectors, ((0, 0), (0, missing))).astype(np.float32, copy=False)


def _candidates(answer: EngineAnswer) -> Candidates[str]:
    return Candidates([Candidate(id_, score, id_) for id_, score in answer.found], answer.missing)

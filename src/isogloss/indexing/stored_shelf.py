"""A shelf whose documents are in a store: the query becomes a vector here, everything else happens there."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from isogloss.base.errors import InputError
from isogloss.corpus.records import Document
from isogloss.evaluation.system import Contribution, System
from isogloss.search.shelf import Candidate, Candidates, Filters
from isogloss.stores.opening import Approximating
from isogloss.stores.store import Answer, Matrix, VectorStore
from isogloss.systems.dense import DenseSystem
from isogloss.systems.passages import Passages


@dataclass(frozen=True)
class StoredShelf:
    """The documents of a language in a store. A place is an id.

    ``dimension`` is that of the store: languages with shorter vectors have zeros behind them, which change no product.
    """

    system: DenseSystem
    store: VectorStore
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


def for_store(system: System) -> DenseSystem:
    """The system, if its documents can be kept in a store."""
    inner = system.inner if isinstance(system, Passages) else system
    if not isinstance(inner, DenseSystem) or not inner.ranks_by_product:
        what = "does not make one vector of each text, which is all that a store can search"
        raise InputError(f"{system.name}: {what}; choose aligned, smooth, dssm or pretrained, or leave --store out")
    if inner is not system:
        what = "a store holds documents whole, not by passages"
        raise InputError(f"{system.name}: {what}; use it with the option passages=0, or leave --store out")
    return inner


def padded(vectors: Matrix, dimension: int) -> Matrix:
    """Vectors with zeros behind them; longer ones are refused."""
    missing = dimension - vectors.shape[1]
    if missing < 0:
        what = f"vectors of {vectors.shape[1]} components do not fit a store made for {dimension}"
        raise InputError(f"{what}; make the index again with all its languages")
    return np.pad(vectors, ((0, 0), (0, missing))).astype(np.float32, copy=False)


def _candidates(answer: Answer) -> Candidates[str]:
    return Candidates([Candidate(id_, score, id_) for id_, score in answer.found], answer.missing)

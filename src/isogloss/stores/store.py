"""VectorStore: what an engine has to do to hold an index. A new engine is one small file with such a class.

Documents come with their vectors, and a vector is all that a store knows of relevance: it ranks by inner product,

    score(q, d) = sum_i q_i d_i

which serves every system that maps both sides to vectors (the smooth cosine is such a product, see
:mod:`isogloss.models.similarity`). Scores fall, equal scores are ordered by id. ``tests/stores/conformance.py`` says
the same in tests, and every store passes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.base.errors import InputError
from isogloss.corpus.records import Document

Matrix = NDArray[np.float32]
Filters = Mapping[str, str]


class StoreUnavailableError(InputError):
    """The engine does not answer, or no longer: it may do so later."""


class Found(NamedTuple):
    """A document that was found, and its score."""

    id: str
    score: float


class Answer(NamedTuple):
    """What was found for a query, the best first; ``missing`` says which parts of the store did not answer."""

    found: tuple[Found, ...]
    missing: tuple[str, ...] = ()


class VectorStore(Protocol):
    """Documents of one or many languages, each with a vector; (language, id) names a document.

    Threads may share a store. Documents that come to it tell their language.
    """

    def add(self, documents: Sequence[Document], vectors: Matrix) -> None:
        """Add or replace documents: all or none of them, and kept when this returns."""
        ...

    def delete(self, language: str, ids: Sequence[str]) -> int:
        """Take documents out; how many there were."""
        ...

    def search(self, language: str, queries: Matrix, k: int, filters: Filters | None = None) -> list[Answer]:
        """The best ``k`` documents of a language for each query, of those that have these fields with these values."""
        ...

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        """Documents by their ids, None for those that are not there."""
        ...

    def counts(self) -> dict[str, int]:
        """How many documents there are of each language."""
        ...

    def about(self) -> dict[str, Any]:
        """What there is to know of it, as plain values: the engine, how it searches."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...

"""IndexEngine: the interface of an engine that stores an index. A new engine is one small file with such a class.

Documents come with their vectors, and an engine ranks by inner product only,

    score(q, d) = sum_i q_i d_i

which serves every system that maps both sides to vectors (the smooth cosine is such a product, see
:mod:`isogloss.nn.similarity`). Scores fall, equal scores are ordered by id. ``tests/engines/conformance.py`` says
the same in tests, and every engine passes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Document
from isogloss.storage.errors import InputError

Matrix = NDArray[np.float32]
Filters = Mapping[str, str]


class EngineUnavailableError(InputError):
    """The engine does not answer, or no longer: it may do so later."""


class EngineHit(NamedTuple):
    """A document that was found, and its score."""

    id: str
    score: float


class IndexEngine(Protocol):
    """Documents of one or many languages, each with a vector, under a name of their own in the engine.

    (language, id) names a document; added documents have a language. Threads may share it.
    """

    @classmethod
    def create(cls, url: str, dimension: int, *, name: str) -> Self:
        """A new and empty one; an ``InputError`` if there is one of that name."""

    @classmethod
    def open(cls, url: str, *, name: str) -> Self:
        """One that is there; an ``InputError`` if it is not."""

    def drop(self) -> None:
        """Remove everything that ``create`` made and that was added to it, and close."""

    def add(self, documents: Sequence[Document], vectors: Matrix) -> None:
        """Add or replace documents: all or none of them, and kept when this returns."""

    def delete(self, language: str, ids: Sequence[str]) -> int:
        """Delete documents; how many there were."""

    def search(self, language: str, queries: Matrix, k: int, filters: Filters | None = None) -> list[list[EngineHit]]:
        """The best ``k`` documents of a language for each query, of those that have these fields with these values."""

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        """Documents by their ids, None for those that are not there."""

    def counts(self) -> dict[str, int]:
        """How many documents there are of each language."""

    def about(self) -> dict[str, Any]:
        """Facts about it, as plain values: the engine, how it searches."""

    def close(self) -> None:
        """Close files and connections."""


@runtime_checkable
class Sweeping(Protocol):
    """An engine that can remove indexes whose making was interrupted."""

    @classmethod
    def begin(cls, url: str, dimension: int, *, name: str) -> IndexEngine:
        """A new and empty one that ``sweep`` removes unless ``finish`` is called."""

    @classmethod
    def sweep(cls, url: str) -> list[str]:
        """Drop what ended processes have begun and not finished; the names."""

    def finish(self) -> None:
        """Mark it as complete."""


@runtime_checkable
class Approximating(Protocol):
    """An engine that can search approximately."""

    def approximate(self, how: str) -> dict[str, float]:
        """Begin to (``yes``; ``auto``: where it pays) or cease to (``no``); what ``recalls`` then says."""

    def recalls(self) -> dict[str, float]:
        """The recall@10 that was measured in each language that is searched approximately."""


@runtime_checkable
class Listing(Protocol):
    """An engine that lists its documents, so that another model can encode them."""

    def documents(self, language: str) -> Iterator[Document]:
        """The documents of a language, one after the other."""


def checked_batch(documents: Sequence[Document], vectors: Matrix, dimension: int | None) -> Matrix:
    """The vectors as contiguous float32, if they and their documents can be stored: all engines refuse the same.

    ``dimension`` is the number of components of the engine's vectors; None if it is not decided yet.
    """
    matrix = checked_vectors(vectors, dimension, "document")
    if len(matrix) != len(documents):
        raise InputError(f"{len(matrix):,} vectors for {len(documents):,} documents: give one for each")
    seen = set()
    for document in documents:
        if not document.id or not document.language:
            missing = "language" if document.id else "id"
            raise InputError(f"document: {document.id!r} has no {missing}; give each its own")
        if (document.language, document.id) in seen:
            raise InputError(f"document: {document.id!r} is twice among those to add; leave one out")
        seen.add((document.language, document.id))
    return matrix


def checked_vectors(vectors: Matrix, dimension: int | None, what: str = "query") -> Matrix:
    """The vectors of queries or documents as contiguous float32, if they are finite rows of that dimension."""
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.ndim != 2:
        raise InputError(f"{what}: vectors of shape {matrix.shape} are not the rows of a matrix")
    if dimension is not None and matrix.shape[1] != dimension:
        width = f"a vector of {matrix.shape[1]} components in an engine index of {dimension}"
        raise InputError(f"{what}: {width}; use the model that the index was made with")
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise InputError(f"{what}: vector {int(finite.argmin())} (counted from 0) has a component that is not finite")
    return matrix

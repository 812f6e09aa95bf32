"""IndexEngine: the interface of an engine that stores an index. A new engine is one small module with such a class.

Documents come with points, one for a whole document or one a passage. A point has a dense vector, a sparse one, or
both, and an engine ranks by one inner product at a time:

    score(q, d) = max over the points p of d of  sum_i q_i p_i

which serves every system that maps both sides to vectors (the smooth cosine is such a product of vectors that are
scaled once; sparse systems: :mod:`isogloss.systems.sparse`). Scores fall, equal scores are ordered by id. A sparse
search finds only documents that share a dimension with the query.
``tests/engines/conformance.py`` says the same in tests, and every engine passes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Document
from isogloss.storage.errors import InputError
from isogloss.systems.sparse import SparseVector

Matrix = NDArray[np.float32]
Filters = Mapping[str, str]
Queries = Matrix | Sequence[SparseVector]
"""Dense queries, the rows of a matrix, or sparse ones."""


_WITHOUT = "vector in an engine index without; use the model that the index was made with"


class EngineUnavailableError(InputError):
    """The engine does not answer, or no longer: it may do so later."""


class EngineHit(NamedTuple):
    """A document that was found, and its score."""

    id: str
    score: float


class Points(NamedTuple):
    """The vectors of some documents: ``counts`` points of each, document after document."""

    counts: NDArray[np.int64]
    dense: Matrix | None = None
    sparse: Sequence[SparseVector] | None = None

    @property
    def starts(self) -> list[int]:
        """Where the points of each document begin, and where the last ones end."""
        return [0, *np.cumsum(self.counts).tolist()]


class IndexEngine(Protocol):
    """Documents of one or many languages, each with its points, under a name of their own in the engine.

    (language, id) names a document; added documents have a language. Threads may share it.
    """

    @classmethod
    def create(cls, url: str, dimension: int, *, name: str, sparse: bool = False) -> Self:
        """A new and empty one; an ``InputError`` if there is one of that name.

        Points have a dense vector of so many components, unless ``dimension`` is 0, and a sparse one if ``sparse``.
        """

    @classmethod
    def open(cls, url: str, *, name: str) -> Self:
        """One that is there; an ``InputError`` if it is not."""

    def drop(self) -> None:
        """Remove everything that ``create`` made and that was added to it, and close."""

    def add(self, documents: Sequence[Document], points: Points | Matrix) -> None:
        """Add or replace documents: all or none of them, and kept when this returns. A matrix has a row for each."""

    def delete(self, language: str, ids: Sequence[str]) -> int:
        """Delete documents; how many there were."""

    def search(
        self, language: str, queries: Queries, k: int, filters: Filters | None = None, ids: Sequence[str] | None = None
    ) -> list[list[EngineHit]]:
        """The best ``k`` documents of a language for each query, of those that have these fields with these values.

        ``ids``: only of these documents, and exactly.
        """

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
    def begin(cls, url: str, dimension: int, *, name: str, sparse: bool = False) -> IndexEngine:
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


def checked_points(
    documents: Sequence[Document], points: Points | Matrix, dimension: int | None, sparse: bool = False
) -> Points:
    """The points, if they and their documents can be stored: all engines refuse the same.

    ``dimension`` and ``sparse`` say which vectors points have; the dimension is None if it is not decided yet.
    """
    if dimension == 0 and not (isinstance(points, Points) and points.dense is None):
        raise InputError(f"document: a dense {_WITHOUT}")
    if not isinstance(points, Points):
        dense = checked_vectors(points, dimension, "document")
        if len(dense) != len(documents):
            raise InputError(f"{len(dense):,} vectors for {len(documents):,} documents: give one for each")
        points = Points(np.ones(len(dense), np.int64), dense)
    elif points.dense is not None:
        points = points._replace(dense=checked_vectors(points.dense, dimension, "document"))
    if len(points.counts) != len(documents) or (points.counts < 1).any():
        raise InputError(f"points of {len(points.counts):,} documents for {len(documents):,}: each needs one or more")
    if points.sparse is not None and not sparse:
        raise InputError(f"document: a sparse {_WITHOUT}")
    for kind, vectors in (("dense", points.dense), ("sparse", points.sparse)):
        if vectors is not None and len(vectors) != points.counts.sum():
            raise InputError(f"{len(vectors):,} {kind} vectors for {points.counts.sum():,} points: give one for each")
    if points.dense is None and points.sparse is None:
        raise InputError("document: points without vectors cannot be found; give a dense or a sparse one")
    checked_sparse(points.sparse or (), "document")
    _check_documents(documents)
    return points


def _check_documents(documents: Sequence[Document]) -> None:
    seen = set()
    for document in documents:
        if not document.id or not document.language:
            missing = "language" if document.id else "id"
            raise InputError(f"document: {document.id!r} has no {missing}; give each its own")
        if (document.language, document.id) in seen:
            raise InputError(f"document: {document.id!r} is twice among those to add; leave one out")
        seen.add((document.language, document.id))


def checked_queries(queries: Queries, dimension: int, sparse: bool) -> Queries:
    """The queries, if the points have vectors of their kind."""
    if isinstance(queries, np.ndarray):
        if not dimension:
            raise InputError(f"query: a dense {_WITHOUT}")
        return checked_vectors(queries, dimension)
    if not sparse:
        raise InputError(f"query: a sparse {_WITHOUT}")
    return checked_sparse(queries)


def checked_sparse(vectors: Sequence[SparseVector], what: str = "query") -> Sequence[SparseVector]:
    """The sparse vectors, if their dimensions ascend and their weights are finite."""
    for number, (dimensions, weights) in enumerate(vectors):
        if len(dimensions) != len(weights) or not (dimensions[1:] > dimensions[:-1]).all():
            raise InputError(f"{what}: sparse vector {number} (counted from 0) has dimensions that do not ascend")
        if not np.isfinite(weights).all():
            raise InputError(f"{what}: sparse vector {number} (counted from 0) has a weight that is not finite")
    return vectors


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

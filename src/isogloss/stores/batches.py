"""What every store refuses before it keeps or looks for anything, so that all refuse the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isogloss.base.errors import InputError
from isogloss.corpus.records import Document
from isogloss.stores.store import Matrix


def checked_batch(documents: Sequence[Document], vectors: Matrix, dimension: int | None) -> Matrix:
    """The vectors as contiguous float32, if they and their documents can be kept.

    ``dimension`` is the number of components that the store's vectors have; None if nothing has decided it yet.
    """
    matrix = _checked(vectors, dimension, "document")
    if len(matrix) != len(documents):
        raise InputError(f"{len(matrix):,} vectors for {len(documents):,} documents: give one for each")
    seen = set()
    for document in documents:
        if not document.id or not document.language:
            raise InputError(
                f"document: {document.id!r} has no {'language' if document.id else 'id'}; give each its own"
            )
        if (document.language, document.id) in seen:
            raise InputError(f"document: {document.id!r} stands twice among those to add; leave one out")
        seen.add((document.language, document.id))
    return matrix


def checked_queries(queries: Matrix, dimension: int | None) -> Matrix:
    """The same for the vectors of queries."""
    return _checked(queries, dimension, "query")


def _checked(vectors: Matrix, dimension: int | None, what: str) -> Matrix:
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.ndim != 2:
        raise InputError(f"{what}: vectors of shape {matrix.shape} are not the rows of a matrix")
    if dimension is not None and matrix.shape[1] != dimension:
        width = f"a vector of {matrix.shape[1]} components in a store of {dimension}"
        raise InputError(f"{what}: {width}; use the model that the store was made with")
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise InputError(f"{what}: vector {int(finite.argmin())} (counted from 0) has a component that is not finite")
    return matrix

"""The smooth cosine similarity (Liu et al., eq. 1), in functions that take numpy arrays and torch tensors alike."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = Any
"""A numpy array or a torch tensor."""


def namespace(array: Array) -> Any:
    """The module whose functions take this array: torch (which made it, so it is loaded) or numpy.

    >>> namespace([1.0, 2.0]).__name__
    'numpy'
    """
    return sys.modules["torch"] if type(array).__module__.partition(".")[0] == "torch" else np


def floats(array: Array) -> Array:
    """A tensor as it is; anything else as a numpy array of its own or else double precision."""
    if namespace(array) is not np:
        return array
    array = np.asarray(array)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def constants(values: Sequence[float] | NDArray[np.float64], like: Array) -> Array:
    """Numbers of ours as an array of the same kind, precision and device as ``like``."""
    return np.asarray(values, dtype=like.dtype) if namespace(like) is np else like.new_tensor(values)


def smooth_scale(vectors: Array, eps: float) -> Any:
    """Each row x as x / (|x| + eps): the smooth cosine is the inner product of two vectors scaled like this.

    The zero vector stays zero, also at eps = 0, where its derivative (there is none) counts as zero.

    >>> smooth_scale([[3.0, 4.0], [0.0, 0.0]], 5.0)
    array([[0.3, 0.4],
           [0. , 0. ]])
    """
    vectors = floats(vectors)
    length = _norms(vectors) + eps
    divisible = length != 0  # not '> 0': what is not a number must stay so
    module = namespace(vectors)
    return module.where(divisible, vectors / module.where(divisible, length, module.ones_like(length)), 0.0)


def smooth_cosine(queries: Array, documents: Array, eps: float) -> Any:
    """r_eps(q, d) = q.d / ((|q| + eps) (|d| + eps)), row by row (eq. 1); eps = 0 is the cosine, 0 at a zero vector.

    >>> smooth_cosine([[3.0, 4.0]], [[3.0, 4.0]], 5.0)
    array([0.25])
    """
    return (smooth_scale(queries, eps) * smooth_scale(documents, eps)).sum(-1)


def smooth_cosine_gradient(
    queries: ArrayLike, documents: ArrayLike, eps: float
) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """The derivatives of ``smooth_cosine`` with respect to q and to d, row by row.

        dr/dq = (d / (|d| + eps) - r q / |q|) / (|q| + eps)

    and the same with q and d exchanged. At q = 0 the second term is gone (r = 0); at q = 0 and eps = 0 the cosine has
    no derivative, and zero is returned.
    """
    query, document = floats(queries), floats(documents)
    scores = smooth_cosine(query, document, eps)[..., None]
    return _gradient(query, document, scores, eps), _gradient(document, query, scores, eps)


def _gradient(
    vectors: NDArray[Any], others: NDArray[Any], scores: NDArray[Any], eps: float
) -> NDArray[np.floating[Any]]:
    length = _norms(vectors) + eps
    rates = np.divide(1.0, length, out=np.zeros_like(length), where=length != 0)
    gradient: NDArray[np.floating[Any]] = rates * (smooth_scale(others, eps) - scores * smooth_scale(vectors, 0.0))
    return gradient


def _norms(vectors: Array) -> Any:
    return namespace(vectors).linalg.norm(vectors, axis=-1, keepdims=True)

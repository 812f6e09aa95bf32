"""numpy arrays and torch tensors in one formula: the functions come from whichever the arguments belong to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    if namespace(like) is np:
        return np.asarray(values, dtype=like.dtype)
    return like.new_tensor(values)

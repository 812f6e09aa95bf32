"""Checks of arrays from files: compiled code checks no bounds, so it must never get an array that was not checked.

Each raises a ``ValueError`` that begins with the name of the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_BLOCK = 2**22  # numbers compared at a time: the comparisons need memory


def check_type(array: NDArray[Any], dtype: DTypeLike, name: str, size: int | None = None) -> None:
    """One dimension, values of this type and, where it is named, this size."""
    if array.ndim != 1 or array.dtype != np.dtype(dtype):
        raise ValueError(f"{name} is an array of {array.dtype} with the shape {array.shape}, not a row of {dtype}")
    if size is not None and len(array) != size:
        raise ValueError(f"{name} does not fit: it has {len(array):,} values, not {size:,}")


def check_offsets(offsets: NDArray[Any], size: int, name: str) -> None:
    """0 = o_0 <= o_1 <= ... <= o_n = size: the list i goes from o_i to o_{i+1} in an array of that size.

    >>> check_offsets(np.array([0, 3, 2, 5]), 5, "offsets.npy")
    Traceback (most recent call last):
    ValueError: offsets.npy does not ascend
    """
    check_type(offsets, np.int64, name)
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != size:
        ends = f"{offsets[0]:,} to {offsets[-1]:,}" if len(offsets) else "nothing"
        raise ValueError(f"{name} does not fit: it has {ends}, not 0 to {size:,}")
    for start in range(0, len(offsets) - 1, _BLOCK):
        block = offsets[start : start + _BLOCK + 1]
        if (block[1:] < block[:-1]).any():
            raise ValueError(f"{name} does not ascend")


def check_within(numbers: NDArray[Any], count: int, name: str, least: int = 0) -> None:
    """Every number n is an integer with least <= n < count."""
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"{name} is an array of {numbers.dtype}, not of integers")
    if numbers.size and (numbers.min() < least or numbers.max() >= count):
        raise ValueError(
            f"{name} has numbers from {numbers.min():,} to {numbers.max():,}, not {least} to {count - 1:,}"
        )


def check_lists(offsets: NDArray[np.int64], numbers: NDArray[Any], count: int, name: str) -> None:
    """The numbers of each list ascend, none comes twice, and all are from 0 to count - 1. The offsets are checked.

    >>> check_lists(np.array([0, 2, 4]), np.array([1, 5, 0, 5]), 6, "documents.npy")
    >>> check_lists(np.array([0, 3, 4]), np.array([1, 5, 0, 5]), 6, "documents.npy")
    Traceback (most recent call last):
    ValueError: documents.npy does not ascend within a list
    """
    check_within(numbers, count, name)
    for start in range(0, len(numbers) - 1, _BLOCK):
        block = numbers[start : start + _BLOCK + 1]
        falls = np.flatnonzero(block[1:] <= block[:-1]) + (start + 1)  # each has to be the first of a list
        if (offsets[np.searchsorted(offsets, falls)] != falls).any():
            raise ValueError(f"{name} does not ascend within a list")

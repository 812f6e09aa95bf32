"""How the vectors of an index are kept: float32 as they are, float16 (11 bits), or int8 with a scale for each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isogloss.retrieval.vectors.quantised import Quantised

_FEW_VALUES = 8_192
STORAGES = ("float32", "float16", "int8")

Matrix = NDArray[np.floating]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Stored = Matrix | Quantised
"""Rows as they are kept, in memory or mapped."""


def stored_as(matrix: Matrix, storage: str) -> Stored:
    """The rows of a matrix, kept as one of ``STORAGES``."""
    if storage not in STORAGES:
        raise ValueError(f"vectors are kept as {', '.join(STORAGES)}, not as {storage}")
    return Quantised.of(matrix) if storage == "int8" else as_dtype(matrix, storage)


def storage_of(rows: Stored) -> str:
    """Which of ``STORAGES`` rows are kept as."""
    return str(rows.dtype)


def float32_rows(rows: Stored) -> Floats:
    """Rows of any storage as float32: as they are, or widened without loss."""
    if isinstance(rows, Quantised) or rows.dtype != np.float16:
        return rows.astype(np.float32) if isinstance(rows, Quantised) else rows.astype(np.float32, copy=False)
    return _widened(rows)


def float64_rows(rows: Stored) -> Doubles:
    """The same as float64; few go faster by a plain cast."""
    widened = float32_rows(rows) if rows.dtype == np.float16 and rows.size > _FEW_VALUES else rows
    return widened.astype(np.float64)  # type: ignore[return-value]


def as_dtype(matrix: Matrix, dtype: DTypeLike) -> Matrix:
    """A matrix in another type; what is too large for it becomes infinite without a word, and is refused later."""
    with np.errstate(over="ignore"):
        return matrix.astype(dtype, copy=False)


def squared_lengths(rows: Stored) -> Doubles:
    """The squared length of each row."""
    doubles = float64_rows(rows)
    squares: Doubles = np.einsum("rd,rd->r", doubles, doubles)
    return squares


def _widened(rows: Matrix) -> Floats:
    """Float16 to float32 by its bits: about six times faster than a cast of numpy 2.4.

    Sign, exponent and fraction move to their places in float32; 2^112 mends the exponent, of subnormal numbers too
    (unless some library has told the processor to take those for zero).
    """
    if not np.float32(2.0**-140) * np.float32(2.0**112):
        return rows.astype(np.float32)
    bits = rows.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x70002000)  # 0x8fffe000: without the copies that widening made of the sign
    widened = bits.view(np.float32)
    widened *= np.float32(2.0**112)
    return widened

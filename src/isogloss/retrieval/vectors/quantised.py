"""Vectors in eight bits a component, with one scale a row.

    v_i ~ s c_i,     c_i an integer from -127 to 127,     s = max_i |v_i| / 127

What is scored is s c_i itself, not the vector it came from: keeping that one too, to score the best again, would cost
four times what was saved. So a search is exact in the vectors that are kept, and whether those are near enough to the
given ones is measured when an index is made (``isogloss.retrieval.vectors.recall``).

The scale is rounded up to 17 bits, so that s c_i has no more than the 24 bits of a float32 and is kept without any
further rounding: float32 and float64 see the same vector, and a vector that was kept this way once is kept unchanged
when it is written again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGEST = 127
_SCALE_BITS = 17
_ROWS = 65_536  # taken at a time

Slice = slice | NDArray[np.integer]


class Quantised:
    """The rows of a matrix as integers of eight bits and a scale each. ``rows[some]`` are some of them."""

    def __init__(self, codes: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        if codes.ndim != 2 or scales.shape != codes.shape[:1]:
            raise ValueError(f"integers of shape {codes.shape} do not fit {scales.shape} scales")
        self.codes = codes
        self.scales = scales

    @classmethod
    def of(cls, matrix: NDArray[np.floating]) -> Quantised:
        """The nearest such rows to those of a matrix.

        >>> rows = Quantised.of(np.asarray([[1.0, -0.6, 0.25]]))
        >>> rows.codes.tolist()
        [[127, -76, 32]]
        """
        codes = np.empty(matrix.shape, dtype=np.int8)
        scales = np.empty(len(matrix), dtype=np.float32)
        for start in range(0, len(matrix), _ROWS):
            rows = np.asarray(matrix[start : start + _ROWS], dtype=np.float32)
            found = _scales(np.abs(rows).max(axis=1, initial=0.0))
            scales[start : start + _ROWS] = found
            codes[start : start + _ROWS] = np.rint(rows / np.where(found > 0, found, np.float32(1))[:, np.newaxis])
        return cls(codes, scales)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the matrix."""
        return self.codes.shape

    @property
    def size(self) -> int:
        """The number of components."""
        return self.codes.size

    @property
    def dtype(self) -> np.dtype[np.int8]:
        """Of what a component is kept as."""
        return self.codes.dtype

    @property
    def nbytes(self) -> int:
        """What the rows take."""
        return self.codes.nbytes + self.scales.nbytes

    def __getitem__(self, some: Slice) -> Quantised:
        return Quantised(self.codes[some], self.scales[some])

    def take(self, some: NDArray[np.integer], axis: int = 0) -> Quantised:
        """Some of the rows, as numpy's method of that name."""
        return Quantised(self.codes.take(some, axis=axis), self.scales.take(some))

    def astype(self, dtype: DTypeLike) -> NDArray[np.floating]:
        """The rows as a matrix of float32 or float64: the same numbers in both."""
        rows: NDArray[np.floating] = self.codes.astype(dtype)
        rows *= self.scales[:, np.newaxis]
        return rows


def _scales(largest: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a step of each row is worth: its largest component / 127, rounded up to 17 bits.

    Rounding up keeps codes within 127. A largest component that is itself 127 steps of such a scale gives that scale
    again. Steps below the normal numbers would lose bits, and are the smallest that does not.
    """
    parts, exponents = np.frexp(largest.astype(np.float64) / LARGEST)
    rounded = np.ceil(parts * 2.0**_SCALE_BITS)
    scales = np.ldexp(rounded, exponents - _SCALE_BITS).astype(np.float32)
    smallest = np.finfo(np.float32).tiny
    return np.where(largest > 0, np.maximum(scales, smallest), np.float32(0)).astype(np.float32)

"""Vectors as an index stores them, in memory and in files: float32, float16, or int8 with a scale for each row.

    v_i ~ s c_i,     c_i an integer from -127 to 127,     s = max_i |v_i| / 127        (int8)

What is scored is s c_i itself. Whether that is near enough to the input vectors is measured when an index is built
(``recall``). A scale is rounded up to 17 bits, so that s c_i fits the 24 bits of a float32: float32 and float64 have
the same vector, and a vector that was stored this way once is stored unchanged when it is written again.

A part of an index is a directory, opened without being read:

    vectors.json    format, shape, storage, length of the longest row, settings and measured recall
    vectors.npy     the rows: float32, float16 or int8
    scales.npy      of int8: the scale of each row
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.files import read_json

STORAGES = ("float32", "float16", "int8")
FORMAT = 3
"""The version of the files of a part."""
LARGEST = 127
_SCALE_BITS = 17
_ROWS = 65_536  # quantised at a time
_FEW_VALUES = 8_192
_FILE = "vectors.json"

Matrix = NDArray[np.floating]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


class Quantised:
    """The rows of a matrix as integers of eight bits and a scale each; ``rows[some]`` are some of them."""

    def __init__(self, codes: NDArray[np.int8], scales: Floats) -> None:
        if codes.ndim != 2 or scales.shape != codes.shape[:1]:
            raise ValueError(f"integers of shape {codes.shape} do not fit {scales.shape} scales")
        self.codes, self.scales = codes, scales
        self.shape, self.size, self.dtype = codes.shape, codes.size, codes.dtype
        self.nbytes = codes.nbytes + scales.nbytes

    @classmethod
    def of(cls, matrix: Matrix) -> Quantised:
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

    def __getitem__(self, some: slice | NDArray[np.integer]) -> Quantised:
        return Quantised(self.codes[some], self.scales[some])

    def take(self, some: NDArray[np.integer], axis: int = 0) -> Quantised:
        """Some of the rows, as numpy's method of that name."""
        return Quantised(self.codes.take(some, axis=axis), self.scales.take(some))

    def astype(self, dtype: DTypeLike) -> Matrix:
        """The rows as a matrix of float32 or float64: the same numbers in both."""
        rows: Matrix = self.codes.astype(dtype)
        rows *= self.scales[:, np.newaxis]
        return rows


Stored = Matrix | Quantised
"""Rows as they are stored, in memory or mapped."""


def stored_as(matrix: Matrix, storage: str) -> Stored:
    """The rows of a matrix, stored as one of ``STORAGES``."""
    if storage not in STORAGES:
        raise ValueError(f"vectors are stored as {', '.join(STORAGES)}, not as {storage}")
    return Quantised.of(matrix) if storage == "int8" else as_dtype(matrix, storage)


def storage_of(rows: Stored) -> str:
    """The one of ``STORAGES`` that rows are stored as."""
    return str(rows.dtype)


def float32_rows(rows: Stored) -> Floats:
    """Rows of any storage as float32: as they are, or widened without loss."""
    if isinstance(rows, Quantised):
        return rows.astype(np.float32)
    return _widened(rows) if rows.dtype == np.float16 else rows.astype(np.float32, copy=False)


def float64_rows(rows: Stored) -> Doubles:
    """The same as float64; few go faster by a plain cast."""
    widened = float32_rows(rows) if rows.dtype == np.float16 and rows.size > _FEW_VALUES else rows
    return widened.astype(np.float64)  # type: ignore[return-value]


def as_dtype(matrix: Matrix, dtype: DTypeLike) -> Matrix:
    """A matrix in another type; a value too large for it becomes infinite without a warning, and is refused later."""
    with np.errstate(over="ignore"):
        return matrix.astype(dtype, copy=False)


def squared_lengths(rows: Stored) -> Doubles:
    """The squared length of each row."""
    doubles = float64_rows(rows)
    return np.asarray(np.einsum("rd,rd->r", doubles, doubles))


def save_rows(directory: Path, rows: Stored, longest: float, about: Mapping[str, Any]) -> None:
    """Write into an existing directory."""
    save_array(directory / "vectors.npy", rows.codes if isinstance(rows, Quantised) else rows)
    if isinstance(rows, Quantised):
        save_array(directory / "scales.npy", rows.scales)
    kept = {"format": FORMAT, "shape": rows.shape, "storage": storage_of(rows), "longest": longest, **about}
    (directory / _FILE).write_text(json.dumps(kept) + "\n", encoding="utf-8")


def load_rows(directory: Path) -> tuple[Stored, float, dict[str, Any]]:
    """Map what ``save_rows`` wrote: rows, length, and the rest; damage is a ``ValueError`` or ``OSError``."""
    about = read_json(directory / _FILE)
    if not isinstance(about, dict):
        raise ValueError(f"{_FILE} is no object")
    missing = {"format", "shape", "storage", "longest"} - set(about)
    if missing:
        raise ValueError(f"{_FILE} does not say its {', '.join(sorted(missing))}")
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']}, this isogloss reads format {FORMAT}")
    rows: Stored = load_array(directory / "vectors.npy")
    if about["storage"] == "int8":
        rows = Quantised(rows, load_array(directory / "scales.npy"))  # type: ignore[arg-type]  # or else refused below
    if list(rows.shape) != about["shape"] or storage_of(rows) != about["storage"]:
        raise ValueError(f"the vectors are {storage_of(rows)} of shape {rows.shape}, {_FILE} says otherwise")
    if type(about["longest"]) not in (int, float) or not 0 <= about["longest"] < np.inf:
        raise ValueError(f"{_FILE} has no length of the longest: {about['longest']!r}")
    return rows, float(about["longest"]), about


def _scales(largest: Floats) -> Floats:
    """The scale of each row: its largest component / 127, rounded up to 17 bits.

    Rounding up limits codes to 127. A largest component that is itself 127 steps of such a scale gives that scale
    again. Scales below the normal numbers would lose bits, and are the smallest that does not.
    """
    fractions, exponents = np.frexp(largest.astype(np.float64) / LARGEST)
    rounded = np.ceil(fractions * 2.0**_SCALE_BITS)
    scales = np.ldexp(rounded, exponents - _SCALE_BITS).astype(np.float32)
    smallest = np.finfo(np.float32).tiny
    return np.where(largest > 0, np.maximum(scales, smallest), np.float32(0)).astype(np.float32)


def _widened(rows: Matrix) -> Floats:
    """Float16 to float32 by its bits: about six times faster than a cast of numpy 2.4.

    Sign, exponent and fraction move to their bits of float32; 2^112 corrects the exponent, of subnormal numbers too
    (unless some library has set the processor to flush those to zero).
    """
    if not np.float32(2.0**-140) * np.float32(2.0**112):
        return rows.astype(np.float32)
    bits = rows.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x70002000)  # 0x8fffe000: without the copies that widening made of the sign
    widened = bits.view(np.float32)
    widened *= np.float32(2.0**112)
    return widened

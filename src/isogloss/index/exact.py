"""The exact embedded vector index: every document is looked at, the best are found, and nothing is left to chance.

    score(q, d) = q . d = sum_i q_i d_i        summed in float64, then rounded once to float32

A search has two passes. The first multiplies blocks of rows with all queries (BLAS, float32) and keeps one number for
every 32 rows: their maximum. The k-th largest of these maxima is a floor, since k rows reach it; a group of 32 whose
maximum stays below has nothing to offer. The second pass computes the score above, for the few groups that are left.

Why two kinds of sums: the last bits of a BLAS product depend on the shape of the call, the place of a row in it, the
threads and the machine, so that equal vectors can get unequal scores and near-ties change places with the size of
a batch. The first pass therefore only chooses, with a margin for any order of summation (Higham 2002, eq. 3.5, u the
unit roundoff):

    |fl(q . d) - q . d| <= m = (n u / (1 - n u)) |q| |d|

What is in the first k has a first-pass score of at least floor - 2m. The second pass sums row by row, alike wherever
a row stands. So rankings and scores do not depend on batches, blocks or threads, equal vectors have equal scores,
and scores that are equal in float32 are ordered by id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.errors import InputError
from isogloss.base.files import atomic_directory
from isogloss.evaluation.ranking import Ranking, Rows, top_k

FORMAT = 1
GROUP = 32  # rows a maximum stands for: 16 and 64 are no faster
_BLOCK_VALUES = 2**21  # 8 MB: near enough to the cache, and so few blocks that the threads of BLAS seldom meet to wait
_QUERIES = 64  # searched together; more would cost memory (n / 32 maxima each) and gain nothing
_EXACT_ROWS = 4_096  # summed in float64 at a time
_FILE = "exact.json"

Vector = NDArray[np.floating]
Matrix = NDArray[np.floating]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


class ExactIndex:
    """Rows of a float32 or float16 matrix, in memory or mapped, ranked by inner product; ties by ``id_order``.

    ``id_order[row]`` is the place of the row's id among all ids. ``block`` is the number of rows multiplied at once
    and changes nothing but the speed. Nothing is kept between calls, so that threads may share an index.

    >>> index = ExactIndex(np.eye(3, dtype=np.float32), np.arange(3))
    >>> index.search(np.asarray([0.0, 2.0, 1.0]), k=2)
    Ranking(rows=array([1, 2]), scores=array([2., 1.], dtype=float32))
    """

    def __init__(self, matrix: Matrix, id_order: Rows, block: int | None = None, longest: float | None = None) -> None:
        """``longest`` is the length of the longest row where it is known: finding it reads the whole matrix."""
        if matrix.ndim != 2 or id_order.shape != matrix.shape[:1]:
            raise ValueError(f"vectors of shape {matrix.shape} do not fit an order of {id_order.shape} ids")
        kept = matrix.dtype if matrix.dtype in (np.float16, np.float32) else np.float32
        self.matrix: Matrix = np.ascontiguousarray(_as_dtype(matrix, kept))
        self.id_order = id_order
        if block is not None and block < 1:
            raise ValueError(f"a block of {block} rows: at least 1 is needed")
        self._block = block
        self.longest = self._find_longest() if longest is None else longest

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        return int(self.matrix.shape[1])

    def search(self, query: Vector, k: int) -> Ranking:
        """The ``k`` best rows for a query, exactly."""
        return self.search_batch(np.asarray(query)[np.newaxis], k)[0]

    def search_batch(self, queries: Matrix, k: int) -> list[Ranking]:
        """The ``k`` best rows for each query (a row each): what ``search`` says, faster."""
        if k < 0:
            raise ValueError(f"the best {k} rows: at least 0 are needed")
        checked = self._checked(queries)
        parts = (checked[start : start + _QUERIES] for start in range(0, len(checked), _QUERIES))
        return [ranking for part in parts for ranking in self._search(part, k)]

    def scores(self, query: Vector) -> Floats:
        """The score of every row."""
        wanted = self._double(query)
        found = np.empty(len(self), dtype=np.float32)
        for start in range(0, len(self), _EXACT_ROWS):
            found[start : start + _EXACT_ROWS] = _inner_products(self.matrix[start : start + _EXACT_ROWS], wanted)
        return found

    def score(self, query: Vector, rows: Rows) -> Floats:
        """The scores of some rows, the same as in ``scores`` to the last bit."""
        return self._score(self._double(query), np.asarray(rows, dtype=np.int64))

    def save(self, directory: Path | str, dtype: DTypeLike | None = None, overwrite: bool = False) -> None:
        """Write a directory that ``load`` opens without reading it.

        With ``dtype=np.float16`` it is half as large and each component is rounded to 11 bits.
        """
        if dtype is not None and np.dtype(dtype) not in (np.float16, np.float32):
            raise ValueError(f"vectors are kept as float32 or float16, not as {np.dtype(dtype)}")
        stored = self if dtype is None else ExactIndex(_as_dtype(self.matrix, dtype), self.id_order)
        about = {"format": FORMAT, "shape": stored.matrix.shape, "longest": stored.longest}
        with atomic_directory(directory, overwrite) as partial:
            save_array(partial / "matrix.npy", stored.matrix)
            save_array(partial / "id_order.npy", stored.id_order)
            (partial / _FILE).write_text(json.dumps(about) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, directory: Path | str, block: int | None = None) -> ExactIndex:
        """Map what ``save`` wrote."""
        directory = Path(directory)
        try:
            about = _read_about(directory / _FILE)
            matrix, id_order = (load_array(directory / f"{name}.npy") for name in ("matrix", "id_order"))
            if list(matrix.shape) != about["shape"]:
                raise ValueError(f"matrix.npy has shape {matrix.shape}, {_FILE} says {about['shape']}")
            return cls(matrix, id_order, block, float(about["longest"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{directory}: not a whole vector index ({error}); make it again") from error

    def _search(self, queries: Floats, k: int) -> Iterator[Ranking]:
        maxima = self._group_maxima(np.ascontiguousarray(queries.T))
        doubles = queries.astype(np.float64)
        floors = _kth_largest(maxima, k) - 2 * self._margins(doubles)
        reaching = np.flatnonzero(maxima >= np.nextafter(floors.astype(np.float32), np.float32(-np.inf)))
        groups, numbers = np.divmod(reaching, len(queries))
        for number, query in enumerate(doubles):
            rows = self._rows(groups[numbers == number], self._block_rows(len(queries)))
            yield top_k(self._score(query, rows), k, self.id_order, rows)

    def _group_maxima(self, columns: Floats) -> Floats:
        """First pass: the largest score of each group (down) for each query (across).

        Member i of group j of a block is row i * width + j of it, so that the maxima of a block's groups are the
        elementwise maximum of 32 contiguous slices. What a block has too few of is minus infinity.
        """
        count = columns.shape[1]
        block = self._block_rows(count)
        starts = range(0, len(self), block)
        maxima = np.empty((len(starts), _width(block), count), dtype=np.float32)
        scores = np.full((GROUP, _width(block), count), -np.inf, dtype=np.float32)
        flat = scores.reshape(-1, count)
        for start, found in zip(starts, maxima, strict=True):
            rows = _as_float32(self.matrix[start : start + block])
            _multiply(rows, columns, flat[: len(rows)])
            flat[len(rows) :] = -np.inf
            np.max(scores, axis=0, out=found)
        return maxima.reshape(-1, count)

    def _rows(self, groups: Rows, block: int) -> Rows:
        """The rows of some groups."""
        blocks, places = np.divmod(groups, _width(block))
        inside = places[:, np.newaxis] + np.arange(GROUP) * _width(block)
        rows = blocks[:, np.newaxis] * block + inside
        return rows[(inside < block) & (rows < len(self))]

    def _block_rows(self, count: int) -> int:
        """How many rows to multiply with so many queries at once: bounded scores, and a bounded copy of float16."""
        widest = count if self.matrix.dtype == np.float32 else max(count, self.dimension)
        return min(self._block or max(_BLOCK_VALUES // widest, 1), max(len(self), 1))

    def _score(self, query: Doubles, rows: Rows) -> Floats:
        """Second pass: the scores of some rows."""
        found = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _EXACT_ROWS):
            part = slice(start, start + _EXACT_ROWS)
            found[part] = _inner_products(self.matrix[rows[part]], query)
        return found

    def _margins(self, queries: Doubles) -> Doubles:
        """How far the first pass may be from the score, rounding of the score included; twice that, to be sure."""
        about = np.finfo(np.float32)
        lengths = np.sqrt(_squared_lengths(queries))
        return (self.dimension + 4) * (float(about.eps) * self.longest * lengths + float(about.tiny))

    def _checked(self, queries: Matrix) -> Floats:
        """Queries as float32, fit for this index."""
        checked = _as_dtype(np.asarray(queries), np.float32)
        if checked.ndim != 2:
            raise ValueError(f"queries of shape {checked.shape}: the rows of a matrix are needed")
        if checked.shape[1] != self.dimension:
            what = f"a query of {checked.shape[1]} components, documents of {self.dimension}"
            raise InputError(f"{what}: use the model or the vectors that the index was made with")
        _refuse_immeasurable(_squared_lengths(checked), "query")
        return checked

    def _double(self, query: Vector) -> Doubles:
        double: Doubles = self._checked(np.asarray(query)[np.newaxis])[0].astype(np.float64)
        return double

    def _find_longest(self) -> float:
        longest = 0.0
        for start in range(0, len(self), _EXACT_ROWS):
            squares = _squared_lengths(self.matrix[start : start + _EXACT_ROWS])
            _refuse_immeasurable(squares, "document", start)
            longest = max(longest, float(squares.max()))
        return float(np.sqrt(longest))


def _width(block: int) -> int:
    """The number of groups in a block."""
    return -(-block // GROUP)


def _kth_largest(maxima: Floats, k: int) -> Floats:
    """For each column something that k rows reach, close to the k-th largest; minus infinity if there are fewer.

    Of many maxima the maxima of groups are enough, as above; the rest of a division is left out.
    """
    while len(maxima) >= 8 * GROUP * max(k, 1):
        whole = len(maxima) // GROUP * GROUP
        maxima = maxima[:whole].reshape(GROUP, -1, maxima.shape[1]).max(axis=0)
    place = len(maxima) - max(k, 1)
    if place < 0:
        return np.full(maxima.shape[1], -np.inf, dtype=np.float32)
    kth: Floats = np.partition(maxima, place, axis=0)[place]
    return kth


def _multiply(rows: Floats, columns: Floats, out: Floats) -> None:
    """First-pass scores. One query goes faster row by row (numpy 2) than by BLAS's matrix-vector product."""
    if columns.shape[1] == 1 and hasattr(np, "vecdot"):
        np.vecdot(rows, columns[:, 0], out=out[:, 0])
    else:
        np.matmul(rows, columns, out=out)


def _inner_products(rows: Matrix, query: Doubles) -> Floats:
    """Each row with the query. Both are float64: then einsum sums every row alike, where BLAS or a cast would not."""
    products: Doubles = np.einsum("rd,d->r", rows.astype(np.float64), query)
    return products.astype(np.float32)


def _squared_lengths(rows: Matrix) -> Doubles:
    doubles = rows.astype(np.float64)
    squares: Doubles = np.einsum("rd,rd->r", doubles, doubles)
    return squares


def _refuse_immeasurable(squares: Doubles, what: str, start: int = 0) -> None:
    """Refuse NaN, infinity, and vectors so long that a product of two could be more than float32 holds."""
    wrong = np.flatnonzero(~(squares <= float(np.finfo(np.float32).max)))
    if len(wrong):
        where = f"the vector of {what} {start + int(wrong[0])} (counted from 0)"
        raise InputError(f"{where} has a component that is not finite, or is far too long")


def _as_float32(rows: Matrix) -> Floats:
    """The rows as they are, or float16 widened: about six times faster by its bits than by a cast of numpy 2.4.

    Sign, exponent and fraction move to their places in float32; 2^112 mends the exponent, of subnormal numbers too
    (unless some library has told the processor to take those for zero).
    """
    if rows.dtype != np.float16 or not np.float32(2.0**-140) * np.float32(2.0**112):
        return rows.astype(np.float32, copy=False)
    bits = rows.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x70002000)  # 0x8fffe000: without the copies that widening made of the sign
    widened = bits.view(np.float32)
    widened *= np.float32(2.0**112)
    return widened


def _as_dtype(matrix: Matrix, dtype: DTypeLike) -> Matrix:
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused with its row
        return matrix.astype(dtype, copy=False)


def _read_about(path: Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']}, this isogloss reads format {FORMAT}")
    return about

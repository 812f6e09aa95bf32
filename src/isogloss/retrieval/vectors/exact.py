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

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed, Ranking, Rows, top_k
from isogloss.retrieval.vectors.quantised import Quantised
from isogloss.retrieval.vectors.vector_selection import Selection
from isogloss.retrieval.vectors.vector_storage import (
    Doubles,
    Floats,
    Matrix,
    Stored,
    as_dtype,
    float32_rows,
    float64_rows,
    squared_lengths,
)
from isogloss.storage.errors import InputError

GROUP = 32  # rows a maximum stands for: 16 and 64 are no faster
_BLOCK_VALUES = 2**21  # 8 MB: near enough to the cache, and so few blocks that the threads of BLAS seldom meet to wait
_QUERIES = 64  # searched together; more would cost memory (n / 32 maxima each) and gain nothing
_EXACT_ROWS = 4_096  # summed in float64 at a time
_LONGEST = float(np.finfo(np.float32).max)  # squared

Vector = NDArray[np.floating]


class ExactIndex:
    """Rows of a float32, float16 or int8 matrix, in memory or mapped, ranked by inner product; ties by ``id_order``.

    ``id_order[row]`` is the place of the row's id among all ids. ``block`` is the number of rows multiplied at once
    and changes nothing but the speed. Nothing is kept between calls, so that threads may share an index. ``allowed``
    says for each row whether it may be found; without it all may.

    >>> index = ExactIndex(np.eye(3, dtype=np.float32), np.arange(3))
    >>> index.search(np.asarray([0.0, 2.0, 1.0]), k=2)
    Ranking(rows=array([1, 2]), scores=array([2., 1.], dtype=float32))
    """

    def __init__(self, matrix: Stored, id_order: Rows, block: int | None = None, longest: float | None = None) -> None:
        """``longest`` is the length of the longest row where it is known: finding it reads the whole matrix."""
        if len(matrix.shape) != 2 or id_order.shape != matrix.shape[:1]:
            raise ValueError(f"vectors of shape {matrix.shape} do not fit an order of {id_order.shape} ids")
        self.matrix: Stored = matrix if isinstance(matrix, Quantised) else _contiguous(matrix)
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

    def search(self, query: Vector, k: int, allowed: Allowed | None = None) -> Ranking:
        """The ``k`` best rows for a query, exactly."""
        return self.search_batch(np.asarray(query)[np.newaxis], k, allowed)[0]

    def search_batch(self, queries: Matrix, k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """The ``k`` best rows for each query (a row each): what ``search`` says, faster."""
        if k < 0:
            raise ValueError(f"the best {k} rows: at least 0 are needed")
        checked, selection = self.checked(queries), Selection(self.matrix, allowed)
        parts = (checked[start : start + _QUERIES] for start in range(0, len(checked), _QUERIES))
        return [ranking for part in parts for ranking in self._search(part, k, selection)]

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

    def _search(self, queries: Floats, k: int, selection: Selection) -> Iterator[Ranking]:
        block = self._block_rows(len(queries), selection)
        maxima = _group_maxima(selection, np.ascontiguousarray(queries.T), block)
        doubles = queries.astype(np.float64)
        floors = _kth_largest(maxima, k) - 2 * self._margins(doubles)
        reaching = np.flatnonzero(maxima >= np.nextafter(floors.astype(np.float32), np.float32(-np.inf)))
        groups, numbers = np.divmod(reaching, len(queries))
        for number, query in enumerate(doubles):
            rows = selection.rows(_positions(groups[numbers == number], block, len(selection)))
            yield top_k(self._score(query, rows), k, self.id_order, rows)

    def _block_rows(self, count: int, selection: Selection) -> int:
        """How many rows to multiply with so many queries at once: bounded scores, and a bounded copy of the rows."""
        copied = selection.copies or self.matrix.dtype != np.float32
        widest = max(count, self.dimension) if copied else count
        return min(self._block or max(_BLOCK_VALUES // max(widest, 1), 1), max(len(selection), 1))

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
        lengths = np.sqrt(squared_lengths(queries))
        return (self.dimension + 4) * (float(about.eps) * self.longest * lengths + float(about.tiny))

    def checked(self, queries: Matrix) -> Floats:
        """Queries as float32, if they fit this index."""
        checked: Floats = np.asarray(queries)
        checked = checked if checked.dtype == np.float32 else as_dtype(checked, np.float32)
        if checked.ndim != 2:
            raise ValueError(f"queries of shape {checked.shape}: the rows of a matrix are needed")
        if checked.shape[1] != self.dimension:
            what = f"a query of {checked.shape[1]} components, documents of {self.dimension}"
            raise InputError(f"{what}: use the model or the vectors that the index was made with")
        _refuse_immeasurable(squared_lengths(checked), "query")
        return checked

    def _double(self, query: Vector) -> Doubles:
        double: Doubles = self.checked(np.asarray(query)[np.newaxis])[0].astype(np.float64)
        return double

    def _find_longest(self) -> float:
        longest = 0.0
        for start in range(0, len(self), _EXACT_ROWS):
            squares = squared_lengths(self.matrix[start : start + _EXACT_ROWS])
            _refuse_immeasurable(squares, "document", start)
            longest = max(longest, float(squares.max()))
        return float(np.sqrt(longest))


def _contiguous(matrix: Matrix) -> Matrix:
    kept = matrix.dtype if matrix.dtype in (np.float16, np.float32) else np.float32
    return np.ascontiguousarray(as_dtype(matrix, kept))


def _group_maxima(selection: Selection, columns: Floats, block: int) -> Floats:
    """First pass: the largest score of each group (down) for each query (across).

    Member i of group j of a block is at position i * width + j of it, so that the maxima of a block's groups are the
    elementwise maximum of 32 contiguous slices. What a block has too few of is minus infinity.
    """
    count = columns.shape[1]
    starts = range(0, len(selection), block)
    maxima = np.empty((len(starts), _width(block), count), dtype=np.float32)
    scores = np.full((GROUP, _width(block), count), -np.inf, dtype=np.float32)
    flat = scores.reshape(-1, count)
    for start, found in zip(starts, maxima, strict=True):
        rows = selection.block(start, start + block)
        _multiply(rows, columns, flat[: len(rows)])
        flat[len(rows) :] = -np.inf
        selection.hide(flat[: len(rows)], start)
        np.max(scores, axis=0, out=found)
    return maxima.reshape(-1, count)


def _positions(groups: Rows, block: int, length: int) -> Rows:
    """The positions of some groups of a selection of that length."""
    blocks, places = np.divmod(groups, _width(block))
    inside = places[:, np.newaxis] + np.arange(GROUP) * _width(block)
    positions: Rows = blocks[:, np.newaxis] * block + inside
    return positions[(inside < block) & (positions < length)]


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


def _multiply(rows: Stored, columns: Floats, out: Floats) -> None:
    """First-pass scores. One query goes faster row by row (numpy 2) than by BLAS's matrix-vector product."""
    floats = rows.codes.astype(np.float32) if isinstance(rows, Quantised) else float32_rows(rows)
    if columns.shape[1] == 1 and hasattr(np, "vecdot"):
        np.vecdot(floats, columns[:, 0], out=out[:, 0])
    else:
        np.matmul(floats, columns, out=out)
    if isinstance(rows, Quantised):
        out *= rows.scales[:, np.newaxis]


def _inner_products(rows: Stored, query: Doubles) -> Floats:
    """Each row with the query. Both are float64: then einsum sums every row alike, where BLAS or a cast would not."""
    products: Doubles = np.einsum("rd,d->r", float64_rows(rows), query)
    return products.astype(np.float32)


def _refuse_immeasurable(squares: Doubles, what: str, start: int = 0) -> None:
    """Refuse NaN, infinity, and vectors so long that a product of two could be more than float32 holds."""
    fine = squares <= _LONGEST
    if not fine.all():
        where = f"the vector of {what} {start + int(fine.argmin())} (counted from 0)"
        raise InputError(f"{where} has a component that is not finite, or is far too long")

"""Exact search by inner product: the best of all rows, with the same scores whatever the batch, block or thread.

    score(q, d) = q . d = sum_i q_i d_i        summed in float64, then rounded once to float32

A search has two passes. The first multiplies blocks of rows with all queries (BLAS, float32) and stores one number for
every 32 rows: their maximum. The k-th largest of these maxima is a floor, since k rows reach it; a group of 32 whose
maximum is below it has no result. The second pass computes the score above, for the few groups that are left.

The last bits of a BLAS product depend on the shape of the call, the position of a row in it, the threads and the
machine. So the first pass only selects, with a margin for any order of summation (Higham 2002, eq. 3.5, u the unit
roundoff), and the second pass sums every row alike:

    |fl(q . d) - q . d| <= m = (n u / (1 - n u)) |q| |d|,      the first k have a first-pass score >= floor - 2m

Equal vectors have equal scores, and scores that are equal in float32 are ordered by id. faiss's IndexFlatIP, which
promises neither, answers a seventh as many queries in batches and two thirds as many alone (docs/results/search.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed, Ranking, Rows, top_k
from isogloss.retrieval.vectors.storage import (
    Doubles,
    Floats,
    Matrix,
    Quantised,
    Stored,
    as_dtype,
    float32_rows,
    float64_rows,
    squared_lengths,
)
from isogloss.storage.errors import InputError

GROUP = 32
"""Rows with one maximum: 16 and 64 are no faster."""
_FEW_ALLOWED = 1 / 4  # of all rows: gathering fewer is faster than multiplying all
_CANDIDATE_VALUES = 2**22  # float64 at a time
_BLOCK_VALUES = 2**21  # 8 MB: near enough to the cache, and so few blocks that the threads of BLAS seldom meet to wait
_QUERIES = 64  # searched together; more would cost memory (n / 32 maxima each) and gain nothing
_EXACT_ROWS = 4_096  # summed in float64 at a time
_LONGEST = float(np.finfo(np.float32).max)  # squared

Vector = NDArray[np.floating]


class ExactIndex:
    """Rows of a float32, float16 or int8 matrix, in memory or mapped, ranked by inner product; ties by ``id_order``.

    ``id_order[row]`` is the position of the row's id among all ids. ``block`` is the number of rows multiplied at once
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
        if not isinstance(matrix, Quantised):
            kept = matrix.dtype if matrix.dtype in (np.float16, np.float32) else np.float32
            matrix = np.ascontiguousarray(as_dtype(matrix, kept))
        self.matrix: Stored = matrix
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
        """The ``k`` best rows for each query (a row each): the result of ``search``, faster."""
        if k < 0:
            raise ValueError(f"the best {k} rows: at least 0 are needed")
        checked, selection = self.checked(queries), _Selection(self.matrix, allowed)
        parts = (checked[start : start + _QUERIES] for start in range(0, len(checked), _QUERIES))
        return [ranking for part in parts for ranking in self._search(part, k, selection)]

    def scores(self, query: Vector) -> Floats:
        """The score of every row."""
        return self._score(self._double(query))

    def score(self, query: Vector, rows: Rows) -> Floats:
        """The scores of some rows, the same as in ``scores`` to the last bit."""
        return self._score(self._double(query), np.asarray(rows, dtype=np.int64))

    def rank(self, queries: Floats, candidates: NDArray[np.int64], k: int) -> list[Ranking]:
        """The best ``k`` of each query's candidates (a row each, -1 for none), scored as in ``scores``, ties by id."""
        step = max(_CANDIDATE_VALUES // max(candidates.shape[1] * self.dimension, 1), 1)
        rankings: list[Ranking] = []
        for start in range(0, len(queries), step):
            part, doubles = candidates[start : start + step], queries[start : start + step].astype(np.float64)
            vectors = float64_rows(self.matrix.take(part.reshape(-1), axis=0)).reshape(*part.shape, -1)
            scores = np.einsum("qcd,qd->qc", vectors, doubles).astype(np.float32)
            np.putmask(scores, part < 0, -np.inf)
            order = np.lexsort((self.id_order.take(part), -scores))[:, :k]
            order += np.arange(0, scores.size, scores.shape[1] or 1)[:, np.newaxis]
            rankings += map(_without_missing, part.take(order), scores.take(order))
        return rankings

    def _search(self, queries: Floats, k: int, selection: _Selection) -> Iterator[Ranking]:
        block = self._block_rows(len(queries), selection)
        maxima = _group_maxima(selection, np.ascontiguousarray(queries.T), block)
        doubles = queries.astype(np.float64)
        floors = _kth_largest(maxima, k) - 2 * self._margins(doubles)
        reaching = np.flatnonzero(maxima >= np.nextafter(floors.astype(np.float32), np.float32(-np.inf)))
        groups, numbers = np.divmod(reaching, len(queries))
        for number, query in enumerate(doubles):
            rows = selection.rows(_positions(groups[numbers == number], block, len(selection)))
            yield top_k(self._score(query, rows), k, self.id_order, rows)

    def _block_rows(self, count: int, selection: _Selection) -> int:
        """How many rows to multiply with so many queries at once: bounded scores, and a bounded copy of the rows."""
        copied = selection.gathered is not None or self.matrix.dtype != np.float32
        widest = max(count, self.dimension) if copied else count
        return min(self._block or max(_BLOCK_VALUES // max(widest, 1), 1), max(len(selection), 1))

    def _score(self, query: Doubles, rows: Rows | None = None) -> Floats:
        """Second pass: the scores of some rows, or of all."""
        found = np.empty(len(self) if rows is None else len(rows), dtype=np.float32)
        for start in range(0, len(found), _EXACT_ROWS):
            part = slice(start, start + _EXACT_ROWS)
            found[part] = _inner_products(self.matrix[part if rows is None else rows[part]], query)
        return found

    def _margins(self, queries: Doubles) -> Doubles:
        """How far the first pass may be from the score, rounding of the score included; twice that, to be sure."""
        about = np.finfo(np.float32)
        lengths = np.sqrt(squared_lengths(queries))
        return (self.dimension + 4) * (float(about.eps) * self.longest * lengths + float(about.tiny))

    def checked(self, queries: Matrix) -> Floats:
        """Queries as float32, if they fit this index."""
        checked: Floats = as_dtype(np.asarray(queries), np.float32)
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


class _Selection:
    """The rows of a search: position p is row p, or the p-th allowed row where few are allowed.

    Few allowed rows are gathered and nothing else is read. Of many, all are read and the scores of the others are
    replaced by minus infinity.
    """

    def __init__(self, matrix: Stored, allowed: Allowed | None) -> None:
        if allowed is not None and allowed.shape != (len(matrix),):
            raise ValueError(f"a mask of shape {allowed.shape} does not fit {len(matrix)} rows")
        few = allowed is not None and np.count_nonzero(allowed) <= _FEW_ALLOWED * len(matrix)
        self._matrix = matrix
        self._allowed = None if few else allowed
        self.gathered: Rows | None = np.flatnonzero(allowed) if allowed is not None and few else None

    def __len__(self) -> int:
        return len(self._matrix) if self.gathered is None else len(self.gathered)

    def block(self, start: int, stop: int) -> Stored:
        """The rows at positions from ``start`` to before ``stop``."""
        return self._matrix[slice(start, stop) if self.gathered is None else self.gathered[start:stop]]

    def hide(self, scores: Floats, start: int) -> None:
        """In the scores of positions from ``start`` on, those of other rows become minus infinity."""
        if self._allowed is not None:
            scores[~self._allowed[start : start + len(scores)]] = -np.inf

    def rows(self, positions: Rows) -> Rows:
        """The allowed rows at some positions."""
        if self.gathered is not None:
            return self.gathered[positions]
        return positions if self._allowed is None else positions[self._allowed[positions]]


def _group_maxima(selection: _Selection, columns: Floats, block: int) -> Floats:
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
    blocks, columns = np.divmod(groups, _width(block))
    inside = columns[:, np.newaxis] + np.arange(GROUP) * _width(block)
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
    position = len(maxima) - max(k, 1)
    if position < 0:
        return np.full(maxima.shape[1], -np.inf, dtype=np.float32)
    kth: Floats = np.partition(maxima, position, axis=0)[position]
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


def _without_missing(rows: NDArray[np.int64], scores: Floats) -> Ranking:
    """A ranking without the candidates -1, which come last."""
    if len(rows) and rows[-1] < 0:
        return Ranking(rows[rows >= 0], scores[rows >= 0])
    return Ranking(rows, scores)


def _refuse_immeasurable(squares: Doubles, what: str, start: int = 0) -> None:
    """Refuse NaN, infinity, and vectors so long that a product of two could overflow float32."""
    fine = squares <= _LONGEST
    if not fine.all():
        where = f"the vector of {what} {start + int(fine.argmin())} (counted from 0)"
        raise InputError(f"{where} has a component that is not finite, or is far too long")

"""The two ends of an approximate search in machine code (extra ``fast``): what comes before faiss, and what after it.

Each is what numpy and faiss do in ten calls or more, and for one query those calls take longer than the work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.vectors.vector_storage import Doubles, Floats
from isogloss.storage.compiled import compiled_arithmetic

Numbers = NDArray[np.int64]
Bits = NDArray[np.int16]

_LANES = 8  # sums side by side in a product
_FRACTION, _MASK, _SCALE = 2**13, -0x70002000, 2.0**112  # from float16 to float32: see ``vector_storage``
_ROUNDOFF = 2.0**-53


@compiled_arithmetic
def nearest_lists(
    queries: Floats, columns: Floats, half_squares: Floats, probes: int, width: int
) -> tuple[Floats, Floats, Numbers]:
    """Queries filled up to a width, q . c for the ``probes`` nearest centres of each, and which those are.

    Nearest are the centres c, columns here, of the largest q . c - |q| |c|^2 / 2.
    """
    asked = np.zeros((len(queries), width), dtype=np.float32)
    inner = np.empty((len(queries), probes), dtype=np.float32)
    lists = np.empty((len(queries), probes), dtype=np.int64)
    query = np.empty(queries.shape[1], dtype=np.float64)
    products, nearness = np.empty(columns.shape[1], dtype=np.float32), np.empty(columns.shape[1], dtype=np.float32)
    for number in range(len(queries)):
        length = np.float32(_widen(queries[number], query))
        asked[number, : len(query)] = queries[number]
        _multiply(queries[number], columns, products)
        for centre in range(len(products)):
            nearness[centre] = products[centre] - length * half_squares[centre]
        _find_largest(nearness, lists[number])
        for place, centre in enumerate(lists[number]):
            inner[number, place] = products[centre]
    return asked, inner, lists


@compiled_arithmetic
def best_candidates(
    bits: Bits, longest: float, id_order: Numbers, queries: Floats, candidates: Numbers, k: int, smallest: float
) -> tuple[Numbers, Floats, bool]:
    """The best ``k`` candidates of each query; their scores; whether there are so many and the scores are sure.

    ``bits`` are those of float16 rows, none longer than ``longest``. A score is sure where sums in any order would be
    rounded to the same float32 (Higham 2002, eq. 3.5, for two sums of n products, u the unit roundoff of float64):

        fl32(s - m) = fl32(s + m),     m = 2 n u |q| |d|

    And none is where the processor takes the ``smallest`` number of float16 for zero.
    """
    found = np.full((len(queries), k), -1, dtype=np.int64)
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    dimension, count = bits.shape[1], candidates.shape[1]
    width = _filled(dimension)
    query, scores = np.zeros(width, dtype=np.float64), np.empty(count, dtype=np.float32)
    near, sums = np.zeros((count, width), dtype=np.int16), np.empty(_LANES, dtype=np.float64)
    wide = np.empty(width, dtype=np.int32)
    sure = bool(np.float32(smallest) > 0)
    for number, rows in enumerate(candidates):
        margin = 2 * (dimension + 2) * _ROUNDOFF * _widen(queries[number], query) * longest
        for place, row in enumerate(rows):  # all of them first: one need not wait for the memory of another
            for component in range(dimension):
                near[place, component] = bits[row, component]
        for place in range(count):
            for component in range(width):
                wide[component] = near[place, component] * _FRACTION & _MASK
            score = _product(wide.view(np.float32), query, sums) * _SCALE
            scores[place] = score
            sure &= bool(np.float32(score - margin) == np.float32(score + margin))
        _rank(scores, rows, id_order, best[number], found[number])
        sure &= bool(found[number, k - 1] >= 0)
    return found, best, sure


@compiled_arithmetic
def _filled(dimension: int) -> int:
    """The next multiple of the lanes."""
    return -(-dimension // _LANES) * _LANES


@compiled_arithmetic
def _widen(query: Floats, wide: Doubles) -> float:
    """Copy a query to something as long, or longer; its length."""
    squares = 0.0
    for component, value in enumerate(query):
        wide[component] = value
        squares += wide[component] ** 2
    return float(np.sqrt(squares))


@compiled_arithmetic
def _multiply(query: Floats, columns: Floats, products: Floats) -> None:
    """With each column, two components at a time: the sums are read and written once for both."""
    products[:] = 0
    for component in range(0, len(query) - 1, 2):
        one, other = query[component], query[component + 1]
        for column in range(len(products)):
            products[column] += one * columns[component, column] + other * columns[component + 1, column]
    if len(query) % 2:
        for column in range(len(products)):
            products[column] += query[-1] * columns[-1, column]


@compiled_arithmetic
def _find_largest(values: Floats, places: Numbers) -> None:
    """Where the largest values are, the largest first, of equal ones the first."""
    found = 0
    for place, value in enumerate(values):
        if found == len(places) and value <= values[places[found - 1]]:
            continue
        found = min(found + 1, len(places))
        free = found - 1
        while free > 0 and values[places[free - 1]] < value:
            places[free] = places[free - 1]
            free -= 1
        places[free] = place


@compiled_arithmetic
def _product(vector: Floats, query: Doubles, sums: Doubles) -> float:
    sums[:] = 0
    for first in range(0, len(query), _LANES):
        for lane in range(_LANES):
            sums[lane] += np.float64(vector[first + lane]) * query[first + lane]
    total = 0.0
    for lane in range(_LANES):
        total += sums[lane]
    return total


@compiled_arithmetic
def _rank(scores: Floats, rows: Numbers, id_order: Numbers, best: Floats, found: Numbers) -> None:
    """The best rows, ties by id, without the rows -1."""
    count = 0
    for score, row in zip(scores, rows):  # noqa: B905 -- numba knows no strict
        if row < 0 or (count == len(found) and not _before(score, row, best[-1], found[-1], id_order)):
            continue
        count = min(count + 1, len(found))
        free = count - 1
        while free > 0 and _before(score, row, best[free - 1], found[free - 1], id_order):
            best[free], found[free] = best[free - 1], found[free - 1]
            free -= 1
        best[free], found[free] = score, row


@compiled_arithmetic
def _before(score: float, row: int, other_score: float, other_row: int, id_order: Numbers) -> bool:
    return score > other_score or (score == other_score and id_order[row] < id_order[other_row])

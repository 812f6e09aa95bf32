"""The best documents so far, in machine code (extra ``fast``): score down, then place of the id up, as ``top_k`` ranks.

Whoever changes this file touches ``bm25_compiled`` too: see ``base.compiled``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import compiled_arithmetic

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


class Best(NamedTuple):
    """The best so far, as a heap with the last of them on top."""

    scores: Floats
    rows: Numbers


@compiled_arithmetic
def take(score: np.float32, row: int, id_order: Numbers, best: Best, count: int) -> int:
    """Put a document in its place among the best; the last of them goes if there are too many."""
    if score <= 0 or (count == len(best.rows) and not _before(score, row, best.scores[0], best.rows[0], id_order)):
        return count
    if count < len(best.rows):
        _rise(score, row, id_order, best, count)
        return count + 1
    _sink(score, row, id_order, best)
    return count


@compiled_arithmetic
def _before(score: np.float32, row: int, other_score: np.float32, other_row: int, id_order: Numbers) -> bool:
    return bool(score > other_score or (score == other_score and id_order[row] < id_order[other_row]))


@compiled_arithmetic
def _rise(score: np.float32, row: int, id_order: Numbers, best: Best, place: int) -> None:
    """From a free place at the bottom of the heap up to where what is above comes behind it."""
    while place > 0:
        above = (place - 1) // 2
        if not _before(best.scores[above], best.rows[above], score, row, id_order):
            break
        best.scores[place], best.rows[place] = best.scores[above], best.rows[above]
        place = above
    best.scores[place], best.rows[place] = score, row


@compiled_arithmetic
def _sink(score: np.float32, row: int, id_order: Numbers, best: Best) -> None:
    """In place of the top, down to where nothing below comes behind it."""
    place, below = 0, 1
    while below < len(best.rows):
        other = below + 1
        if other < len(best.rows) and _before(
            best.scores[below], best.rows[below], best.scores[other], best.rows[other], id_order
        ):
            below = other
        if not _before(score, row, best.scores[below], best.rows[below], id_order):
            break
        best.scores[place], best.rows[place] = best.scores[below], best.rows[below]
        place, below = below, 2 * below + 1
    best.scores[place], best.rows[place] = score, row

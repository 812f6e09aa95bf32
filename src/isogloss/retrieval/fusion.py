"""Fusion of two rankings of the same documents.

    fused(d) = w share_1(d) + (1 - w) share_2(d)

``weighted``: the share of a document is its score over the spread (standard deviation) of the scores in the query's
list. Subtracting their mean as well (the z-score) would not change the order, since every fused document has both
scores; without it the parts of a score add up to the score.

``rrf``: the share is 1 / (60 + rank) (reciprocal rank fusion: Cormack, Clarke and Büttcher 2009), whatever the scores
are. A document beyond the end of the list has the rank after the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Ranking, Rows, Scores

Doubles = NDArray[np.float64]
_CONSTANT = 60
_WEIGHTS = np.arange(11) / 10


def spread_shares(found: Ranking, rows: Rows, scores: Scores) -> Doubles:
    """Scores in units of their spread.

    >>> spread_shares(Ranking(np.array([4, 2]), np.array([3.0, 1.0])), np.array([2, 7]), np.array([1.0, 0.5]))
    array([1. , 0.5])
    """
    return np.asarray(scores, dtype=np.float64) / spread(found.scores)


def spread(scores: Scores) -> float:
    """The standard deviation; of equal scores their size, of none 1."""
    found = np.asarray(scores, dtype=np.float64)
    if not len(found):
        return 1.0
    deviation, size = float(found.std()), float(np.abs(found).max())
    return deviation if deviation > 1e-6 * size else size or 1.0


def rank_shares(found: Ranking, rows: Rows, scores: Scores) -> Doubles:
    """The reciprocal of each document's rank.

    >>> 1 / rank_shares(Ranking(np.array([4, 2]), np.array([3.0, 1.0])), np.array([2, 7]), np.array([1.0, 0.5]))
    array([62., 63.])
    """
    ranks = np.full(len(rows), len(found.rows) + 1)
    order = np.argsort(found.rows)
    positions = np.searchsorted(found.rows, rows, sorter=order)
    listed = positions < len(order)
    listed[listed] = found.rows[order[positions[listed]]] == np.asarray(rows)[listed]
    ranks[listed] = order[positions[listed]] + 1
    return 1.0 / (_CONSTANT + ranks)


class Fusion(NamedTuple):
    """``shares`` gives the share of some documents of a ranking with their scores; ``bound`` the largest possible."""

    shares: Callable[[Ranking, Rows, Scores], Doubles]
    bound: Callable[[Ranking, float], float]


FUSIONS = {
    "weighted": Fusion(spread_shares, lambda found, best: best / spread(found.scores)),
    "rrf": Fusion(rank_shares, lambda found, best: 1.0 / (_CONSTANT + 1)),
}


class Shared(NamedTuple):
    """The shares of a query's documents on both sides, the rank of each by id, and whether it is relevant."""

    first: Doubles
    second: Doubles
    id_order: Rows
    relevant: NDArray[np.bool_]


def best_weight(queries: Sequence[Shared]) -> float:
    """The weight of the first side, in tenths, that gives the best mean reciprocal rank; of equals the least.

    >>> first, second = np.array([0.0, 2.0]), np.array([1.0, 0.0])
    >>> best_weight([Shared(first, second, np.arange(2), np.array([False, True]))])
    0.4
    """
    means = [np.mean([_reciprocal_rank(query, weight) for query in queries]) for weight in _WEIGHTS]
    return float(_WEIGHTS[int(np.argmax(np.round(means, 6)))])


def _reciprocal_rank(query: Shared, weight: float) -> float:
    order = np.lexsort((query.id_order, -(weight * query.first + (1 - weight) * query.second)))
    ranks = np.flatnonzero(query.relevant[order])
    return 1.0 / (1 + int(ranks[0])) if len(ranks) else 0.0

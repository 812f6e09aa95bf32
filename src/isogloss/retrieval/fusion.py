"""Two rankings of the same documents as one.

    fused(d) = w share_1(d) + (1 - w) share_2(d)

``weighted``: the share of a document is its score over the spread (standard deviation) of the scores in the query's
list. Taking their mean away as well, the usual z-score, would change no order, since every document that is looked at
has both scores; without it the parts of a score stay parts of the sum.

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
    places = np.searchsorted(found.rows, rows, sorter=order)
    listed = places < len(order)
    listed[listed] = found.rows[order[places[listed]]] == np.asarray(rows)[listed]
    ranks[listed] = order[places[listed]] + 1
    return 1.0 / (_CONSTANT + ranks)


class Fusion(NamedTuple):
    """``shares``: the list of a query, some documents and their scores to the share of each; ``bound`` to the most."""

    shares: Callable[[Ranking, Rows, Scores], Doubles]
    bound: Callable[[Ranking, float], float]


FUSIONS = {
    "weighted": Fusion(spread_shares, lambda found, best: best / spread(found.scores)),
    "rrf": Fusion(rank_shares, lambda found, best: 1.0 / (_CONSTANT + 1)),
}


class Shared(NamedTuple):
    """What both sides say of a query's documents: the shares of each, its place by id, whether it is what was meant."""

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
    places = np.flatnonzero(query.relevant[order])
    return 1.0 / (1 + int(places[0])) if len(places) else 0.0

"""Recall against an exact search, the sample queries it is measured with, and the settings that are chosen by it.

recall@k = |found first k  and  exact first k| / |exact first k|
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isogloss.retrieval.ranking import Ranking
from isogloss.retrieval.vectors.storage import Floats, Stored, float32_rows

DEPTHS = (10, 100)
"""Numbers of results that an approximate search is tuned for. More than the last are searched exactly."""
K = DEPTHS[0]
"""The number of results of the recall that an index reports."""
TARGET = 0.984
"""The recall that tuning reaches on the sample: .98 for other queries, with a margin."""
_PUSH = 0.25  # of the length of a row
_EQUAL = 1e-18  # the distance of rows that are equal, or so near that a quotient could overflow
_SEED = 1


class Level(NamedTuple):
    """The settings for up to ``k`` results: lists to probe, candidates to re-score, and the measured recall."""

    k: int
    probes: int
    candidates: int
    recall: float


def sample_queries(rows: Stored, count: int) -> Floats:
    """Queries made of the rows, the same each time; fewer where there are fewer rows.

    A query is a row moved by a quarter of its length in the direction from one random row to another: near a document,
    and different from it in the ways documents differ.
    """
    random = np.random.default_rng(_SEED)
    count = min(count, len(rows))
    chosen, other, another = (float32_rows(rows[_sorted_choice(random, len(rows), count)]) for _ in range(3))
    random.shuffle(another)
    push = another - other
    lengths, pushes = (np.linalg.norm(each, axis=1, keepdims=True) for each in (chosen, push))
    push *= np.float32(_PUSH) * lengths / np.where(pushes > _EQUAL, pushes, np.float32(1))
    queries: Floats = (chosen + push).astype(np.float32)
    return queries


def recall(found: Sequence[Ranking], exact: Sequence[Ranking], k: int = K) -> float:
    """The share of the first ``k`` of an exact search that is among the first ``k`` found.

    >>> first, second = (Ranking(np.asarray(rows), np.zeros(2)) for rows in ([1, 2], [3, 1]))
    >>> recall([first], [second])
    0.5
    """
    pairs = [(set(one.rows[:k].tolist()), other.rows[:k].tolist()) for one, other in zip(found, exact, strict=True)]
    expected = sum(len(rows) for _, rows in pairs)
    return sum(row in there for there, rows in pairs for row in rows) / expected if expected else 1.0


def _sorted_choice(random: np.random.Generator, rows: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.sort(random.choice(rows, size=count, replace=False))

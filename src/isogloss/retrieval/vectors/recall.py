"""How much of what an exact search finds another way of searching finds too.

    recall@k = |found first k  and  exact first k| / |exact first k|       averaged over queries

The queries to measure with are made of the vectors themselves: a row, pushed some way in the direction from one row to
another, which is what a question is to its answer: near it, and different from it in the ways rows differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isogloss.retrieval.ranking import Ranking
from isogloss.retrieval.vectors.vector_storage import Floats, Stored, float32_rows

K = 10
_PUSH = 0.25  # of the length of a row
_SEED = 1


def sample_queries(rows: Stored, count: int) -> Floats:
    """Queries like the rows, the same each time; fewer where there are fewer rows."""
    random = np.random.default_rng(_SEED)
    count = min(count, len(rows))
    chosen, other, another = (float32_rows(rows[_sorted_choice(random, len(rows), count)]) for _ in range(3))
    random.shuffle(another)
    push = another - other
    lengths, pushes = (np.linalg.norm(each, axis=1, keepdims=True) for each in (chosen, push))
    push *= np.float32(_PUSH) * lengths / np.maximum(pushes, np.finfo(np.float32).tiny)
    queries: Floats = (chosen + push).astype(np.float32)
    return queries


def recall(found: Sequence[Ranking], exact: Sequence[Ranking], k: int = K) -> float:
    """Of the first ``k`` that an exact search finds, how many are among the first ``k`` found.

    >>> first, second = (Ranking(np.asarray(rows), np.zeros(2)) for rows in ([1, 2], [3, 1]))
    >>> recall([first], [second])
    0.5
    """
    pairs = [(set(one.rows[:k].tolist()), other.rows[:k].tolist()) for one, other in zip(found, exact, strict=True)]
    wanted = sum(len(rows) for _, rows in pairs)
    return sum(row in there for there, rows in pairs for row in rows) / wanted if wanted else 1.0


def _sorted_choice(random: np.random.Generator, rows: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.sort(random.choice(rows, size=count, replace=False))

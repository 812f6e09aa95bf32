"""Measuring on arrays: given pairs ranked by their scores, query by query. What training measures on dev."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.evaluation.measures import Gains, PerQuery, measure
from isogloss.training.pairs import Ids


def ranked_gains(query_of: Ids, grades: Ids, scores: NDArray[np.floating], ties: Ids, top: int) -> Gains:
    """The gains of each query's documents by falling score; pairs stand query by query, equal scores go by ``ties``."""
    order = np.lexsort((ties, -scores, query_of))
    starts = np.flatnonzero(np.diff(query_of, prepend=-1))
    counts = np.diff(np.append(starts, len(query_of)))
    rows = np.repeat(np.arange(len(starts)), counts)
    columns = np.arange(len(query_of)) - np.repeat(starts, counts)
    gains = np.zeros((len(starts), int(counts.max(initial=1))), dtype=np.int32)
    gains[rows, columns] = grades[order]
    return Gains(gains, -np.sort(-gains, axis=1), top)


def measure_scores(
    query_of: Ids, grades: Ids, scores: NDArray[np.floating], ties: Ids, top: int, names: tuple[str, ...] = ()
) -> dict[str, PerQuery]:
    """Every measure (or the named ones), query by query."""
    return measure(ranked_gains(query_of, grades, scores, ties, top), names)

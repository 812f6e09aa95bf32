"""Inverting by counting, compiled: two walks over the ids, with no sort because texts come in their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import compiled

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]


@compiled
def count_texts(ids: Ids, starts: Numbers, rank: Numbers) -> Numbers:
    """How many texts have each term."""
    counts, latest = np.zeros(len(rank), np.int64), np.full(len(rank), -1, np.int32)
    for text in range(len(starts) - 1):
        for place in range(starts[text], starts[text + 1]):
            term = rank[ids[place]]
            if latest[term] != text:
                latest[term] = text
                counts[term] += 1
    return counts


@compiled
def fill_lists(ids: Ids, starts: Numbers, rank: Numbers, free: Numbers, documents: Ids, frequencies: Ids) -> None:
    """Write the texts of each term, and how often it stands there, from ``free[term]`` on."""
    latest = np.full(len(rank), -1, np.int32)
    for text in range(len(starts) - 1):
        for place in range(starts[text], starts[text + 1]):
            term = rank[ids[place]]
            if latest[term] != text:
                latest[term] = text
                documents[free[term]], frequencies[free[term]] = text, 0
                free[term] += 1
            frequencies[free[term] - 1] += 1

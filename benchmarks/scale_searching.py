"""How long a search takes: alone, and in batches of 32, after a few that count for nothing; and what it finds.

The best of some rounds counts: eight queries one by one, or one batch. Machines are noisy, and only ever slower.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from clustered_vectors import Floats
from scale_vectors import LANGUAGE, K, Vectors

from isogloss.engines.base import IndexEngine

BATCH = 32
_WARM_UP = 3
_ROUND, _SINGLE, _SINGLE_SECONDS = 8, 64, 20.0
_BATCH_SECONDS = 40.0

Search = Callable[[Floats], list[list[str]]]


def timed_search(search: Search, vectors: Vectors) -> dict[str, Any]:
    """Milliseconds of one query and of a batch, and recall@10 over the queries of the batches."""
    for row in range(_WARM_UP):
        search(vectors.queries[row : row + 1])
    single = _times(search, vectors.queries[:_SINGLE], 1, _SINGLE_SECONDS)[0]
    batch, found = _times(search, vectors.queries, BATCH, _BATCH_SECONDS)
    return {
        "single_ms": 1000 * min(_means(single)),
        "batch_ms": 1000 * min(batch),
        "recall": vectors.recall(found),
        "queries": len(found),
    }


def of_store(store: IndexEngine) -> Search:
    """The search of a store."""
    return lambda queries: [[hit.id for hit in answer] for answer in store.search(LANGUAGE, queries, K)]


def _means(times: list[float]) -> list[float]:
    """The mean of each round, of those that are whole, or of all there is."""
    rounds = [times[start : start + _ROUND] for start in range(0, len(times), _ROUND)]
    return [sum(each) / len(each) for each in rounds if len(each) == min(_ROUND, len(times))]


def _times(search: Search, queries: Floats, size: int, most: float) -> tuple[list[float], list[list[str]]]:
    """Seconds of each batch, of as many as there is time for."""
    times: list[float] = []
    found: list[list[str]] = []
    for start in range(0, len(queries), size):
        begun = time.perf_counter()
        found += search(queries[start : start + size])
        times.append(time.perf_counter() - begun)
        if sum(times) > most:
            break
    return times, found

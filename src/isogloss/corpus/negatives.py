"""Random irrelevant documents: N a query, none of them judged, fixed by the seed."""

from __future__ import annotations

import zlib
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray


def sample_negatives(
    query: str, judged_rows: Collection[int], documents: int, count: int, seed: int = 0
) -> NDArray[np.int64]:
    """Rows of ``count`` random documents that are not judged for the query (fewer if the collection has no more).

    The draw depends on the seed and the query's id only, so that it does not change with the order or number of the
    queries.
    """
    rng = np.random.default_rng([seed, zlib.crc32(query.encode("utf-8"))])
    judged = set(judged_rows)
    available = documents - len(judged)
    if available <= 4 * count:
        pool = np.setdiff1d(np.arange(documents), np.fromiter(judged, dtype=np.int64, count=len(judged)))
        return rng.permutation(pool)[:count]
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        for row in rng.integers(documents, size=2 * count).tolist():
            if row not in judged and len(drawn) < count:
                drawn[row] = None
    return np.fromiter(drawn, dtype=np.int64, count=count)

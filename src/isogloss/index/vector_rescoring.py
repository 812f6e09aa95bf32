"""Candidates scored again, and ranked: the scores are those of the exact index to the last bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.evaluation.ranking import Ranking, Rows
from isogloss.index.vector_storage import Floats, Stored, float64_rows

_VALUES = 2**22  # float64 at a time


def rescored(rows: Stored, queries: Floats, candidates: NDArray[np.int64]) -> Floats:
    """The score of each candidate (across) for its query (down); minus infinity for the candidate -1."""
    step = max(_VALUES // max(candidates.shape[1] * rows.shape[1], 1), 1)
    starts = range(0, len(queries), step)
    parts = [_rescored(rows, queries[start : start + step], candidates[start : start + step]) for start in starts]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros((0, candidates.shape[1]), np.float32), *parts])


def ranked(scores: Floats, candidates: NDArray[np.int64], k: int, id_order: Rows) -> list[Ranking]:
    """The best ``k`` candidates of each query, ties by id."""
    return [_ranked(one, rows, k, id_order) for one, rows in zip(scores, candidates, strict=True)]


def _rescored(rows: Stored, queries: Floats, candidates: NDArray[np.int64]) -> Floats:
    vectors = float64_rows(rows[candidates.reshape(-1)])
    products = np.einsum("qcd,qd->qc", vectors.reshape(*candidates.shape, -1), queries.astype(np.float64))
    if candidates.min(initial=0) < 0:
        products[candidates < 0] = -np.inf
    scores: Floats = products.astype(np.float32)
    return scores


def _ranked(scores: Floats, rows: NDArray[np.int64], k: int, id_order: Rows) -> Ranking:
    order = np.lexsort((id_order[rows], -scores))[:k]
    best, found = scores[order], rows[order]
    if len(found) and found[-1] < 0:  # the last, as minus infinity
        return Ranking(found[found >= 0], best[found >= 0])
    return Ranking(found, best)

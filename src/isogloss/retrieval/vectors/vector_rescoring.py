"""Candidates scored again, and ranked: the scores are those of the exact index to the last bit."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Ranking, Rows
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.quantised import Quantised
from isogloss.retrieval.vectors.vector_storage import Floats, Stored, float64_rows

_VALUES = 2**22  # float64 at a time
_SMALLEST = 2.0**-136  # what compiled code makes of the smallest number of float16, before it mends the exponent


class Rescoring:
    """Scores candidates of an index again and ranks them. Threads may share it."""

    def __init__(self, kept: ExactIndex) -> None:
        self._kept = kept
        self._bits: NDArray[np.int16] | None = None  # of float16, which numba does not know
        if not isinstance(kept.matrix, Quantised) and kept.matrix.dtype == np.float16:
            self._bits = _read_only(kept.matrix.view(np.int16))
        self._id_order = _read_only(kept.id_order.astype(np.int64, copy=False))

    def best(
        self, queries: Floats, candidates: NDArray[np.int64], k: int, compiled: ModuleType | None = None
    ) -> list[Ranking] | None:
        """The best ``k`` candidates of each query, ties by id; nothing where one of the queries has fewer than that.

        With ``compiled`` functions it is the same, faster.
        """
        if compiled and self._bits is not None:
            found, scores, sure = compiled.best_candidates(
                self._bits, float(self._kept.longest), self._id_order, queries, candidates, k, _SMALLEST
            )
            if sure:
                return list(map(Ranking, found, scores))
        if min(candidates[:, k - 1].tolist()) < 0:
            return None
        return ranked(rescored(self._kept.matrix, queries, candidates), candidates, k, self._kept.id_order)


def rescored(rows: Stored, queries: Floats, candidates: NDArray[np.int64]) -> Floats:
    """The score of each candidate (across) for its query (down); minus infinity for the candidate -1."""
    step = max(_VALUES // max(candidates.shape[1] * rows.shape[1], 1), 1)
    starts = range(0, len(queries), step)
    parts = [_rescored(rows, queries[start : start + step], candidates[start : start + step]) for start in starts]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros((0, candidates.shape[1]), np.float32), *parts])


def ranked(scores: Floats, candidates: NDArray[np.int64], k: int, id_order: Rows) -> list[Ranking]:
    """The best ``k`` candidates of each query, ties by id."""
    order = np.lexsort((id_order.take(candidates), -scores))[:, :k]
    order += np.arange(0, scores.size, scores.shape[1] or 1)[:, np.newaxis]
    return list(map(_found, candidates.take(order), scores.take(order)))


def _rescored(rows: Stored, queries: Floats, candidates: NDArray[np.int64]) -> Floats:
    vectors = float64_rows(rows.take(candidates.reshape(-1), axis=0))
    products = np.einsum("qcd,qd->qc", vectors.reshape(*candidates.shape, -1), queries.astype(np.float64))
    np.putmask(products, candidates < 0, -np.inf)
    scores: Floats = products.astype(np.float32)
    return scores


def _found(rows: NDArray[np.int64], scores: Floats) -> Ranking:
    """Without the candidates -1, which come last."""
    if len(rows) and rows[-1] < 0:
        return Ranking(rows[rows >= 0], scores[rows >= 0])
    return Ranking(rows, scores)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """As mapped ones are: one kind of array, compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view

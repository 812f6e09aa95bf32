"""Scores of pairs and ranks among the whole collection, by matrix products on the processor or a GPU.

    score(q, d) = sum_i q_i d_i        in float64, then rounded once to float32

as the exact index has it, so that equal vectors have equal scores wherever they stand. The rank of a document is one
more than the number of documents with a higher score, or an equal one and a smaller id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.evaluation.measures import Gains
from isogloss.text.ids import Ids
from isogloss.translation.vectors.word_vectors import Matrix

DEPTH = 1000
"""How far down ``evaluate`` looks in the whole collection."""
_QUERIES = 256
_SCORES = {"cpu": 2**20, "cuda": 2**27}
"""How many scores are looked at together."""


def pair_scores(
    queries: Matrix, documents: Matrix, query_of: Ids, document_of: Ids, device: str = "cpu"
) -> NDArray[np.float32]:
    """The score of each pair."""
    left, right = _placed(queries, device), _placed(documents, device)
    scores = np.empty(len(query_of), dtype=np.float32)
    size = max(1, _SCORES[device] // queries.shape[1])
    for start in range(0, len(scores), size):
        part = slice(start, start + size)
        rows, columns = _placed(query_of[part], device), _placed(document_of[part], device)
        scores[part] = _fetched(_rounded((left[rows] * right[columns]).sum(1)))
    return scores


def collection_ranks(
    queries: Matrix,
    documents: Matrix,
    query_of: Ids,
    document_of: Ids,
    id_order: NDArray[np.int64],
    device: str = "cpu",
) -> NDArray[np.int64]:
    """The rank of each pair's document among all of them; pairs stand query by query.

    A query without a known word finds nothing: its documents rank below all.
    """
    by_id = np.argsort(id_order)
    columns = _placed(documents[by_id], device).T
    places, numbers = id_order[document_of], _placed(np.arange(len(documents)), device)
    ranks = np.empty(len(query_of), dtype=np.int64)
    size = max(1, _SCORES[device] // len(documents))
    for first in range(0, len(queries), _QUERIES):
        start, stop = np.searchsorted(query_of, (first, first + _QUERIES)).tolist()
        scores = _rounded(_placed(queries[first : first + _QUERIES], device) @ columns)
        for begin in range(start, stop, size):
            part = slice(begin, min(stop, begin + size))
            rows, wanted = _placed(query_of[part] - first, device), _placed(places[part], device)
            own = scores[rows, wanted][:, None]
            alike_before = (scores[rows] == own) & (numbers < wanted[:, None])
            ranks[part] = _fetched(1 + ((scores[rows] > own) | alike_before).sum(1))
    unknown = np.logical_not((queries != 0).any(axis=1))
    ranks[unknown[query_of]] = np.iinfo(np.int64).max
    return ranks


def gains_at(ranks: NDArray[np.int64], query_of: Ids, grades: Ids, top: int, depth: int = DEPTH) -> Gains:
    """The gains of the first ``depth`` documents of each query, from the ranks of its judged ones."""
    queries = int(query_of[-1]) + 1
    counts = np.bincount(query_of, minlength=queries)
    places = np.arange(len(query_of)) - np.repeat(np.cumsum(counts) - counts, counts)
    judged = np.zeros((queries, int(counts.max())), dtype=np.int32)
    judged[query_of, places] = grades
    gains = np.zeros((queries, depth), dtype=np.int32)
    found = ranks <= depth
    gains[query_of[found], ranks[found] - 1] = grades[found]
    return Gains(gains, -np.sort(-judged, axis=1), top)


def _placed(array: NDArray[Any], device: str) -> Any:
    """An array on the device, numbers with a fraction as float64, whole ones as int64."""
    wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    if device == "cpu":
        return wide
    import torch

    return torch.from_numpy(wide).to(device)


def _rounded(values: Any) -> Any:
    return values.astype(np.float32) if isinstance(values, np.ndarray) else values.float()


def _fetched(values: Any) -> NDArray[Any]:
    return values if isinstance(values, np.ndarray) else np.asarray(values.cpu().numpy())

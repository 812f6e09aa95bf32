r"""Measuring a trained model of the smooth paper: both protocols, the loss, and the scores of the training pairs.

Scores of pairs and ranks among the whole collection are matrix products on the processor or a GPU,

    score(q, d) = sum_i q_i d_i        in float64, then rounded once to float32

as the exact index has it, so that equal vectors have equal scores in every row. The rank of a document is one more than
the number of documents with a higher score, or an equal one and a smaller id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.evaluation.measures import Gains, PerQuery, measure
from isogloss.papers.examples import measure_scores
from isogloss.papers.similarity import smooth_scale
from isogloss.papers.smooth.experiments.data import Ranked
from isogloss.papers.smooth.model import SIDES, Side, SmoothModel, tower_sizes
from isogloss.papers.smooth.training_setup import Prepared
from isogloss.storage.array_types import Matrix
from isogloss.text.ids import Ids, TextIds, text_ids

SCORE_BINS = 2000
DEPTH = 1000
"""How many documents ``evaluate`` ranks in the whole collection."""
_EDGES = np.linspace(-1, 1, SCORE_BINS + 1)
QUERY_BLOCK = 256
SCORE_BLOCK = {"cpu": 2**20, "cuda": 2**27}
"""How many scores are computed together."""


@dataclass(frozen=True)
class Measured:
    """Values by protocol, measure and query; the mean loss of the pairs; training scores, counted in bins by grade."""

    values: dict[str, dict[str, PerQuery]]
    train_loss: float
    loss: float
    score_counts: NDArray[np.int32]


def measure_model(model: SmoothModel, dataset: Dataset, prepared: Prepared, ranked: Ranked, device: str) -> Measured:
    """Rank what the ``sampled`` and ``full`` protocols rank, as ``evaluate`` would."""
    options, pairs, examples = model.options, prepared.pairs, ranked.examples
    loss, top, order = options.make_loss(prepared.grades), dataset.judgments.top_grade, dataset.documents.id_order
    queries = _encode(model, "query", text_ids(ranked.queries, prepared.words["query"], options.query_words), device)
    documents = _encode(model, "document", prepared.documents, device)
    trained = _encode(model, "query", pairs.queries, device)
    scores = pair_scores(queries, documents, examples.query_of, examples.document_of, device)
    ties = order[examples.document_of].astype(np.int32)
    sampled = measure_scores(examples.query_of, examples.grades, scores, ties, top)
    judged = ~examples.negative
    query_of, document_of, grades = (
        each[judged] for each in (examples.query_of, examples.document_of, examples.grades)
    )
    ranks = collection_ranks(queries, documents, query_of, document_of, order, device)
    full = measure(gains_at(ranks, query_of, grades, top))
    train_scores = pair_scores(trained, documents, pairs.query_of, pairs.document_of, device)
    return Measured(
        {"sampled": sampled, "full": full},
        float(np.mean(loss.values(train_scores.astype(np.float64), pairs.grades))),
        float(np.mean(loss.values(scores.astype(np.float64), examples.grades))),
        _counts(train_scores, pairs.grades, prepared.grades),
    )


def binned_scores(counts: NDArray[np.int32]) -> NDArray[np.float64]:
    """The scores of one grade from their counts, each in the middle of its bin."""
    return np.repeat((_EDGES[:-1] + _EDGES[1:]) / 2, counts)


def pair_scores(
    queries: Matrix, documents: Matrix, query_of: Ids, document_of: Ids, device: str = "cpu"
) -> NDArray[np.float32]:
    """The score of each pair."""
    left, right = on_device(queries, device), on_device(documents, device)
    scores = np.empty(len(query_of), dtype=np.float32)
    size = max(1, SCORE_BLOCK[device] // queries.shape[1])
    for start in range(0, len(scores), size):
        part = slice(start, start + size)
        rows, columns = on_device(query_of[part], device), on_device(document_of[part], device)
        scores[part] = _fetched(_rounded((left[rows] * right[columns]).sum(1)))
    return scores


def collection_ranks(
    queries: Matrix, documents: Matrix, query_of: Ids, document_of: Ids, id_order: NDArray[np.int64],
    device: str = "cpu",
) -> NDArray[np.int64]:  # fmt: skip
    """The rank of each pair's document among all of them; pairs stand query by query.

    A query without a known word finds nothing: its documents rank below all.
    """
    by_id = np.argsort(id_order)
    columns = on_device(documents[by_id], device).T
    positions, numbers = id_order[document_of], on_device(np.arange(len(documents)), device)
    ranks = np.empty(len(query_of), dtype=np.int64)
    size = max(1, SCORE_BLOCK[device] // len(documents))
    for first in range(0, len(queries), QUERY_BLOCK):
        start, stop = np.searchsorted(query_of, (first, first + QUERY_BLOCK)).tolist()
        scores = _rounded(on_device(queries[first : first + QUERY_BLOCK], device) @ columns)
        for begin in range(start, stop, size):
            part = slice(begin, min(stop, begin + size))
            rows, wanted = on_device(query_of[part] - first, device), on_device(positions[part], device)
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
    positions = np.arange(len(query_of)) - np.repeat(np.cumsum(counts) - counts, counts)
    judged = np.zeros((queries, int(counts.max())), dtype=np.int32)
    judged[query_of, positions] = grades
    gains = np.zeros((queries, depth), dtype=np.int32)
    found = ranks <= depth
    gains[query_of[found], ranks[found] - 1] = grades[found]
    return Gains(gains, -np.sort(-judged, axis=1), top)


def _counts(scores: NDArray[np.float32], grades: NDArray[np.int32], number: int) -> NDArray[np.int32]:
    inside = np.clip(scores, -1, 1)
    return np.stack([np.histogram(inside[grades == grade], _EDGES)[0] for grade in range(number)]).astype(np.int32)


def _encode(model: SmoothModel, side: Side, texts: TextIds, device: str) -> Matrix:
    """Scaled vectors; a cnn or an lstm encodes on the device it was trained on."""
    if model.options.encoder == "average":
        return model.encode_ids(side, texts)
    from isogloss.papers.torch_encoder import load_encoders

    encoder = load_encoders(model.options.encoder, model.parameters, tower_sizes(model.options))[SIDES.index(side)]
    encoder.module.to(device)
    return np.asarray(smooth_scale(encoder.encode(texts.ids, texts.offsets), model.options.eps), dtype=np.float32)


def on_device(array: NDArray[Any], device: str) -> Any:
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

"""Measuring what a trial has learned: under both protocols, its loss, and how it scores what it learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.evaluation.measures import PerQuery, measure
from isogloss.nn.similarity import smooth_scale
from isogloss.papers.smooth.scores import collection_ranks, gains_at, pair_scores
from isogloss.papers.smooth.trial_data import Ranked
from isogloss.systems.smooth.learning import Prepared
from isogloss.systems.smooth.model import SIDES, Side, SmoothModel, tower_sizes
from isogloss.text.ids import TextIds, text_ids
from isogloss.training.examples import measure_scores
from isogloss.translation.vectors.word_vectors import Matrix

SCORE_BINS = 2000
_EDGES = np.linspace(-1, 1, SCORE_BINS + 1)


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
    loss, top, order = options.made_loss(prepared.grades), dataset.judgments.top_grade, dataset.documents.id_order
    queries = _encode(model, "query", text_ids(ranked.queries, prepared.words["query"], options.query_words), device)
    documents = _encode(model, "document", prepared.documents, device)
    learned = _encode(model, "query", pairs.queries, device)
    scores = pair_scores(queries, documents, examples.query_of, examples.document_of, device)
    ties = order[examples.document_of].astype(np.int32)
    sampled = measure_scores(examples.query_of, examples.grades, scores, ties, top)
    judged = ~examples.negative
    query_of, document_of, grades = (
        each[judged] for each in (examples.query_of, examples.document_of, examples.grades)
    )
    ranks = collection_ranks(queries, documents, query_of, document_of, order, device)
    full = measure(gains_at(ranks, query_of, grades, top))
    train_scores = pair_scores(learned, documents, pairs.query_of, pairs.document_of, device)
    return Measured(
        {"sampled": sampled, "full": full},
        float(np.mean(loss.values(train_scores.astype(np.float64), pairs.grades))),
        float(np.mean(loss.values(scores.astype(np.float64), examples.grades))),
        _counts(train_scores, pairs.grades, prepared.grades),
    )


def binned_scores(counts: NDArray[np.int32]) -> NDArray[np.float64]:
    """The scores of one grade from their counts, each in the middle of its bin."""
    return np.repeat((_EDGES[:-1] + _EDGES[1:]) / 2, counts)


def _counts(scores: NDArray[np.float32], grades: NDArray[np.int32], number: int) -> NDArray[np.int32]:
    inside = np.clip(scores, -1, 1)
    return np.stack([np.histogram(inside[grades == grade], _EDGES)[0] for grade in range(number)]).astype(np.int32)


def _encode(model: SmoothModel, side: Side, texts: TextIds, device: str) -> Matrix:
    """Scaled vectors; a cnn or an lstm encodes on the device it learned on."""
    if model.options.encoder == "average":
        return model.encode_ids(side, texts)
    from isogloss.nn.encoders.torch_encoder import load_encoders

    encoder = load_encoders(model.options.encoder, model.parameters, tower_sizes(model.options))[SIDES.index(side)]
    encoder.module.to(device)
    return np.asarray(smooth_scale(encoder.encode(texts.ids, texts.offsets), model.options.eps), dtype=np.float32)

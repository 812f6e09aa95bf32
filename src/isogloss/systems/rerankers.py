"""Re-rankers by the run they were trained in: any matcher, or any system of vectors, without an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isogloss.base.errors import InputError
from isogloss.evaluation.ranking import Scores
from isogloss.search.reranking import Reranker, ScoreTexts
from isogloss.systems.dense import DenseSystem
from isogloss.systems.matcher import Matcher
from isogloss.systems.model_directory import load_model
from isogloss.systems.trained import Trainable


def load_reranker(run: Path, depth: int = 50) -> Reranker:
    """A re-ranker of the first ``depth`` hits from a run of ``isogloss train``."""
    system = load_model(run)
    return Reranker(_scoring(system, run), (system.query_language, system.document_language), depth)


def _scoring(system: Trainable, run: Path) -> ScoreTexts:
    """A function that keeps nothing of one call for the next, so that threads may share it."""
    if isinstance(system, Matcher):
        return lambda query, texts: _read(system, query, texts)
    if isinstance(system, DenseSystem):
        return lambda query, texts: system.encode_documents(texts) @ system.encode_queries([query])[0]
    raise InputError(f"{run}: {system.name} cannot score texts that are not indexed; train a matcher, like layerwise")


def _read(system: Matcher, query: str, texts: Sequence[str]) -> Scores:
    from isogloss.training.pair_scores import PairScores

    queries = system.model.ids("query", system.query_texts([query]))
    documents = system.model.ids("document", texts)
    numbers = np.arange(len(texts), dtype=np.int32)
    scores: Scores = PairScores(system.model.scorer, documents)(queries, np.zeros_like(numbers), numbers)
    return scores

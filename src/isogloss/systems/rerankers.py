"""Re-rankers by the run they were trained in: any matcher, or any system of vectors, without an index."""

from __future__ import annotations

from pathlib import Path

from isogloss.base.errors import InputError
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
        return lambda query, texts: system.score_texts(system.query_texts([query]), texts)[0]
    if isinstance(system, DenseSystem):
        return lambda query, texts: system.score_texts([query], texts)[0]
    raise InputError(f"{run}: {system.name} cannot score texts that are not indexed; train a matcher, like layerwise")

"""Re-rankers by the run they were trained in: any matcher, or any system of vectors, without an index."""

from __future__ import annotations

from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.search.reranking import Reranker, ScoreTexts
from isogloss.systems.dense import DenseSystem
from isogloss.systems.matcher import Matcher
from isogloss.systems.model_directory import load_model


def load_reranker(run: Path, depth: int = 50) -> Reranker:
    """A re-ranker of the first ``depth`` hits from a run of ``isogloss train``."""
    system = load_model(run)
    if not isinstance(system, Matcher | DenseSystem):
        what = f"{system.name} cannot score texts that are not indexed"
        raise InputError(f"{run}: {what}; train a matcher, like layerwise")
    return Reranker(
        _scoring(system), (system.query_language, system.document_language), depth, system.explain_text, system.name,
        system.thresholds(), system.explains_quickly,
    )  # fmt: skip


def _scoring(system: Matcher | DenseSystem) -> ScoreTexts:
    """A function that keeps nothing of one call for the next, so that threads may share it."""
    if isinstance(system, Matcher):
        return lambda query, texts: system.score_texts(system.query_texts([query]), texts)[0]
    return lambda query, texts: system.score_texts([query], texts)[0]

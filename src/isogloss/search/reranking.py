"""The best of what was found, looked at again by something slower and better.

A search over millions of documents can afford little a document; the first fifty can be read with more care, each
together with the query. ``load_reranker`` makes such a scorer of a trained matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isogloss.data.documents import Document
from isogloss.retrieval.ranking import Scores
from isogloss.search.hits import Hit, relevance_of
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution

if TYPE_CHECKING:
    from isogloss.systems.dense import DenseSystem
    from isogloss.systems.matchers.base import Matcher

ScoreTexts = Callable[[str, Sequence[str]], Scores]
"""A query and some texts to the score of each."""
ExplainText = Callable[[str, str, float], list[Contribution]]
"""A query, a text and its score to the words that made the score; what they added adds up to it."""


def _unexplained(query: str, text: str, score: float) -> list[Contribution]:
    return []


@dataclass(frozen=True)
class Reranker:
    """Puts the first ``depth`` hits in the order of another score.

    ``languages`` are those of queries and documents that it was trained for; hits in others stay where they are.
    ``name`` is what its system is called, ``thresholds`` are the scores that separate the system's classes of
    relevance, and ``explains_quickly`` is as in a ``System``.
    """

    score_texts: ScoreTexts
    languages: tuple[str, str]
    depth: int = 50
    explain_text: ExplainText = _unexplained
    name: str = "the re-ranker"
    thresholds: tuple[float, ...] = ()
    explains_quickly: bool = False

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """The score of each text for a query."""
        return self.score_texts(query, texts) if len(texts) else np.zeros(0, np.float32)

    def reorder(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The first ``depth`` hits in a better order, equal ones by id; those behind them as they are.

        Hits that are moved have the new score, and the class of that if there are thresholds. ``explain`` says what
        made it; what the system that found them said is gone.
        """
        chosen = [place for place, hit in enumerate(hits[: self.depth]) if hit.language == self.languages[1]]
        scores = self.score(query, [hits[place].document.text for place in chosen])
        moved = [self._scored(hits[place], score) for place, score in zip(chosen, scores.tolist(), strict=True)]
        moved.sort(key=lambda hit: (-hit.score, hit.document.id))
        made = list(hits)
        for place, hit in zip(chosen, moved, strict=True):
            made[place] = replace(hit, rank=hits[place].rank)
        return made

    def explain(self, query: str, document: Document, score: float | None = None) -> tuple[Contribution, ...]:
        """What made the score of a document, which is found out where it is not given."""
        known = float(self.score(query, [document.text])[0]) if score is None else score
        return tuple(self.explain_text(query, document.text, known))

    def _scored(self, hit: Hit, score: float) -> Hit:
        relevance = relevance_of(score, self.thresholds)
        return replace(hit, score=score, explanation=(), relevance=relevance, reranked=True)


# Re-rankers by the run they were trained in: any matcher, or any system of vectors, without an index.


def load_reranker(run: Path, depth: int = 50) -> Reranker:
    """A re-ranker of the first ``depth`` hits from a run of ``isogloss train``."""
    from isogloss.systems.dense import DenseSystem
    from isogloss.systems.matchers.base import Matcher
    from isogloss.systems.model_directory import load_model

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
    from isogloss.systems.matchers.base import Matcher

    if isinstance(system, Matcher):
        return lambda query, texts: system.score_texts(system.query_texts([query]), texts)[0]
    return lambda query, texts: system.score_texts([query], texts)[0]

"""Re-ranking: a slower and better scorer re-orders the first hits of a search.

A search over millions of documents can spend little time on each document. A re-ranker reads the first fifty together
with the query. ``load_reranker`` loads one from a run of ``isogloss train``, or a cross-encoder of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isogloss.data.documents import Document
from isogloss.retrieval.ranking import Scores
from isogloss.search.hits import Hit, relevance_of
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution, TextScorer

ScoreTexts = Callable[[str, Sequence[str]], Scores]
"""From a query and texts to the score of each text."""
ExplainText = Callable[[str, str, float], list[Contribution]]
"""From a query, a text and its score to the parts of the score by words; they sum to the score."""


@dataclass(frozen=True)
class Reranker:
    """Puts the first ``depth`` hits in the order of another score.

    ``languages`` are those of the queries and documents it was trained for; hits in other languages are not moved. A
    cross-encoder of others has None: it reads whatever it is given.
    ``name`` is the name of its system, ``thresholds`` are the scores that separate its classes of relevance, and
    ``explains_quickly`` is as in a ``System``.
    """

    score_texts: ScoreTexts
    languages: tuple[str, str] | None
    depth: int = 50
    explain_text: ExplainText = lambda query, text, score: []
    name: str = "the re-ranker"
    thresholds: tuple[float, ...] = ()
    explains_quickly: bool = False

    def takes(self, query_language: str) -> bool:
        """Whether it is for queries in this language."""
        return self.languages is None or self.languages[0] == query_language

    def reads(self, language: str) -> bool:
        """Whether it is for documents in this language."""
        return self.languages is None or self.languages[1] == language

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """The score of each text for a query."""
        return self.score_texts(query, texts) if len(texts) else np.zeros(0, np.float32)

    def reorder(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The first ``depth`` hits in the order of their new scores, ties by id; the hits after them unchanged.

        Re-ranked hits have the new score and its class, and no explanation: ``explain`` makes a new one.
        """
        positions = [number for number, hit in enumerate(hits[: self.depth]) if self.reads(hit.language)]
        scores = self.score(query, [hits[position].document.text for position in positions])
        best = float(scores.max(initial=0.0)) or 1.0
        scored = [
            replace(
                hits[i], score=score, explanation=(), relevance=relevance_of(score, self.thresholds), reranked=True,
                chance=None, bar=max(0.0, score / best),
            )
            for i, score in zip(positions, scores.tolist(), strict=True)
        ]  # fmt: skip
        scored.sort(key=lambda hit: (-hit.score, hit.document.id))
        reordered = list(hits)
        for position, hit in zip(positions, scored, strict=True):
            reordered[position] = replace(hit, rank=hits[position].rank)
        return reordered

    def explain(self, query: str, document: Document, score: float | None = None) -> tuple[Contribution, ...]:
        """The words that made the score of a document, which is computed unless it is known."""
        known = float(self.score(query, [document.text])[0]) if score is None else score
        return tuple(self.explain_text(query, document.text, known))


def load_reranker(name: Path | str, depth: int = 50) -> Reranker:
    """A re-ranker of the first ``depth`` hits.

    It is a run of a matcher or of any system of vectors, or a cross-encoder by its folder, ``.onnx`` file or name.
    """
    from isogloss.systems.trainable import is_model, load_model

    run = Path(name)
    if not is_model(run):
        return _cross_encoder(str(name), depth)
    system = load_model(run)
    if not isinstance(system, TextScorer):
        what = f"{system.name} cannot score texts that are not indexed"
        raise InputError(f"{run}: {what}; train a matcher, like layerwise")
    return Reranker(
        lambda query, texts: system.score_texts(system.query_texts([query]), texts)[0],
        (system.query_language, system.document_language), depth, system.explain_text, system.name,
        system.thresholds(), system.explains_quickly,
    )  # fmt: skip


def _cross_encoder(name: str, depth: int) -> Reranker:
    from isogloss.encoders.cross_encoder import CrossEncoder
    from isogloss.systems.explanations import CutText, explain_by_leaving_out

    model = CrossEncoder(name)
    return Reranker(
        lambda query, texts: model.score_texts([query], texts)[0], None, depth,
        lambda query, text, score: explain_by_leaving_out(
            CutText.of(query), CutText.of(text), model.score_texts, score
        ),
        Path(name).name,
    )  # fmt: skip

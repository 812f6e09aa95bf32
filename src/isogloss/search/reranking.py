"""The best of what was found, looked at again by something slower and better.

A search over millions of documents can afford little a document; the first fifty can be read with more care, each
together with the query. ``systems.rerankers`` makes such a reader of a trained matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isogloss.evaluation.ranking import Scores
from isogloss.search.engine import Engine, Hit

ScoreTexts = Callable[[str, Sequence[str]], Scores]
"""A query and some texts to the score of each."""


@dataclass(frozen=True)
class Reranker:
    """Puts the first ``depth`` hits in the order of another score.

    ``languages`` are those of queries and documents that it was trained for; hits in others stay where they are.
    """

    score_texts: ScoreTexts
    languages: tuple[str, str]
    depth: int = 50

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """The score of each text for a query."""
        return self.score_texts(query, texts) if len(texts) else np.zeros(0, np.float32)

    def over(self, engine: Engine) -> Engine:
        """An engine whose first hits are in a better order."""
        return engine.reordering(self.reorder, self.depth)

    def reorder(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The first ``depth`` hits in a better order, equal ones by id; those behind them as they are.

        Hits that are moved have the new score. What explains them is still what found them, and no class goes with the
        new score.
        """
        chosen = [place for place, hit in enumerate(hits[: self.depth]) if hit.language == self.languages[1]]
        scores = self.score(query, [hits[place].document.text for place in chosen])
        moved = [
            replace(hits[place], score=float(score), relevance=None)
            for place, score in zip(chosen, scores.tolist(), strict=True)
        ]
        moved.sort(key=lambda hit: (-hit.score, hit.document.id))
        made = list(hits)
        for place, hit in zip(chosen, moved, strict=True):
            made[place] = replace(hit, rank=hits[place].rank)
        return made

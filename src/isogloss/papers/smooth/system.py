"""``smooth``: encoders of queries and documents, trained on graded judgments (the smooth learning paper).

    r(q, d) = f_q(q).f_d(d) / ((|f_q(q)| + eps)(|f_d(d)| + eps)),   trained by SOSL(r, grade)

The smooth cosine factors: each side is divided once by its norm plus eps, and the score is a plain inner product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.papers.smooth.model import DEFAULT_GRADES, SmoothModel, SmoothOptions
from isogloss.papers.trained_system import TrainedSystem
from isogloss.storage.array_types import Matrix
from isogloss.systems.base import Contribution, SystemOptions
from isogloss.systems.dense import DenseSystem
from isogloss.systems.explanations import explain_pairs
from isogloss.text.tokenizer import tokenize

if TYPE_CHECKING:
    from isogloss.papers.learner import Learner, State
    from isogloss.papers.training_loop import Evaluator, Recipe

_SHOWN = 5


class Smooth(TrainedSystem, DenseSystem):
    """Two encoders and the smooth cosine between them."""

    name = "smooth"
    paper = "Liu, Zhang, Goldwasser and Wang, Cross-Lingual Document Retrieval with Smooth Learning"
    summary = "encoders of queries and documents (average, cnn, lstm) trained on graded judgments"
    options_type = SmoothOptions
    options: SmoothOptions
    model: SmoothModel

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check()
        self.is_quick = self.options.encoder == "average"

    @property
    def recipe(self) -> Recipe:
        return self.options.recipe()

    def prepare(self, training: Dataset) -> tuple[Learner, Evaluator | None]:
        from isogloss.papers.smooth.training_setup import DevEvaluator, make_learner, prepare

        prepared = prepare(self.options, training)
        self._words, self._grades = prepared.words, prepared.grades
        learner = make_learner(self.options, prepared, training.pair)
        dev = training.split("dev") if "dev" in training.splits and self.options.dev_queries else []
        judged = any(query.id in training.judgments for query in dev)
        return learner, DevEvaluator(self.options, training, prepared) if judged else None

    def adopt(self, parameters: State) -> None:
        self.model = SmoothModel(self.options, self._words, parameters, self._grades)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        return self.model.encode("query", texts)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return self.model.encode("document", texts, f"encoding {len(texts):,} documents")

    def unknown_words(self, query: str) -> list[str]:
        known = self.model.words["query"]
        return [word for word in dict.fromkeys(tokenize(query)) if known.find(word) is None]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """The words of the document language whose vectors are nearest to each word of the query, for the average."""
        if self.options.encoder != "average":
            return []  # with cnn and lstm, word vectors of the two languages are not in one space
        known = self.model.words["query"]
        rows = {word: row for word in dict.fromkeys(tokenize(query)) if (row := known.find(word)) is not None}
        if not rows:
            return []
        vectors = np.tanh(self.model.table("query")[list(rows.values())])
        found = self.model.document_words.nearest_words(vectors, self.model.words["document"], _SHOWN)
        return [(word, [near for near, _ in nearest]) for word, nearest in zip(rows, found, strict=True)]

    def explain_vector(self, query: str, text: str, vector: Matrix, score: float) -> list[Contribution]:
        """The contributions of word pairs: exact for the average, else by integrated gradients."""
        words, shares = self.model.query_shares(query)
        if not words or not vector.any():
            return []
        return explain_pairs(words, shares, vector, score, partial(self.model.document_products, text))

    def thresholds(self) -> tuple[float, ...]:
        """The midpoints between the loss's bands of adjacent grades: one fewer than there are grades.

        No score of n dimensions is above n / (sqrt(n) + eps)^2. A threshold beyond pulls while training; as the end of
        a class it goes to the middle between it and the one below (-1 below the lowest).
        """
        grades = self.model.grades if hasattr(self, "model") else DEFAULT_GRADES
        loss = self.options.make_loss(grades).compiled()
        bands = zip(loss.upper[:-1].tolist(), loss.lower[1:].tolist(), strict=True)
        finite = [[end for end in both if np.isfinite(end)] for both in bands]
        found = [sum(both) / len(both) for both in finite]
        size = self.options.dimension**0.5
        highest = (size / (size + self.options.eps)) ** 2 if self.options.encoder == "average" else 1.0
        below = [-1.0, *found[:-1]]
        ends = [(end + low) / 2 if end > highest else end for low, end in zip(below, found, strict=True)]
        return tuple(round(end, 6) for end in ends)

    def save_model(self, directory: Path) -> None:
        self.model.save(directory)

    def load_model(self, directory: Path) -> None:
        self.model = SmoothModel.load(directory, self.options)

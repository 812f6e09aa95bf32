r"""``smooth``: queries and documents as vectors, learned from graded judgments (the smooth learning paper).

    r(q, d) = f_q(q).f_d(d) / ((|f_q(q)| + eps)(|f_d(d)| + eps)),   trained by SOSL(r, grade)

The smooth cosine factors: each side is divided once by its norm plus eps, and the score is a plain inner product.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from isogloss.corpus.dataset import Dataset
from isogloss.evaluation.system import Contribution, SystemOptions
from isogloss.systems.dense import DenseSystem
from isogloss.systems.smooth_learning import DevJudge, make_learner, prepare
from isogloss.systems.smooth_model import SmoothModel
from isogloss.systems.smooth_options import SmoothOptions
from isogloss.systems.trained import TrainedSystem
from isogloss.text.tokenizer import tokenize
from isogloss.training.learner import Learner, State
from isogloss.training.loop import Judge
from isogloss.training.recipe import Recipe
from isogloss.vectors.word_vectors import Matrix

_SHOWN = 5
_NAMED = 3


class Smooth(TrainedSystem, DenseSystem):
    """Two encoders and the smooth cosine between them."""

    name = "smooth"
    paper = "Liu, Zhang, Goldwasser and Wang, Cross-Lingual Document Retrieval with Smooth Learning"
    summary = "encoders of queries and documents (average, cnn, lstm) learned from graded judgments"
    options_type = SmoothOptions
    options: SmoothOptions
    model: SmoothModel

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check()

    @property
    def recipe(self) -> Recipe:
        return self.options.recipe()

    def prepare(self, training: Dataset) -> tuple[Learner, Judge | None]:
        made = prepare(self.options, training)
        self._words = made.words
        learner = make_learner(self.options, made, training.pair)
        dev = training.split("dev") if "dev" in training.splits and self.options.dev_queries else []
        judged = any(query.id in training.judgments for query in dev)
        return learner, DevJudge(self.options, training, made) if judged else None

    def adopt(self, parameters: State) -> None:
        self.model = SmoothModel(self.options, self._words, parameters)

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
            return []  # there the vectors of the two languages are no points of one space
        known = self.model.words["query"]
        rows = {word: row for word in dict.fromkeys(tokenize(query)) if (row := known.find(word)) is not None}
        if not rows:
            return []
        vectors = np.tanh(self.model.table("query")[list(rows.values())])
        found = self.model.document_words.nearest_words(vectors, self.model.words["document"], _SHOWN)
        return [(word, [near for near, _ in nearest]) for word, nearest in zip(rows, found, strict=True)]

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        r"""The score as a sum over query words, for the average.

        Each of the n words brings  (1/n) sum_j w_ij g_j d_j,  g_j = (tanh(m_j) / m_j) / (|q| + eps),  where m is the
        mean of the words' vectors and d the scaled vector of the document: exact, since sum_i w_ij / n = m_j.
        """
        if self.options.encoder != "average":
            return []
        model, known = self.model, self.model.words["query"]
        words = tokenize(query)[: self.options.query_words or None]
        found = [(word, number) for word in words if (number := known.find(word)) is not None]
        document = np.asarray(self._index.matrix[row], dtype=np.float64)
        vectors = model.table("query")[[number for _, number in found]].astype(np.float64)
        mean = vectors.sum(axis=0) / max(1, len(found))
        encoded = np.tanh(mean)
        if not encoded.any() or not document.any():
            return []
        pull = np.divide(encoded, mean, out=np.ones_like(mean), where=mean != 0)
        parts = vectors @ (pull * document) / (len(found) * (np.linalg.norm(encoded) + self.options.eps))
        scores: dict[str, float] = {}
        for (word, _), part in zip(found, parts.tolist(), strict=True):
            scores[word] = scores.get(word, 0.0) + part
        named = self._nearest_in(dict(found), text)
        return sorted(
            (Contribution(word, named[word], score) for word, score in scores.items()), key=lambda c: -c.score
        )

    def _nearest_in(self, rows: dict[str, int], text: str) -> dict[str, tuple[str, ...]]:
        """For each query word, the words of a text whose vectors have the largest products with its own."""
        known = self.model.words["document"]
        read = tokenize(text)[: self.options.document_words or None]
        words = {word: row for word in dict.fromkeys(read) if (row := known.find(word)) is not None}
        if not words:
            return dict.fromkeys(rows, ())
        table = np.tanh(self.model.table("document")[list(words.values())])
        products = np.tanh(self.model.table("query")[list(rows.values())]) @ table.T
        best, names = np.argsort(-products, axis=1)[:, :_NAMED], list(words)
        return {word: tuple(names[i] for i in line) for word, line in zip(rows, best.tolist(), strict=True)}

    def save_model(self, directory: Path) -> None:
        self.model.save(directory)

    def load_model(self, directory: Path) -> None:
        self.model = SmoothModel.load(directory, self.options)

    def save(self, directory: Path) -> None:
        self.save_model(directory)
        super().save(directory)

    def load(self, directory: Path) -> Self:
        self.load_model(directory)
        return super().load(directory)

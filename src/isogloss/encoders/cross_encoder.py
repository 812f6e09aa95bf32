"""Cross-encoders that others have trained: they read a query and a text together (Nogueira and Cho 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from isogloss.encoders.model_files import ONNX, SENTENCE_TRANSFORMERS, Model, find_model
from isogloss.encoders.onnx import OnnxCrossEncoder
from isogloss.encoders.sentence_transformer import SentenceTransformerCrossEncoder
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.wording import way

_BATCH = 32


class PairScorer(Protocol):
    """What a library makes of pairs; ``labels`` is how many numbers the model has for one."""

    labels: int

    def score(self, pairs: Sequence[tuple[str, str]]) -> Matrix:
        """One number a pair."""


_LIBRARIES: dict[str, Callable[[Model], PairScorer]] = {
    SENTENCE_TRANSFORMERS: SentenceTransformerCrossEncoder, ONNX: OnnxCrossEncoder,
}  # fmt: skip


class CrossEncoder:
    """Scores texts for queries by the model of a path or a name that the user has given."""

    def __init__(self, name: str) -> None:
        model = find_model(name, otherwise=f"name a run or a folder, or fetch it: hf download {name}")
        if not model.is_cross_encoder:
            what = "is not a cross-encoder (a model for sequence classification)"
            setting = way("--set pretrained=", "pretrained=")
            raise InputError(f"{model.folder}: {what}; encoders make vectors: {setting}{name}")
        try:
            self._scorer = _LIBRARIES[model.kind](model)
        except (InputError, MemoryError):
            raise
        except Exception as error:  # libraries raise errors of many kinds for a model that is damaged
            what = " ".join(str(error).split())[:300]
            raise InputError(f"{model.folder}: {model.kind} cannot load this model ({what})") from error
        if self._scorer.labels != 1:
            what = f"has {self._scorer.labels} labels, and a re-ranker has one score"
            raise InputError(f"{model.folder}: {what}; choose a cross-encoder that was trained to rank")

    def score_texts(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """The score of each query (a row) with each text (a column)."""
        pairs = [(query, text) for query in queries for text in texts]
        order = sorted(range(len(pairs)), key=lambda number: len(pairs[number][1]))  # less padding
        scores = np.zeros(len(pairs), np.float32)
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            scores[some] = self._scorer.score([pairs[number] for number in some])
        return scores.reshape(len(queries), len(texts))

"""Explanations of the cosine of ``layerwise`` by pairs of words. Needs torch."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.nn.integrated_gradients import shares_along, word_shares
from isogloss.nn.matchers.layered import LayeredScorer
from isogloss.systems.base import Contribution
from isogloss.systems.explanations import Doubles, explain_pairs, read_words, sum_by_word
from isogloss.systems.matchers.model import MatcherModel

_KEPT = 16  # queries whose shares are cached: the hits of each are explained one by one


class LayerwiseExplainer:
    """Explains the scores of a model that compares vectors by their cosine, by pairs of words."""

    def __init__(self, model: MatcherModel, scorer: LayeredScorer) -> None:
        self.model, self._scorer = model, scorer.eval()
        self._shares_of = lru_cache(_KEPT)(self._query_shares)

    def by_pairs(self, query: str, text: str, document: NDArray[np.float32], score: float) -> list[Contribution]:
        """The contributions of the words of a query to the cosine with a document vector."""
        words, shares = self._shares_of(query)
        if not words or not document.any():
            return []
        return explain_pairs(words, shares, document, score, lambda directions: self._products(text, directions))

    def _query_shares(self, query: str) -> tuple[list[str], Doubles]:
        """The known words of a query, each with its share in the vector of length 1."""
        words, vectors = self._read("query", query)
        if not words:
            return [], np.zeros((0, 0))
        found = word_shares(self._encode, vectors)
        length = float((found.words.sum(dim=0) + found.rest).norm()) or 1.0
        return sum_by_word(words, _doubles(found.words) / length)

    def _products(self, text: str, directions: Doubles) -> tuple[list[str], Doubles]:
        words, vectors = self._read("document", text)
        if not words:
            return [], np.zeros((len(directions), 0))
        with torch.inference_mode():
            length = float(self._encode(vectors[None])[0].norm()) or 1.0
        found = shares_along(self._encode, vectors, vectors.new_tensor(directions))
        names, products = sum_by_word(words, _doubles(found.words) / length)
        return names, products.T

    def _read(self, side: str, text: str) -> tuple[list[str], Tensor]:
        options, tables = self.model.options, self._scorer.tables
        longest = options.query_words if side == "query" else options.document_words
        words, rows = read_words(text, self.model.words[side], longest)
        table = tables.query if side == "query" else tables.document
        return words, table.detach()[rows]

    def _encode(self, copies: Tensor) -> Tensor:
        lengths = torch.full((len(copies),), copies.shape[1], device=copies.device)
        vectors: Tensor = self._scorer.tower(copies, lengths)[-1].vectors
        return vectors


def _doubles(tensor: Tensor) -> Doubles:
    array: Doubles = tensor.detach().double().cpu().numpy()
    return array

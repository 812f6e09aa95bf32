"""The weighted average of the vectors of a text's words (ad hoc paper, equation 3).

    e(d) = sum_i w_i e(t_i) / sum_i w_i

over all tokens, so that a term's weight counts as often as the term occurs (tf times w). Words without a vector are
skipped; a text without a known word has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.nn.encoders.unit_sums import whole_texts
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import tokenize
from isogloss.translation.vectors.word_vectors import Matrix, WordVectors

_BLOCK_TOKENS = 100_000


class WeightedAverage:
    """Encodes texts by vectors and one weight a word."""

    def __init__(self, vectors: WordVectors, weights: NDArray[np.float32]) -> None:
        if len(weights) != len(vectors):
            raise ValueError("as many weights as words are needed")
        self.vectors, self.weights = vectors, weights

    def encode(self, texts: Sequence[str], label: str = "encoding") -> Matrix:
        """One row a text."""
        return self.encode_tokens(tokenize_texts(texts, label=label))

    def encode_tokens(self, texts: TokenizedTexts) -> Matrix:
        """One row a tokenised text."""
        row_of = self.vectors.row_of
        rows = np.fromiter((row_of.get(term, -1) for term in texts.terms), dtype=np.int64, count=len(texts.terms))
        encoded = np.zeros((len(texts), self.vectors.dimension), dtype=np.float32)
        for first, last in whole_texts(texts.offsets, _BLOCK_TOKENS):
            span = slice(int(texts.offsets[first]), int(texts.offsets[last]))
            text_of = np.repeat(np.arange(first, last), np.diff(texts.offsets[first : last + 1]))
            self._add(encoded, rows[texts.ids[span]], text_of)
        return encoded

    def unknown(self, text: str) -> list[str]:
        """The words of a text that have no vector, each once."""
        return list(dict.fromkeys(word for word in tokenize(text) if word not in self.vectors))

    def _add(self, encoded: Matrix, rows: NDArray[np.int64], text_of: NDArray[np.int64]) -> None:
        """Encode the texts of one block into their rows of ``encoded``."""
        known = rows >= 0
        rows, text_of = rows[known], text_of[known]
        if not len(rows):
            return
        starts = np.flatnonzero(np.diff(text_of, prepend=-1))
        weights = self.weights[rows]
        sums = np.add.reduceat(self.vectors.matrix[rows] * weights[:, None], starts, axis=0)
        totals = np.add.reduceat(weights, starts)
        encoded[text_of[starts]] = sums / np.where(totals > 0, totals, 1.0)[:, None]


def term_statistics(texts: TokenizedTexts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many texts hold each term, and how often it occurs in all of them."""
    text_of = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))
    pairs = np.unique(texts.ids.astype(np.int64) * max(1, len(texts)) + text_of)
    holding = np.bincount(pairs // max(1, len(texts)), minlength=len(texts.terms))
    return holding, np.bincount(texts.ids, minlength=len(texts.terms))


def word_statistics(vectors: WordVectors, texts: TokenizedTexts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same of each word of the vectors: numbers that add up over chunks of texts."""
    statistics = np.zeros((2, len(vectors)), dtype=np.int64)
    rows = np.fromiter((vectors.row_of.get(term, -1) for term in texts.terms), np.int64, len(texts.terms))
    statistics[:, rows[rows >= 0]] = np.stack(term_statistics(texts))[:, rows >= 0]
    return statistics[0], statistics[1]


def idf(holding: NDArray[np.int64], texts: int, occurrences: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
    """ln(N / df) of words that so many of the texts hold; with ``occurrences`` the mean of tf-idf over those texts.

    A word that no text holds weighs as much as one that a single text holds.
    """
    values = np.log(max(1, texts) / np.maximum(holding, 1))
    if occurrences is not None:
        values = values * occurrences / np.maximum(holding, 1)
    return np.where(holding > 0, values, np.log(max(2, texts))).astype(np.float32)


def idf_weights(vectors: WordVectors, texts: TokenizedTexts, mean_frequency: bool = False) -> NDArray[np.float32]:
    """The weight of each word of the vectors, by what some texts hold."""
    holding, occurrences = word_statistics(vectors, texts)
    return idf(holding, len(texts), occurrences if mean_frequency else None)

"""The weighted average of the vectors of a text's words (ad hoc paper, equation 3).

    e(d) = sum_i w_i e(t_i) / sum_i w_i

over all tokens, so that a term's weight counts as often as the term occurs (tf times w). Words without a vector are
skipped; a text without a known word has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import tokenize
from isogloss.vectors.word_vectors import Matrix, WordVectors

_BLOCK_TOKENS = 100_000


class WeightedAverage:
    """Encodes texts by vectors and one weight a word."""

    def __init__(self, vectors: WordVectors, weights: NDArray[np.float32]) -> None:
        if len(weights) != len(vectors):
            raise ValueError("as many weights as words are needed")
        self.vectors = vectors
        self.weights = weights

    def encode(self, texts: Sequence[str], label: str = "encoding") -> Matrix:
        """One row a text."""
        return self.encode_tokens(tokenize_texts(texts, label=label))

    def encode_tokens(self, texts: TokenizedTexts) -> Matrix:
        """One row a tokenised text."""
        row_of = self.vectors.row_of
        rows = np.fromiter((row_of.get(term, -1) for term in texts.terms), dtype=np.int64, count=len(texts.terms))
        encoded = np.zeros((len(texts), self.vectors.dimension), dtype=np.float32)
        for first, last in _blocks(texts.offsets):
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


def _blocks(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Stretches of texts of about so many tokens, each text whole."""
    blocks, first = [], 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + _BLOCK_TOKENS, side="right")) - 1
        blocks.append((first, min(max(last, first + 1), len(offsets) - 1)))
        first = blocks[-1][1]
    return blocks


def term_statistics(texts: TokenizedTexts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many texts hold each term, and how often it occurs in all of them."""
    text_of = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))
    pairs = np.unique(texts.ids.astype(np.int64) * max(1, len(texts)) + text_of)
    holding = np.bincount(pairs // max(1, len(texts)), minlength=len(texts.terms))
    return holding, np.bincount(texts.ids, minlength=len(texts.terms))


def idf_weights(vectors: WordVectors, texts: TokenizedTexts, mean_frequency: bool = False) -> NDArray[np.float32]:
    """ln(N / df) of each word of the vectors; with ``mean_frequency`` its mean tf-idf over the texts that hold it.

    A word that no text holds weighs as much as one that a single text holds.
    """
    holding, occurrences = term_statistics(texts)
    idf = np.log(max(1, len(texts)) / np.maximum(holding, 1))
    values = idf * occurrences / np.maximum(holding, 1) if mean_frequency else idf
    value_of = dict(zip(texts.terms, values.tolist(), strict=True))
    unseen = float(np.log(max(2, len(texts))))
    return np.fromiter((value_of.get(word, unseen) for word in vectors.words), dtype=np.float32, count=len(vectors))

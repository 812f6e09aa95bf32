"""The weighted average of the vectors of a text's words (ad hoc paper, equation 3).

    e(d) = sum_i w_i e(t_i) / sum_i w_i

over the terms of a document, w_i the TF-IDF of term i in it. Of a text: over all tokens, so that a term's weight counts
as often as the term occurs (tf times IDF). Of data that have weights: with those (:func:`encode_weights`). Words
without a vector are skipped; a text without a known word has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import TermWeights
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.systems.bridge.text_vectors import whole_texts
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.normalization import normalize
from isogloss.text.tokenizer import tokenize

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
        rows = term_rows(self.vectors, texts.terms)
        weights = np.where(rows >= 0, self.weights[rows], np.float32(0))
        return _averages(self.vectors.matrix, rows[texts.ids], weights[texts.ids], texts.offsets)

    def unknown(self, text: str) -> list[str]:
        """The words of a text that have no vector, each once."""
        return list(dict.fromkeys(word for word in tokenize(text) if word not in self.vectors))


def encode_weights(vectors: WordVectors, weights: TermWeights) -> Matrix:
    """One row a document, by the weights of its words in the data."""
    rows = term_rows(vectors, weights.vocabulary)
    return _averages(vectors.matrix, rows[weights.columns], weights.values, weights.offsets)


def mean_weights(vectors: WordVectors, weights: TermWeights, over_all: bool = False) -> NDArray[np.float32]:
    """The mean weight of each word of the vectors over the documents that have it, or over all.

    A word that no document has weighs as much as, on average, one that a single document has.
    """
    rows = term_rows(vectors, weights.vocabulary)[weights.columns]
    known = rows >= 0
    totals = np.bincount(rows[known], weights.values[known], minlength=len(vectors))
    holding = np.bincount(rows[known], minlength=len(vectors))
    rarest = totals[holding == 1].mean() if (holding == 1).any() else 1.0
    over = max(1, len(weights.offsets) - 1) if over_all else np.maximum(holding, 1)
    return (np.where(holding > 0, totals, rarest) / over).astype(np.float32)


def term_rows(vectors: WordVectors, terms: Sequence[str]) -> NDArray[np.int64]:
    """The row of each term, as it is written or else folded; -1 where it has no vector."""
    row_of = vectors.row_of
    found = (row_of.get(term, row_of.get(normalize(term), -1)) for term in terms)
    return np.fromiter(found, dtype=np.int64, count=len(terms))


def _averages(
    matrix: Matrix, rows: NDArray[np.int64], weights: NDArray[np.float32], offsets: NDArray[np.int64]
) -> Matrix:
    """Row i: the weighted average of ``matrix[rows[j]]``, offsets[i] <= j < offsets[i + 1], without rows below 0."""
    encoded = np.zeros((len(offsets) - 1, matrix.shape[1]), dtype=np.float32)
    for first, last in whole_texts(offsets, _BLOCK_TOKENS):
        span = slice(int(offsets[first]), int(offsets[last]))
        text_of = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        known = rows[span] >= 0
        if not known.any():
            continue
        kept, text_of, own = rows[span][known], text_of[known], weights[span][known]
        starts = np.flatnonzero(np.diff(text_of, prepend=-1))
        sums = np.add.reduceat(matrix[kept] * own[:, None], starts, axis=0)
        totals = np.add.reduceat(own, starts)
        encoded[text_of[starts]] = sums / np.where(totals > 0, totals, 1.0)[:, None]
    return encoded


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


def idf(holding: NDArray[np.int64], texts: int) -> NDArray[np.float32]:
    """ln(N / df) of words that so many of the texts hold; a word that none holds weighs as if one did."""
    values = np.log(max(1, texts) / np.maximum(holding, 1))
    return np.where(holding > 0, values, np.log(max(2, texts))).astype(np.float32)


def idf_weights(vectors: WordVectors, texts: TokenizedTexts) -> NDArray[np.float32]:
    """The IDF of each word of the vectors in some texts."""
    return idf(word_statistics(vectors, texts)[0], len(texts))


def mean_tfidf(vectors: WordVectors, texts: TokenizedTexts, over_all: bool = False) -> NDArray[np.float32]:
    """The mean of tf ln(N / df) of each word of the vectors over the texts that hold it, or over all.

    A word that no text holds weighs as if it occurred once.
    """
    holding, occurrences = word_statistics(vectors, texts)
    over = max(1, len(texts)) if over_all else np.maximum(holding, 1)
    return (idf(holding, len(texts)) * np.maximum(occurrences, 1) / over).astype(np.float32)

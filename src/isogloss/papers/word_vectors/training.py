"""Word vectors from plain text, with numpy alone.

The vectors are a truncated singular value decomposition of the positive pointwise mutual information of words and their
neighbours (Levy, Goldberg and Dagan 2015, "Improving distributional similarity with lessons learned from word
embeddings", with their advice for this method: dynamic window, context smoothing, no weighting by singular values):

    PPMI(w, c) = max(0, ln( n(w, c) N / (n(w) n(c)^a) )),  a = 0.75 and N such that the context probabilities sum to 1
    PPMI ~ U S V^T,  the vector of w is row w of U S^p,  p = 0 by default

Why not skip-gram: this gives the same vectors twice and needs nothing installed. On the one collection where both were
measured (cppdocs es, vectors of 3.3 and 1.8 million words, one seed, gensim's defaults but for the dimension and rare
words, window 5) skip-gram took 7 (es) to 16 (en) times as long and was worse in the default of ``aligned`` (MRR .325
against .458), but better in a rotation of raw vectors (docs/results/adhoc.md). Contexts are the most frequent words
only, which is what keeps the matrix dense and small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.text.batches import TokenizedTexts, tokenize_texts

SOURCE_WINDOW = 20
"""Neighbours on each side that are counted where vectors are trained on the texts of a source."""
_LITTLE_TEXT = 100_000  # words
_OVERSAMPLING = 20
_POWER_ROUNDS = 4
_BLOCK = 2048


@dataclass(frozen=True)
class VectorTraining:
    """How vectors are trained."""

    dimension: int = 300
    window: int = 5
    minimum_count: int = 3
    maximum_words: int = 50_000
    contexts: int = 4_000
    smoothing: float = 0.75
    singular_power: float = 0.0
    seed: int = 0


def train_vectors(texts: Sequence[str], how: VectorTraining | None = None) -> WordVectors:
    """Vectors of the words of some texts, the most frequent word first."""
    return train_on_tokens(tokenize_texts(texts), how or VectorTraining())


def train_on_tokens(texts: TokenizedTexts, how: VectorTraining) -> WordVectors:
    """The same for texts that are tokenised already."""
    times = np.bincount(texts.ids, minlength=len(texts.terms))
    by_count = sorted(np.flatnonzero(times >= how.minimum_count).tolist(), key=lambda i: (-times[i], texts.terms[i]))
    kept = by_count[: how.maximum_words]
    if len(kept) < 2:
        raise InputError(f"too little text to train word vectors: {len(kept)} words occur {how.minimum_count} times")
    number = np.full(len(texts.terms), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    counts = _count(number[texts.ids], texts.offsets, len(kept), how)
    if not counts.any():
        raise InputError("too little text to train word vectors: no two words that are kept stand near each other")
    association = _ppmi(counts, how.smoothing)
    vectors = _left_singular(association, min(how.dimension, len(kept)), how.singular_power, how.seed)
    return WordVectors([texts.terms[i] for i in kept], vectors)


def train_on_source(texts: TokenizedTexts, dimension: int, window: int = SOURCE_WINDOW) -> WordVectors:
    """Vectors trained on the texts of a source; of little text the words that occur once are kept."""
    minimum_count = min(3, 1 + len(texts.ids) // _LITTLE_TEXT)
    return train_on_tokens(texts, VectorTraining(dimension, window, minimum_count))


def query_language_texts(training: Dataset) -> TokenizedTexts:
    """Texts of the query language: its documents, or the queries of the train split where there are none."""
    query_language, document_language = training.pair
    try:  # only whether there are any: errors in them are raised when they are read
        has_some = any(True for _ in training.source.source_documents(query_language, Problems(False)))
    except InputError:
        has_some = False
    texts = training.source_documents.texts(("text",)) if has_some else []
    if query_language != document_language and texts == training.documents.texts(("text",)):
        texts = []  # some formats have the same documents for every language
    if not texts and "train" in training.splits:
        texts = [query.text for query in training.split("train")]
    return tokenize_texts(texts, label="reading the query language")


def count_terms(texts: TokenizedTexts) -> dict[str, int]:
    """How often each term occurs."""
    return dict(zip(texts.terms, np.bincount(texts.ids, minlength=len(texts.terms)).tolist(), strict=True))


def _count(words: NDArray[np.int64], offsets: NDArray[np.int64], size: int, how: VectorTraining) -> Matrix:
    """n(w, c), each neighbour at distance i of a window of n weighing (n + 1 - i) / n; texts do not touch."""
    contexts = min(how.contexts, size)
    counts = np.zeros(size * contexts, dtype=np.float32)
    text_of = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    for distance in range(1, how.window + 1):
        left, right = words[:-distance], words[distance:]
        together = (text_of[:-distance] == text_of[distance:]) & (left >= 0) & (right >= 0)
        weight = np.float32((how.window + 1 - distance) / how.window)
        for word, context in ((left, right), (right, left)):
            seen = together & (context < contexts)
            np.add.at(counts, word[seen] * contexts + context[seen], weight)
    return counts.reshape(size, contexts)


def _ppmi(counts: Matrix, smoothing: float) -> Matrix:
    """Turn counts into PPMI, in place."""
    words = np.maximum(counts.sum(axis=1, keepdims=True), 1e-9)
    contexts = counts.sum(axis=0, dtype=np.float64) ** smoothing
    share = np.maximum(contexts / contexts.sum(), 1e-12).astype(np.float32)
    for start in range(0, len(counts), _BLOCK):
        block = counts[start : start + _BLOCK]
        block /= words[start : start + _BLOCK]
        block /= share
        np.maximum(block, 1.0, out=block)  # its logarithm is the maximum with 0
        np.log(block, out=block)
    return counts


def _left_singular(matrix: Matrix, dimension: int, power: float, seed: int) -> Matrix:
    """U S^p of the largest singular values, by a randomised range finder (Halko, Martinsson and Tropp 2011)."""
    width = min(dimension + _OVERSAMPLING, matrix.shape[1])
    start = np.random.default_rng(seed).standard_normal((matrix.shape[1], width)).astype(np.float32)
    basis = np.linalg.qr(matrix.T @ (matrix @ start))[0]
    for _ in range(_POWER_ROUNDS):
        basis = np.linalg.qr(matrix.T @ (matrix @ basis))[0]
    projected = matrix @ basis
    squares, rotation = np.linalg.eigh((projected.T @ projected).astype(np.float64))
    best = np.argsort(-squares)[: min(dimension, width)]
    singular = np.sqrt(np.maximum(squares[best], 1e-12))
    scaled: Matrix = (projected @ rotation[:, best].astype(np.float32)) * (singular ** (power - 1.0)).astype(np.float32)
    return scaled

"""Word vectors to start from: each language's trained on its own documents, as the paper's Polyglot vectors were."""

from __future__ import annotations

import numpy as np

from isogloss.papers.smooth.pair_words import PairWords
from isogloss.storage.errors import InputError
from isogloss.translation.vectors.training import VectorTraining, train_on_tokens
from isogloss.translation.vectors.word_vectors import WordVectors


def monolingual_vectors(words: PairWords, dimension: int, spread: float) -> tuple[WordVectors, WordVectors]:
    """Vectors of the query language and of the document language, their components as large as random ones would be.

    They are statistics of documents alone: no query and no judgment is looked at.
    """
    if words.source_documents is None:
        language = words.dataset.pair[0]
        raise InputError(f"{words.dataset.source.name}: has no documents in {language!r} to train first vectors on")
    how = VectorTraining(dimension=dimension, minimum_count=2)
    made = [_scaled(train_on_tokens(texts, how), spread) for texts in (words.source_documents, words.documents)]
    return made[0], made[1]


def _scaled(vectors: WordVectors, spread: float) -> WordVectors:
    size = float(np.sqrt(np.mean(np.square(vectors.matrix, dtype=np.float64))))
    return WordVectors(vectors.words, (vectors.matrix * np.float32(spread / max(size, 1e-12))).astype(np.float32))

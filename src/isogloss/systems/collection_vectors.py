"""Word vectors to start learning from, made of the collection alone, for which no file is needed.

They are trained on the texts of each language; those of two languages are put into one space by the lexicon that the
translated pages of the train split give (see ``aligned``).
"""

from __future__ import annotations

import numpy as np

from isogloss.corpus.dataset import Dataset
from isogloss.systems.aligned import Aligned, AlignedOptions
from isogloss.text.batches import tokenize_texts
from isogloss.vectors.training import VectorTraining, train_on_tokens
from isogloss.vectors.word_vectors import Matrix, WordVectors

COLLECTION, RANDOM = "collection", "random"


def collection_vectors(dataset: Dataset, dimension: int) -> tuple[WordVectors, WordVectors]:
    """Vectors of the query language and of the documents'; the same where that is one language.

    Little text gives vectors of fewer numbers: the rest are zeros.
    """
    if dataset.pair[0] == dataset.pair[1]:
        texts = tokenize_texts(dataset.documents.texts(("text",)))
        made = _filled(train_on_tokens(texts, VectorTraining(dimension, minimum_count=1)), dimension)
        return made, made
    system = Aligned(AlignedOptions(dimension=dimension), *dataset.pair)
    system.fit(dataset)
    queries, documents = system.spaces
    return _filled(queries, dimension), _filled(documents, dimension)


def _filled(vectors: WordVectors, dimension: int) -> WordVectors:
    matrix: Matrix = np.zeros((len(vectors), dimension), np.float32)
    matrix[:, : vectors.dimension] = vectors.matrix
    return WordVectors(vectors.words, matrix)

"""Initial word vectors of a training: random, from a file, or trained on the collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.papers.word_vectors.files import read_vectors
from isogloss.papers.word_vectors.joint_space import join_spaces
from isogloss.papers.word_vectors.skip_gram import skip_gram
from isogloss.papers.word_vectors.training import VectorTraining, query_language_texts, train_on_source, train_on_tokens
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.wording import way
from isogloss.systems.lexicons import induce_from
from isogloss.text.batches import TokenizedTexts, tokenize_texts

COLLECTION, RANDOM, SKIP_GRAM = "collection", "random", "skip-gram"


def random_vectors(words: int, dimension: int, seed: Sequence[int]) -> Matrix:
    """One row a word, of about unit length."""
    rng = np.random.default_rng(list(seed))
    return rng.normal(0.0, dimension**-0.5, (words, dimension)).astype(np.float32)


def vectors_from(path: Path, words: Sequence[str]) -> tuple[NDArray[np.int64], Matrix]:
    """The words of a file, by number, and their vectors."""
    numbers, found = known_vectors(read_vectors(path), words)
    if not len(numbers):
        raise InputError(f"{path}: has none of the {len(words):,} words of the texts; is it the right language?")
    if not np.isfinite(found).all():
        raise InputError(f"{path}: has a vector with a value that is not a finite number")
    return numbers, found


def known_vectors(vectors: WordVectors, words: Sequence[str]) -> tuple[NDArray[np.int64], Matrix]:
    """The words that have a vector, by number, and their vectors."""
    known = [(number, vectors.row_of[word]) for number, word in enumerate(words) if word in vectors]
    numbers, rows = np.asarray(known, dtype=np.int64).reshape(-1, 2).T
    return numbers, np.asarray(vectors.matrix[rows], dtype=np.float32)


def unit_vectors(vectors: Matrix) -> Matrix:
    """Each row scaled to unit length; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return scaled


def collection_vectors(dataset: Dataset, dimension: int) -> tuple[WordVectors, WordVectors]:
    """Vectors of the query language and of the document language, trained on the texts of each.

    Those of two languages are aligned by a lexicon that is induced from the translated pages of the train split (see
    :mod:`isogloss.papers.word_vectors.joint_space`). Little text gives shorter vectors, which are filled with zeros.
    """
    if dataset.pair[0] == dataset.pair[1]:
        texts = tokenize_texts(dataset.documents.texts(("text",)))
        made = _filled(train_on_tokens(texts, VectorTraining(dimension, minimum_count=1)), dimension)
        return made, made
    if dataset.documents.weights is not None:
        raise InputError("vectors: the data have weights of words and no text to train word vectors on; give files")
    lexicon = induce_from(dataset, "vectors")
    query_texts = query_language_texts(dataset)
    document_texts = tokenize_texts(dataset.documents.texts(("text",)))
    queries = _trained("query", dataset.pair[0], query_texts, dimension)
    documents = _trained("document", dataset.pair[1], document_texts, dimension)
    least = min(queries.dimension, documents.dimension)
    queries = WordVectors(queries.words, queries.matrix[:, :least])
    documents = WordVectors(documents.words, documents.matrix[:, :least])
    space = join_spaces(
        queries, documents, lexicon, dataset.pair, query_texts=query_texts, document_texts=document_texts
    )
    return _filled(space.queries, dimension), _filled(space.documents, dimension)


def _trained(side: str, language: str, texts: TokenizedTexts, dimension: int) -> WordVectors:
    if not len(texts.ids):
        needed = way(f"--set {side}_vectors=FILE", f"{side}_vectors=FILE")
        raise InputError(f"vectors: no text in {language!r} to train word vectors on; give {needed}")
    return train_on_source(texts, dimension)


def skip_gram_vectors(dataset: Dataset, dimension: int) -> tuple[WordVectors, WordVectors]:
    """Vectors of the query language and of the document language, each by skip-gram on its own texts; not aligned."""
    documents = skip_gram(tokenize_texts(dataset.documents.texts(("text",))), dimension)
    if dataset.pair[0] == dataset.pair[1]:
        return documents, documents
    return skip_gram(query_language_texts(dataset), dimension), documents


def _filled(vectors: WordVectors, dimension: int) -> WordVectors:
    matrix: Matrix = np.zeros((len(vectors), dimension), np.float32)
    matrix[:, : vectors.dimension] = vectors.matrix
    return WordVectors(vectors.words, matrix)

"""Word vectors of two languages in one space: trained or read, joined by a matrix that is fitted on pairs of words.

The vectors of the query language are multiplied by the matrix (:mod:`isogloss.papers.word_vectors.alignment`), then
moved towards the vectors of their translations by a share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.data.problems import Problems
from isogloss.data.source import Pair
from isogloss.papers.word_vectors.alignment import Alignment, AlignmentOptions, align, anchor, frequent_pairs
from isogloss.papers.word_vectors.training import VectorTraining, train_on_tokens
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.stopwords import stop_words
from isogloss.translation.lexicon import Lexicon

MATRIX_PAIRS = 4000
"""Pairs of words that the matrix is fitted on, unless something else is asked for."""
DICTIONARY_SHARE = 0.8
"""The share of a query word's vector that comes from its translations, unless something else is asked for."""
WINDOW = 20
"""Neighbours on each side that are counted in training, unless something else is asked for."""
_LITTLE_TEXT = 100_000  # words


class JointSpace(NamedTuple):
    """The vectors of both languages in one space, and the alignment that joined them."""

    queries: WordVectors
    documents: WordVectors
    alignment: Alignment


def join_spaces(
    queries: WordVectors,
    documents: WordVectors,
    lexicon: Lexicon,
    pair: Pair,
    *,
    query_texts: TokenizedTexts,
    document_texts: TokenizedTexts,
    options: AlignmentOptions | None = None,
    matrix_pairs: int = MATRIX_PAIRS,
    dictionary_share: float = DICTIONARY_SHARE,
) -> JointSpace:
    """Join two spaces by the most frequent pairs of words of a lexicon.

    Words are as frequent as in the texts; without texts in the query language, as the order of its vectors says.

    Raises
    ------
    InputError
        No entry of the lexicon is a word of the query language's texts.
    """
    ranks = {word: len(queries) - row for row, word in enumerate(queries.words)}  # files have frequent words first
    query_counts = count_terms(query_texts) or ranks
    word_pairs = frequent_pairs(lexicon, query_counts, matrix_pairs, count_terms(document_texts), documents)
    if not word_pairs:
        problem = f"none of the lexicon's {len(lexicon):,} entries is a word of the {pair[0]!r} texts"
        raise InputError(f"aligned: {problem}; is it a lexicon of {pair[0]}-{pair[1]}?")
    alignment = align(queries, documents, word_pairs, options)
    mapped_documents = WordVectors(documents.words, alignment.apply(documents.matrix, "target"))
    mapped_queries = WordVectors(queries.words, alignment.apply(queries.matrix, "source"))
    if dictionary_share:
        mapped_queries = anchor(mapped_queries, mapped_documents, lexicon, dictionary_share, stop_words(pair[0]))
    return JointSpace(mapped_queries, mapped_documents, alignment)


def train_on_source(texts: TokenizedTexts, dimension: int, window: int = WINDOW) -> WordVectors:
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

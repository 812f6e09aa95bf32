"""Word vectors of two languages in one space: trained or read, joined by a matrix that is fitted on pairs of words.

The vectors of the query language are multiplied by the matrix (:mod:`isogloss.papers.word_vectors.alignment`), then
moved towards the vectors of their translations by a share.
"""

from __future__ import annotations

from typing import NamedTuple

from isogloss.data.source import Pair
from isogloss.papers.word_vectors.alignment import Alignment, AlignmentOptions, align, anchor, frequent_pairs
from isogloss.papers.word_vectors.training import count_terms
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError
from isogloss.text.batches import TokenizedTexts
from isogloss.text.stopwords import stop_words
from isogloss.translation.lexicon import Lexicon

MATRIX_PAIRS = 4000
"""Pairs of words that the matrix is fitted on, unless something else is asked for."""
DICTIONARY_SHARE = 0.8
"""The share of a query word's vector that comes from its translations, unless something else is asked for."""


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
        problem = f"none of its {len(lexicon):,} entries is a word of the {pair[0]!r} texts"
        raise InputError(f"lexicon: {problem}; is it a lexicon of {pair[0]}-{pair[1]}?")
    alignment = align(queries, documents, word_pairs, options)
    mapped_documents = WordVectors(documents.words, alignment.apply(documents.matrix, "target"))
    mapped_queries = WordVectors(queries.words, alignment.apply(queries.matrix, "source"))
    if dictionary_share:
        mapped_queries = anchor(mapped_queries, mapped_documents, lexicon, dictionary_share, stop_words(pair[0]))
    return JointSpace(mapped_queries, mapped_documents, alignment)

"""Inverted lists of small texts, and BM25 over them written out in plain Python as its docstring says it."""

import math

import pytest

from isogloss.retrieval.postings import Postings
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer


@pytest.fixture(scope="session")
def invert():
    def build(texts, tokenizer=None):
        return Postings.build(tokenize_texts(texts, tokenizer or Tokenizer()))

    return build


@pytest.fixture(scope="session")
def naive_bm25():
    """Scores in double precision; documents are lists of terms."""

    def score(documents, concepts, k1, b, expected_df=False):
        mean = sum(map(len, documents)) / len(documents) if documents else 0.0

        def idf(concept):
            frequency = {term: sum(term in document for document in documents) for term, _ in concept.terms}
            union = sum(any(term in document for term, _ in concept.terms) for document in documents)
            df = sum(weight * frequency[term] for term, weight in concept.terms) if expected_df else union
            return math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))

        def part(concept, document):
            tf = sum(weight * document.count(term) for term, weight in concept.terms)
            return tf and concept.times * idf(concept) * tf / (tf + k1 * (1 - b + b * len(document) / mean))

        return [sum(part(concept, document) for concept in concepts) for document in documents]

    return score

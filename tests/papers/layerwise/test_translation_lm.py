"""The translation language model: its equations written out slowly, and what they promise."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.layerwise.translation_lm import TranslationLM, WordProbabilities
from isogloss.retrieval.postings import Postings
from isogloss.storage.strings import StringTable
from isogloss.text.batches import tokenize_texts

WORDS = "abcdef"
LAMBDA, BETA = 0.3, 0.6


def probabilities(table, asked):
    """From {t: {w: P(w | t)}} and a list of the words of the questions."""
    terms = sorted({*table, *(word for row in table.values() for word in row), *asked})
    rows = sorted((terms.index(w), terms.index(t), p) for t, row in table.items() for w, p in row.items())
    words, given_, values = (np.array(column) for column in zip(*rows, strict=True)) if rows else np.zeros((3, 0))
    offsets = np.searchsorted(words, np.arange(len(terms) + 1))
    counts = np.array([asked.count(term) for term in terms], dtype=np.int64)
    return WordProbabilities(StringTable.of(terms), offsets, given_.astype(np.int32), values.astype(np.float32), counts)


def model(documents, table, asked, collection_weight=LAMBDA, translation_weight=BETA):
    postings = Postings.build(tokenize_texts([" ".join(document) for document in documents]))
    return TranslationLM(postings, probabilities(table, asked), collection_weight, translation_weight)


def slow(word, document, documents, table, asked):
    """P(w | D) as the docstring has it."""

    def likelihood(term):
        return document.count(term) / len(document)

    def translation(given_):
        return table[given_].get(word, 0.0) if given_ in table else float(given_ == word)

    mixed = (1 - BETA) * likelihood(word)
    mixed += BETA * sum(translation(given_) * likelihood(given_) for given_ in set(document))
    archive = [term for other in documents for term in other] + asked
    return (1 - LAMBDA) * mixed + LAMBDA * archive.count(word) / len(archive)


@st.composite
def tables(draw):
    """Some words and the probabilities of what they stand for."""
    found = {}
    for word in draw(st.sets(st.sampled_from(WORDS))):
        weights = draw(st.dictionaries(st.sampled_from(WORDS), st.integers(1, 9), min_size=1))
        found[word] = {other: weight / sum(weights.values()) for other, weight in weights.items()}
    return found


TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
DOCUMENTS = st.lists(TEXT, min_size=1, max_size=5)


@given(documents=DOCUMENTS, table=tables(), asked=st.lists(st.sampled_from(WORDS), max_size=5))
@settings(deadline=None, max_examples=100)
def test_the_probabilities_are_those_of_the_equations_and_add_up_to_one(documents, table, asked):
    made = model(documents, table, asked)
    found = {word: made.probabilities(word) for word in WORDS}
    for word in WORDS:
        expected = [slow(word, document, documents, table, asked) for document in documents]
        assert found[word] == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert sum(found.values()) == pytest.approx(np.ones(len(documents)), rel=1e-6)


@given(documents=DOCUMENTS, table=tables(), asked=TEXT, query=TEXT)
@settings(deadline=None, max_examples=100)
def test_the_score_is_the_log_probability_of_the_query_up_to_what_all_documents_share(documents, table, asked, query):
    made = model(documents, table, asked)
    known = [word for word in query if made.background(word)]
    shared = sum(math.log(LAMBDA * made.background(word)) for word in known)
    expected = [
        sum(math.log(slow(word, document, documents, table, asked)) for word in known) - shared
        for document in documents
    ]
    scores = made.scores(Counter(query))
    assert scores == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert scores.max() <= sum(made.best_gain(word) for word in query) + 1e-4


def test_a_document_that_says_the_query_in_other_words_is_found():
    documents = [["oxide", "paint"], ["oxygen", "water"], ["stone", "water"]]
    table = {"oxide": {"rust": 0.8, "oxide": 0.2}, "oxygen": {"fire": 1.0}}
    made = model(documents, table, ["rust", "fire"])
    assert np.flatnonzero(made.scores({"rust": 1})).tolist() == [0]
    assert np.flatnonzero(made.scores({"fire": 1, "water": 1})).tolist() == [1, 2]
    assert made.scores({"fire": 1, "water": 1}).argmax() == 1


def test_beta_0_is_plain_query_likelihood_and_beta_1_translation_alone():
    documents, table, asked = [["rust"], ["oxide"]], {"oxide": {"rust": 1.0}, "rust": {"oxide": 1.0}}, []
    plain, translated = (model(documents, table, asked, translation_weight=beta) for beta in (0.0, 1.0))
    assert plain.mixture("rust").tolist() == [1.0, 0.0]
    assert translated.mixture("rust").tolist() == [0.0, 1.0]


def test_words_that_neither_documents_nor_questions_hold_say_nothing():
    made = model([["a"], ["b"]], {"a": {"b": 1.0}}, ["c"])
    assert made.background("z") == 0.0
    assert made.gains("z").tolist() == [0.0, 0.0]
    assert made.best_gain("z") == 0.0
    assert made.terms_for("z") == []


def test_a_text_without_words_is_no_document_for_anything():
    made = model([[], ["a"]], {}, ["a"])
    assert made.scores({"a": 1}).tolist() == [0.0, pytest.approx(made.best_gain("a"), rel=1e-6)]


def test_the_terms_that_say_a_word_come_with_the_weightiest_first():
    documents = [["b", "b", "b", "c"], ["c"], ["a"], ["d"]]
    made = model(documents, {"b": {"a": 0.3, "b": 0.7}, "c": {"a": 0.5, "d": 0.5}, "x": {"a": 1.0}}, [])
    assert made.terms_for("a") == ["a", "c", "b"]
    assert made.terms_for("a", document=0) == ["b", "c"]
    assert made.terms_for("a", document=2) == ["a"]
    assert made.terms_for("a", document=3) == []


def test_no_documents_and_nothing_learned_are_no_trouble():
    assert model([], {}, []).scores({"a": 1}).tolist() == []

"""The weighted average of words is equation (3), and its weights are those of the paper."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.documents import TermWeights
from isogloss.papers.word_vectors import weighted_average as weighted
from isogloss.papers.word_vectors.weighted_average import (
    WeightedAverage,
    encode_weights,
    idf_weights,
    mean_tfidf,
    mean_weights,
    term_statistics,
)
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.text.batches import tokenize_texts

KNOWN, UNKNOWN = ("ant", "bee", "cow", "dog"), ("yak", "zebu")
TEXTS = st.lists(st.lists(st.sampled_from(KNOWN + UNKNOWN), max_size=12), max_size=12)
NUMBERS = st.floats(-8, 8, width=32, allow_subnormal=False)
WEIGHTS = st.lists(st.one_of(st.just(0.0), st.floats(0.125, 8, width=32)), min_size=4, max_size=4)


def equation_3(text, vectors, weights):
    """Token by token, in double precision."""
    total, weight = np.zeros(vectors.dimension), 0.0
    for word in text:
        if word in vectors:
            total += float(weights[vectors.row_of[word]]) * vectors[word].astype(np.float64)
            weight += float(weights[vectors.row_of[word]])
    return total / weight if weight else total


def encode(texts, vectors, weights, block=100_000):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted, "_BLOCK_TOKENS", block)
        return WeightedAverage(vectors, np.asarray(weights, np.float32)).encode([" ".join(text) for text in texts])


def vectors_of(numbers, dimension=3):
    return WordVectors(list(KNOWN), np.asarray(numbers, np.float32).reshape(len(KNOWN), dimension))


def weights_of(words, texts, weights=idf_weights, **how):
    found = WordVectors(words, np.zeros((len(words), 1), np.float32))
    return dict(zip(words, weights(found, tokenize_texts(texts), **how).tolist(), strict=True))


@given(TEXTS, st.lists(NUMBERS, min_size=12, max_size=12), WEIGHTS, st.integers(1, 30))
@settings(deadline=None, max_examples=40)
def test_texts_are_encoded_by_equation_3_whatever_the_blocks(texts, numbers, weights, block):
    vectors = vectors_of(numbers)
    found = encode(texts, vectors, weights, block)
    assert (found.shape, found.dtype) == ((len(texts), 3), np.float32)
    for row, text in zip(found, texts, strict=True):
        np.testing.assert_allclose(row, equation_3(text, vectors, weights), rtol=1e-5, atol=2e-5)
    assert np.array_equal(found, encode(texts, vectors, weights))


def test_a_text_longer_than_a_block_is_encoded_whole():
    vectors = vectors_of(np.arange(12))
    texts = [["ant"], ["ant", "bee"] * 60 + ["cow"], [], ["dog"]]
    found = encode(texts, vectors, [1, 2, 3, 4], block=100)
    for row, text in zip(found, texts, strict=True):
        np.testing.assert_allclose(row, equation_3(text, vectors, [1, 2, 3, 4]), rtol=1e-3)


@pytest.mark.parametrize("text", [[], ["yak"], ["yak", "zebu", "yak"]])
def test_a_text_without_a_known_word_is_the_zero_vector(text):
    assert encode([text], vectors_of(np.ones(12)), np.ones(4)).tolist() == [[0, 0, 0]]


def test_a_text_whose_words_weigh_nothing_is_the_zero_vector():
    assert encode([["ant", "ant"]], vectors_of(np.ones(12)), [0, 1, 1, 1]).tolist() == [[0, 0, 0]]


def test_unknown_words_are_named_once_in_the_order_of_the_text():
    encoder = WeightedAverage(vectors_of(np.ones(12)), np.ones(4, np.float32))
    assert encoder.unknown("A Zebu, a bee & a YAK; the zebu!") == ["a", "zebu", "yak", "the"]
    assert encoder.unknown("ant bee") == encoder.unknown("") == []


def test_every_word_needs_a_weight():
    with pytest.raises(ValueError, match="as many weights as words"):
        WeightedAverage(vectors_of(np.ones(12)), np.ones(3, np.float32))


def test_idf_by_hand():
    found = weights_of(["ant", "bee", "cow", "dog"], ["ant bee ant", "Ant cow", "ant", ""])
    assert found == pytest.approx({"ant": math.log(4 / 3), "bee": math.log(4), "cow": math.log(4), "dog": math.log(4)})


def test_mean_tf_idf_by_hand_runs_over_the_texts_that_hold_the_word_or_over_all():
    words, texts, idf = ["ant", "bee", "cow"], ["ant bee bee ant", "ant", "dog", "bee"], math.log(4 / 2)
    holding = weights_of(words, texts, mean_tfidf)
    assert holding == pytest.approx({"ant": (2 + 1) / 2 * idf, "bee": (2 + 1) / 2 * idf, "cow": math.log(4)})
    every = weights_of(words, texts, mean_tfidf, over_all=True)
    assert every == pytest.approx({"ant": (2 + 1) / 4 * idf, "bee": (2 + 1) / 4 * idf, "cow": math.log(4) / 4})


WAYS = [{}, {"weights": mean_tfidf}, {"weights": mean_tfidf, "over_all": True}]


@pytest.mark.parametrize("way", WAYS)
def test_a_word_of_every_text_weighs_nothing(way):
    assert weights_of(["the"], ["the ant", "the the bee"], **way) == {"the": 0}


@pytest.mark.parametrize("way", WAYS)
def test_without_texts_all_words_weigh_the_same(way):
    ant, bee = weights_of(["ant", "bee"], [], **way).values()
    assert ant == bee > 0


@given(TEXTS)
@settings(deadline=None, max_examples=40)
def test_terms_are_counted_in_texts_and_in_all(texts):
    tokens = tokenize_texts([" ".join(text) for text in texts])
    holding, occurrences = term_statistics(tokens)
    words = [word for text in texts for word in text]
    assert dict(zip(tokens.terms, occurrences.tolist(), strict=True)) == Counter(words)
    assert dict(zip(tokens.terms, holding.tolist(), strict=True)) == Counter(w for text in texts for w in set(text))


# Weights of the data

ROWS = st.lists(st.dictionaries(st.integers(0, 5), st.floats(0.125, 8, width=32), max_size=6), max_size=8)


def term_weights(rows, vocabulary=KNOWN + UNKNOWN):
    entries = [(column, row[column]) for row in rows for column in sorted(row)]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    columns = np.asarray([column for column, _ in entries], np.int32)
    return TermWeights(list(vocabulary), offsets, columns, np.asarray([value for _, value in entries], np.float32))


@given(ROWS, st.lists(NUMBERS, min_size=12, max_size=12), st.integers(1, 30))
@settings(deadline=None, max_examples=40)
def test_given_weights_are_those_of_equation_3(rows, numbers, block):
    vectors, names = vectors_of(numbers), KNOWN + UNKNOWN
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted, "_BLOCK_TOKENS", block)
        found = encode_weights(vectors, term_weights(rows))
    for encoded, row in zip(found, rows, strict=True):
        known = {names[column]: weight for column, weight in row.items() if names[column] in vectors}
        total = sum(weight * vectors[word].astype(np.float64) for word, weight in known.items())
        expected = total / sum(known.values()) if known else np.zeros(3)
        np.testing.assert_allclose(encoded, expected, rtol=1e-4, atol=1e-4)


def test_the_mean_weight_of_a_word_is_over_the_documents_that_have_it_or_over_all():
    weights = term_weights([{0: 1.0, 1: 4.0}, {0: 3.0}, {2: 2.0, 5: 9.0}, {}])
    found = mean_weights(vectors_of(np.zeros(12)), weights)
    assert found.tolist() == [2.0, 4.0, 2.0, 3.0]  # no document has a dog: as much as bee and cow, on average
    assert mean_weights(vectors_of(np.zeros(12)), weights, over_all=True).tolist() == [1.0, 1.0, 0.5, 0.75]


def test_a_word_is_looked_up_as_it_is_written_and_then_folded():
    vectors = WordVectors(["Ant", "ant", "bee"], np.asarray([[1.0], [2.0], [3.0]], np.float32))
    found = encode_weights(vectors, term_weights([{0: 1.0}, {1: 1.0}, {2: 1.0}], ["Ant", "ANT", "Bee"]))
    assert found[:, 0].tolist() == [1.0, 2.0, 3.0]

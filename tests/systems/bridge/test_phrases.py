"""Phrases and subwords: those that several texts or words share."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.systems.bridge import features
from isogloss.systems.bridge.features import Phrases, QueryFeatures, query_word_vectors
from isogloss.systems.bridge.model import BridgeModel
from isogloss.systems.bridge.text_vectors import encode
from isogloss.systems.bridge.training import spelling
from isogloss.systems.registry import make_system
from isogloss.text.ids import TextIds

WORDS = 6
TEXTS = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=7), max_size=8)


def text_ids(texts):
    flat = np.array([word for text in texts for word in text], np.int32)
    return TextIds(flat, np.cumsum([0, *map(len, texts)]))


def as_lists(texts):
    return [texts.ids[begin:end].tolist() for begin, end in itertools.pairwise(texts.offsets.tolist())]


@given(TEXTS)
@settings(max_examples=80, deadline=None)
def test_phrases_are_the_pairs_that_stand_in_two_texts(texts):
    held = [set(itertools.pairwise(text)) for text in texts]
    expected = sorted(pair for pair in set().union(*held) if sum(pair in each for each in held) > 1)
    phrases = Phrases.of(text_ids(texts), WORDS)
    assert [divmod(key, WORDS) for key in phrases.keys.tolist()] == expected
    number_of = {pair: WORDS + number for number, pair in enumerate(expected)}
    added = [[*text, *(number_of[pair] for pair in itertools.pairwise(text) if pair in number_of)] for text in texts]
    assert as_lists(phrases.added_to(text_ids(texts))) == added


def test_the_most_frequent_phrases_are_kept(monkeypatch):
    monkeypatch.setattr(features, "_MOST", 2)
    texts = text_ids([[1, 2, 3], [1, 2, 3], [2, 3], [0, 1, 2, 3], [0, 1]])
    assert Phrases.of(texts, WORDS).keys.tolist() == [1 * WORDS + 2, 2 * WORDS + 3]


def test_without_phrases_texts_are_as_they_were():
    texts = text_ids([[1, 2], [], [3]])
    assert Phrases(WORDS).added_to(texts) is texts
    assert len(Phrases(WORDS)) == 0


def test_words_share_the_rows_of_their_pieces():
    """Three words, unknown and two phrases have rows of their own; pieces come after."""
    rows = [set(each) for each in as_lists(spelling(["singen", "sang", "gesang"], [True] * 3, 2))]
    assert [each & set(range(6)) for each in rows] == [{0}, {1}, {2}, {3}, {4}, {5}]
    assert rows[3:] == [{3}, {4}, {5}]
    assert len((rows[1] & rows[2]) - set(range(6))) == 5  # san sang ang ang> ng>: "<san" is of one word alone
    assert not rows[0] & rows[1]


def test_words_that_no_text_has_share_nothing():
    rows = as_lists(spelling(["sang", "gesang", "sang"], [True, False, True], 0))
    assert rows[1] == [1]
    assert set(rows[0]) - {0} == set(rows[2]) - {2} != set()


def test_words_without_spaces_share_characters():
    rows = [set(each) for each in as_lists(spelling(["保险", "人寿保险", "人"], [True] * 3, 0))]
    assert len(rows[0] & rows[1]) == 3
    assert len(rows[1] & rows[2]) == 1


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), ("en", "fr"))


@pytest.fixture(scope="module")
def fitted(demo):
    system = make_system("bridge", ("en", "fr"), {"epochs": "1", "dimension": "8"}, Demo())
    system.fit(demo)
    system.index(demo.documents, ("text",))
    return system


def test_the_vector_of_a_query_is_that_of_its_words_and_phrases(fitted):
    model = fitted.model
    first, second = divmod(int(model.tables.query_phrases.keys[0]), model.tables.query_phrases.words)
    known = model.translation.query_words
    query = fitted.retriever.query_features(f"{known[first]} {known[second]} {known[first]}")
    statistics, positions = query.statistics, query.positions
    assert positions.tolist() == ([0, 1, 0] if first != second else [0, 0, 0])
    text = text_ids([statistics.numbers[positions].tolist()])
    with_phrases = model.tables.query_phrases.added_to(text)
    assert len(with_phrases.ids) > len(text.ids)
    np.testing.assert_allclose(query.vector, encode(model.tables.query, with_phrases)[0], atol=1e-5)
    rows = query_word_vectors(statistics, positions, model.tables)
    np.testing.assert_allclose(rows.sum(axis=0), model.tables.query[with_phrases.ids].sum(axis=0), atol=1e-4)


def test_the_order_of_the_words_tells(fitted):
    """Phrases know it, and nothing else does."""
    model = fitted.model
    words = ["the", "sea", "is", "salti"]
    statistics = fitted.retriever.query_features("the sea is salty").statistics
    assert list(statistics.words) == words

    def vector(terms, tables):
        return QueryFeatures.of(terms, statistics, tables).vector

    assert not np.allclose(vector(words, model.tables), vector(words[::-1], model.tables))
    bare = replace(model.tables, query_phrases=Phrases(model.tables.query_phrases.words))
    np.testing.assert_allclose(vector(words, bare), vector(words[::-1], bare), atol=1e-6)


def test_a_model_and_its_phrases_are_read_as_they_were_written(fitted, tmp_path):
    fitted.model.save(tmp_path)
    again = BridgeModel.load(tmp_path).tables
    for side in ("query", "document"):
        np.testing.assert_array_equal(getattr(again, side), getattr(fitted.model.tables, side))
        phrases, expected = getattr(again, f"{side}_phrases"), getattr(fitted.model.tables, f"{side}_phrases")
        assert phrases.words == expected.words
        np.testing.assert_array_equal(phrases.keys, expected.keys)


def test_a_model_from_before_there_were_phrases_is_used_without(fitted, demo, tmp_path):
    fitted.model.save(tmp_path)
    file = tmp_path / "vectors.safetensors"
    tensors, _ = read_tensors(file)
    words = {side: getattr(fitted.model.tables, f"{side}_phrases").words for side in ("query", "document")}
    write_tensors(file, {side: tensors[side][:count] for side, count in words.items()})
    system = make_system("bridge", ("en", "fr"), {"epochs": "1", "dimension": "8"}, Demo())
    system.load_model(tmp_path)
    system.index(demo.documents, ("text",))
    assert len(system.model.tables.query_phrases) == 0
    row = int(system.search("honey bees", 1).rows[0])
    lines = system.explain("honey bees", row, demo.documents[row].text)
    assert sum(line.score for line in lines) == pytest.approx(system.score("honey bees", np.array([row]))[0], abs=1e-4)

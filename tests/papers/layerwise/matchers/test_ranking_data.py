"""What rankings are learned from: words, pairs, neighbours, lists; kept in a file, read back the same."""

import numpy as np
import pytest

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.papers.initial_vectors import random_vectors, vectors_from
from isogloss.papers.layerwise.matchers.ranking_data import (
    RankingData,
    Reading,
    examples_of,
    lexical_neighbours,
    listed_examples,
    read_ranking_data,
)
from isogloss.papers.word_vectors.files import write_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError
from isogloss.text.batches import tokenize_texts

TEXTS = ["miel abeille ruche", "abeille fleur", "mer sel", "mer sel rivière", "pain sel"]


class WithLists(Demo):
    """The bundled source, with lists for dev."""

    def candidates(self, pair, split, problems):
        lines = [("q3", "d4", 0), ("q3", "d0", 1), ("q3", "d1", 0)]
        return iter([(None, Judgment(*line)) for line in lines]) if split == "dev" else None


def dataset(source=None):
    documents = Collection([Document(f"d{n}", text) for n, text in enumerate(TEXTS)], "fr")
    texts = ["honey bee", "salt sea", "no document", "bee honey", "bread"]
    queries = {f"q{n}": Query(f"q{n}", text) for n, text in enumerate(texts)}
    judged = [("q0", "d0", 2), ("q0", "d1", 1), ("q1", "d2", 2), ("q1", "d4", 0), ("q2", "d4", 0), ("q3", "d0", 2)]
    judgments = Judgments((Judgment(*line) for line in judged), top_grade=2)
    splits = {"train": ["q0", "q1", "q2"], "dev": ["q3", "q4"]}
    return Dataset(source or Demo(), ("en", "fr"), documents, queries, judgments, splits)


def words_of(data, texts, side, number):
    ids = texts.ids[texts.offsets[number] : texts.offsets[number + 1]]
    return [data.words[side][i] for i in ids]


def test_pairs_are_the_relevant_documents_of_the_train_split():
    data = read_ranking_data(dataset(), Reading(dev_queries=10))
    assert data.triples.query_of.tolist() == [0, 0, 1]
    assert data.triples.positive_of.tolist() == [0, 1, 2]
    assert words_of(data, data.triples.queries, "query", 1) == ["salt", "sea"]
    assert words_of(data, data.triples.documents, "document", 3) == ["mer", "sel", "rivière"]
    assert "bread" not in list(data.words["query"])
    assert not data.one_language


def test_one_language_has_one_list_of_words():
    data = read_ranking_data(dataset(), Reading(one_language=True, vocabulary=100))
    assert data.one_language
    assert {"bee", "abeille"} <= set(data.words["query"])
    query, document = data.first_tables(5, seed=1)
    assert query.shape == (len(data.words["query"]), 5)
    assert document is None


def test_texts_are_cut_and_rare_words_dropped():
    data = read_ranking_data(dataset(), Reading(query_words=1, document_words=2, minimum_count=2))
    assert data.triples.queries.lengths.max() <= 1
    assert list(data.words["document"]) == ["abeille", "mer", "sel"]
    assert words_of(data, data.triples.documents, "document", 3) == ["mer", "sel"]


def test_translations_are_read_in_place_of_queries():
    data = read_ranking_data(dataset(), Reading(one_language=True, dev_queries=9), lambda texts: ["sel"] * len(texts))
    assert words_of(data, data.triples.queries, "query", 0) == ["sel"]
    assert words_of(data, data.dev.queries, "query", 0) == ["sel"]


def test_lists_are_the_candidates_or_else_sampled_documents():
    data = read_ranking_data(dataset(WithLists()), Reading(dev_queries=10))
    assert data.dev.document_of.tolist() == [4, 0, 1]
    assert data.dev.grades.tolist() == [0, 1, 0]
    assert data.dev.top == 1
    sampled = read_ranking_data(dataset(), Reading(dev_queries=10)).dev
    assert sorted(sampled.document_of.tolist()) == [0, 1, 2, 3, 4]
    assert sampled.grades[sampled.document_of == 0].tolist() == [2]
    assert sampled.top == 2
    assert read_ranking_data(dataset(), Reading()).dev is None


def test_as_many_lists_as_are_wanted():
    lists = Judgments([Judgment("q3", "d0", 1), Judgment("q4", "d4", 1), Judgment("q4", "d2", 0)])
    data = dataset()
    examples = examples_of(data, data.split("dev"), lists)
    assert examples.query_of.tolist() == [0, 1, 1]
    assert examples_of(data, [], lists).document_of.shape == (0,)
    found, _ = listed_examples(dataset(WithLists()), "dev", 1)
    assert [query.id for query in found.queries] == ["q3"]


def test_neighbours_share_words_and_are_not_the_document_itself():
    found = lexical_neighbours(tokenize_texts(TEXTS), np.array([2, 0, 4], np.int32), 3)
    assert found[0].tolist() == [3, 4, -1]
    assert found[1].tolist() == [1, -1, -1]
    assert set(found[2].tolist()) == {2, 3, -1}
    data = read_ranking_data(dataset(), Reading(neighbours=2))
    assert data.neighbours.tolist() == [[1, -1], [3, 4], [-1, -1]]  # of q0's first positive, of q1's; q2 has none


def test_what_is_kept_is_read_back(tmp_path):
    vectors = WordVectors(["bee", "salt"], np.array([[3.0, 4.0], [0.0, 2.0]], np.float32))
    write_vectors(vectors, str(tmp_path / "en.vec"))
    reading = Reading(neighbours=2, dev_queries=5, query_vectors=str(tmp_path / "{query}.vec"))
    data = read_ranking_data(dataset(WithLists()), reading)
    data.save(tmp_path / "data.npz")
    again = RankingData.load(tmp_path / "data.npz")
    for side in ("query", "document"):
        assert list(again.words[side]) == list(data.words[side])
    for name in ("query_of", "positive_of"):
        np.testing.assert_array_equal(getattr(again.triples, name), getattr(data.triples, name))
    np.testing.assert_array_equal(again.triples.documents.ids, data.triples.documents.ids)
    np.testing.assert_array_equal(again.neighbours, data.neighbours)
    np.testing.assert_array_equal(again.dev.grades, data.dev.grades)
    assert again.dev.top == 1
    for one, other in zip(again.first_tables(2, 7), data.first_tables(2, 7), strict=True):
        np.testing.assert_array_equal(one, other)
    data.save(tmp_path / "small.npz", eight_bits=True)
    rounded = RankingData.load(tmp_path / "small.npz").first_tables(2, 7)
    np.testing.assert_allclose(rounded[0], data.first_tables(2, 7)[0], atol=0.005)
    row = list(data.words["query"]).index("bee")
    np.testing.assert_allclose(data.first_tables(2, 7)[0][row], [0.6, 0.8])
    with pytest.raises(InputError, match="the query vectors have 2 dimensions, not 3; set dimension to match"):
        data.first_tables(3, 7)


def test_one_language_is_kept_as_one_and_no_dev_as_none(tmp_path):
    read_ranking_data(dataset(), Reading(one_language=True)).save(tmp_path / "data.npz")
    again = RankingData.load(tmp_path / "data.npz")
    assert again.one_language
    assert again.dev is None


def test_words_have_their_idf_as_weights():
    data = read_ranking_data(dataset(), Reading(weighted=True))
    texts = [text.split() for text in TEXTS]
    for word, weight in zip(data.words["document"], data.weights["document"], strict=True):
        assert weight == pytest.approx(np.log(len(texts) / sum(word in text for text in texts)))
    assert len(data.weights["query"]) == len(data.words["query"])


def test_first_vectors():
    table = random_vectors(500, 30, (1, 0))
    assert np.linalg.norm(table, axis=1).mean() == pytest.approx(1, abs=0.05)
    np.testing.assert_array_equal(table, random_vectors(500, 30, (1, 0)))
    assert not np.array_equal(table, random_vectors(500, 30, (1, 1)))


def test_vectors_that_cannot_be_used_are_said(tmp_path):
    write_vectors(WordVectors(["mer"], np.array([[np.nan, 1.0]], np.float32)), str(tmp_path / "v.vec"))
    with pytest.raises(InputError, match="not a finite number"):
        vectors_from(tmp_path / "v.vec", ["mer"])
    with pytest.raises(InputError, match="has none of the 1 words of the texts; is it the right language"):
        vectors_from(tmp_path / "v.vec", ["sea"])


def test_a_file_of_something_else_is_said(tmp_path):
    (tmp_path / "data.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is not a file of training data"):
        RankingData.load(tmp_path / "data.npz")
    np.savez(tmp_path / "other.npz", words=np.zeros(3))
    with pytest.raises(InputError, match="is not a file of training data"):
        RankingData.load(tmp_path / "other.npz")


def test_one_language_starts_from_the_collections_vectors_of_the_documents(monkeypatch):
    spaces = [WordVectors([word], np.array([[1.0, 0.0]], np.float32)) for word in ("bee", "abeille")]
    monkeypatch.setattr("isogloss.papers.layerwise.matchers.ranking_data.collection_vectors", lambda *_: spaces)
    reading = Reading(one_language=True, query_vectors="collection", document_vectors="collection", vector_dimension=2)
    data = read_ranking_data(dataset(), reading)
    (numbers, _), *others = data.vectors.values()
    assert [data.words["query"][number] for number in numbers] == ["abeille"]
    assert not others

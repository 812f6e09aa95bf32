"""Word vectors to start from that the collection gives."""

from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.registry import find_writer, open_source
from isogloss.papers.initial_vectors import collection_vectors
from isogloss.papers.layerwise.matchers.ranking_data import Reading, read_ranking_data
from isogloss.storage.errors import InputError

START = Reading(query_vectors="collection", document_vectors="collection", vector_dimension=200)


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), ("en", "fr"))


def test_two_languages_are_in_one_space(demo):
    queries, documents = collection_vectors(demo, 200)
    assert queries.dimension == documents.dimension == 200
    near = [float(queries[a] @ documents[b]) for a, b in (("honey", "miel"), ("salt", "sel"), ("bread", "pain"))]
    far = [float(queries[a] @ documents[b]) for a, b in (("honey", "sel"), ("salt", "pain"), ("bread", "miel"))]
    assert sum(near) > sum(far)


def test_one_language_has_the_vectors_of_its_documents():
    data = load_dataset(Demo(), ("fr", "fr"))
    queries, documents = collection_vectors(data, 50)
    assert queries is documents
    assert np.isfinite(queries.matrix).all()
    read = read_ranking_data(data, replace(START, one_language=True, vector_dimension=50))
    assert set(read.vectors) == {"query"}


def test_data_with_weights_instead_of_text_train_none(demo, tmp_path):
    find_writer(f"platt:{tmp_path / 'weights'}")(demo, False)
    weighted = load_dataset(open_source(str(tmp_path / "weights")), ("en", "fr"))
    with pytest.raises(InputError, match="weights of words and no text to train word vectors on; give files"):
        collection_vectors(weighted, 20)


def test_learning_starts_from_them_and_is_kept(demo, tmp_path):
    data = read_ranking_data(demo, START)
    tables = data.first_tables(200, seed=0)
    random = replace(data, vectors={}).first_tables(200, seed=0)
    for side, table, other in zip(("query", "document"), tables, random, strict=True):
        rows, vectors = data.vectors[side]
        assert len(rows) > 100
        np.testing.assert_array_equal(table[rows], vectors)
        assert not np.array_equal(table, other)
    data.save(tmp_path / "data.npz")
    np.testing.assert_array_equal(type(data).load(tmp_path / "data.npz").vectors["query"][1], data.vectors["query"][1])


def test_learning_starts_at_random_where_nothing_is_translated(demo, caplog):
    partly = Judgments((each for each in demo.judgments if each.grade == 1), top_grade=2)
    assert not read_ranking_data(replace(demo, judgments=partly), START).vectors
    assert "word vectors start at random" in caplog.text


@pytest.mark.parametrize("said", [{"document_vectors": "random"}, {"query_vectors": ""}])
def test_one_side_alone_is_none(demo, said):
    assert not read_ranking_data(demo, replace(START, **said)).vectors

"""Sparse vectors, the statistics they are weighed by, and the lexical systems as sparse systems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.systems.sparse_conformance import SparseConformance

from isogloss.systems.registry import make_system
from isogloss.systems.sparse import DimensionCounts, SparseVector, TermStatistics, dimensions_of
from isogloss.text.batches import tokenize_texts

WORDS = st.lists(st.sampled_from(["mer", "sel", "ciel", "pain", "miel"]), max_size=8).map(" ".join)


class TestBM25(SparseConformance):
    @pytest.fixture
    def make(self):
        return lambda: make_system("bm25", ("en", "fr"))


class TestBM25WithoutStopWords(SparseConformance):
    @pytest.fixture
    def make(self):
        return lambda: make_system("bm25", ("en", "fr"), {"drop_stop_words": "yes", "k1": "0.9", "b": "0.3"})


LEXICON = """\
volcano	volcan	0.9
volcano	mont Etna	0.1
volcanoes	volcans	0.5
volcanoes	éruption	0.5
honey	miel	1
bees	abeilles	0.6
bees	berger	0
bees	miel	0.4
salt	sel	0.7
salt	marais salants	0.3
sea	mer	0
sea	terre	0
of the	de	0
"""


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    path = tmp_path_factory.mktemp("lexicon") / "words.tsv"
    path.write_text(LEXICON, encoding="utf-8")
    return str(path)


class Translating(SparseConformance):
    """One query has a word that only has the stem of two words of the lexicon, another has a word twice."""

    queries = (*SparseConformance.queries, "volcanoe", "volcanos sea sea", "of the bees")


class TestPSQ(Translating):
    @pytest.fixture
    def make(self, lexicon):
        return lambda: make_system("psq", ("en", "fr"), {"lexicon": lexicon})


@pytest.mark.parametrize("structure", ["synonym", "independent"])
class TestDictionary(Translating):
    @pytest.fixture
    def make(self, lexicon, structure):
        return lambda: make_system("bm25-dict", ("en", "fr"), {"lexicon": lexicon, "structure": structure})


@given(st.lists(WORDS, max_size=6))
def test_statistics_are_those_of_counting_by_hand(texts):
    statistics = TermStatistics()
    for text in texts:
        tokens = tokenize_texts([text])
        statistics.observe(tokens, DimensionCounts.of(tokens))
    assert statistics.texts == len(texts)
    assert statistics.length == sum(len(text.split()) for text in texts)
    for word in ("mer", "sel", "rien"):
        assert statistics.frequency(word) == sum(word in text.split() for text in texts)


@given(st.lists(WORDS, max_size=4))
def test_the_dimensions_of_a_text_are_counted(texts):
    counted = DimensionCounts.of(tokenize_texts(texts))
    vectors = counted.vectors(counted.counts.astype(np.float32))
    for text, vector in zip(texts, vectors, strict=True):
        words = text.split()
        wanted = SparseVector.of({word: words.count(word) for word in words})
        assert vector.dimensions.tolist() == wanted.dimensions.tolist()
        assert vector.weights.tolist() == wanted.weights.tolist()


def test_strings_with_one_hash_share_a_dimension(monkeypatch):
    monkeypatch.setattr("isogloss.systems.sparse.dimensions_of", lambda strings: np.zeros(len(strings), np.uint32))
    assert SparseVector.of({"mer": 1.0, "sel": 2.0}).weights.tolist() == [3.0]


def test_any_string_has_a_dimension():
    assert len({*dimensions_of(["", "\0", "\ud800", "中文", "mer"]).tolist()}) == 5


def test_a_word_that_came_later_counts_as_the_rarest():
    system = make_system("bm25", ("en", "fr"))
    system.observe(["le sel", "le miel"])
    system.freeze()
    new, known = system.sparse_query("zyx").weights, system.sparse_query("sel").weights
    assert new[0] > known[0]
    assert system.unknown_words("zyx sel") == ["zyx"]

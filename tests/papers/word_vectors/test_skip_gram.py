"""Skip-gram is gensim's; what is tested is how it is called, and what is said where it cannot be had."""

import sys

import pytest

from isogloss.papers.word_vectors.skip_gram import skip_gram
from isogloss.storage.errors import InputError
from isogloss.text.batches import tokenize_texts

TEXTS = tokenize_texts(["the bee makes honey", "the bee flies", "the volcano"] * 3)


def test_vectors_are_those_of_frequent_words_and_come_out_twice_alike():
    first, second = skip_gram(TEXTS, dimension=8, minimum_count=4), skip_gram(TEXTS, dimension=8, minimum_count=4)
    assert first.words[:2] == ["the", "bee"]
    assert first.matrix.shape == (2, 8)
    assert (first.matrix == second.matrix).all()


def test_too_little_text_is_one_sentence():
    with pytest.raises(InputError, match="no word of the texts occurs 30 times"):
        skip_gram(TEXTS, minimum_count=30)


def test_without_gensim_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(InputError, match=r"isogloss\[papers\]"):
        skip_gram(TEXTS)

"""Inverted lists equal a count by dictionary."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval import postings as inversion
from isogloss.retrieval.postings import Postings, inverted
from isogloss.text.tokenizer import Tokenizer, tokenize

TEXTS = st.lists(st.text(alphabet="aàb 𐌰ｚ中文ꬰ'", max_size=20), max_size=8)


def counted(postings, terms):
    """Everything the lists say, as plain values."""
    return {term: dict(zip(*(array.tolist() for array in postings[term]), strict=True)) for term in terms}


def naive(texts, tokenizer=tokenize):
    found = {}
    for row, text in enumerate(texts):
        for term, count in Counter(tokenizer(text)).items():
            found.setdefault(term, {})[row] = count
    return found


@given(texts=TEXTS)
@settings(deadline=None, max_examples=40)
def test_the_lists_equal_a_naive_count(invert, texts):
    postings, wanted = invert(texts), naive(texts)
    assert list(postings.terms) == sorted(wanted)
    assert counted(postings, wanted) == wanted
    assert postings.lengths.tolist() == [len(tokenize(text)) for text in texts]
    assert postings.document_count == len(texts)


def test_documents_of_a_list_ascend(invert):
    assert invert(["b a", "a", "b", "a a"])["a"].documents.tolist() == [0, 1, 3]


def test_a_term_that_is_nowhere_has_an_empty_list(invert):
    for texts in ([], [""], ["zebra"]):
        documents, frequencies = invert(texts)["aardvark"]
        assert len(documents) == len(frequencies) == 0


def test_stems_and_stop_words_are_those_of_the_tokenizer(invert):
    tokenizer, texts = (
        Tokenizer("en", stems=True, drop_stop_words=True),
        ["The horses ran", "a horse; the horse", "the"],
    )
    postings = invert(texts, tokenizer)
    assert counted(postings, postings.terms) == naive(texts, tokenizer) == {"hors": {0: 1, 1: 2}, "ran": {0: 1}}
    assert postings.lengths.tolist() == [2, 2, 0]


@given(texts=TEXTS)
@settings(deadline=None, max_examples=20)
def test_what_was_saved_is_what_is_loaded(invert, tmp_path_factory, texts):
    folder, made = tmp_path_factory.mktemp("postings"), invert(texts)
    made.save(folder)
    loaded = Postings.load(folder)
    assert list(loaded.terms) == list(made.terms)
    assert counted(loaded, made.terms) == counted(made, made.terms)
    assert np.array_equal(loaded.lengths, made.lengths)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6), st.permutations(range(6)), st.booleans())
def test_the_texts_of_each_term(texts, rank, fast):
    if fast:
        pytest.importorskip("numba")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inversion, "pays", lambda _: fast)
        starts = np.cumsum([0, *map(len, texts)])
        found = inverted(np.asarray([i for text in texts for i in text], np.int32), starts, np.asarray(rank))
    wanted = [
        [(number, Counter(text)[id_]) for number, text in enumerate(texts) if id_ in text]
        for id_ in sorted(range(6), key=rank.__getitem__)
    ]
    pairs = list(zip(found.documents.tolist(), found.frequencies.tolist(), strict=True))
    assert [pairs[begin:end] for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)] == wanted
    assert [array.dtype for array in found] == [np.int64, np.int32, np.int32]

"""Tokenised texts to the ids of known words."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.strings import StringTable
from isogloss.text.batches import tokenize_texts
from isogloss.text.ids import choose_words, text_ids
from isogloss.text.tokenizer import tokenize

TEXTS = st.lists(st.text("ab é語, ", max_size=12), max_size=6)


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.integers(1, 8), st.integers(1, 3))
def test_the_most_frequent_words_are_chosen(texts, most, least):
    counts = Counter(word for text in texts for word in tokenize(text))
    expected = sorted(counts, key=lambda word: (-counts[word], word))[:most]
    found = choose_words(tokenize_texts(texts), most, least)
    assert found == sorted((word for word in expected if counts[word] >= least), key=str.encode)


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.sets(st.text("abé語", min_size=1, max_size=2)), st.integers(0, 5))
def test_ids_are_the_places_of_the_known_words_among_the_first(texts, known, longest):
    words = sorted(known, key=str.encode)
    found = text_ids(tokenize_texts(texts), StringTable.of(words), longest)
    assert (found.ids.dtype, found.offsets.dtype, len(found)) == (np.int32, np.int64, len(texts))
    for number, text in enumerate(texts):
        expected = [words.index(word) for word in tokenize(text)[: longest or None] if word in known]
        assert found.ids[found.offsets[number] : found.offsets[number + 1]].tolist() == expected
        assert found.lengths[number] == len(expected)


def test_no_texts_have_no_words():
    nothing = tokenize_texts([])
    assert choose_words(nothing, 10) == []
    assert len(text_ids(nothing, [])) == 0
    assert text_ids(tokenize_texts(["", "?"]), ["word"]).lengths.tolist() == [0, 0]

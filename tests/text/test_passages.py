"""Windows of words over a text."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.text import positions
from isogloss.text.passages import cut_texts, passage_spans, passages_of_texts, windows
from isogloss.text.tokenizer import Tokenizer, token_spans, tokenize

WORDS = ["eau", "L'été", "running", "the", "co\u00adöperate", "½", "我们的学校", "e\u0301\u0323", "ไทย123", "…"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["eau", "L'été", "x1", "Σ"]), max_size=40), st.integers(1, 9), st.integers(0, 9))
def test_every_word_is_in_a_passage_of_the_wanted_length(parts, words, step):
    text = ", ".join(parts)
    tokens = tokenize(text)
    passages = [tokenize(text[begin:end]) for begin, end in passage_spans(text, words, min(step, words))]
    if len(tokens) <= words:
        assert passages == [tokens]
    else:
        assert {len(passage) for passage in passages} == {words}
        starts = [start for passage in passages for start in _starts(tokens, passage)]
        assert {start + number for start in starts for number in range(words)} == set(range(len(tokens)))


def _starts(tokens, passage):
    return [i for i in range(len(tokens)) if tokens[i : i + len(passage)] == passage]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=80), st.integers(1, 5))
def test_any_text_has_passages_within_it(text, words):
    spans = passage_spans(text, words)
    assert spans
    assert all(0 <= begin <= end <= len(text) for begin, end in spans)
    assert spans == sorted(spans)


def test_languages_without_spaces_are_cut_between_words():
    text = "浏览器会自动下载所有图片。图片的大小由属性决定。"
    spans = passage_spans(text, 4, 2)
    assert len(spans) > 2
    assert "".join(tokenize(text)).startswith("".join(tokenize(text[: spans[0][1]])))
    assert all(len(tokenize(text[begin:end])) == 4 for begin, end in spans)


@pytest.mark.parametrize(("count", "expected"), [(4, 1), (5, 2), (6, 2), (7, 3)])
def test_half_a_window_is_the_usual_step(count, expected):
    assert len(passage_spans(" ".join("abcdefg"[:count]), 4)) == expected


@settings(deadline=None, max_examples=20)
@given(
    st.lists(TEXTS, max_size=6), st.integers(1, 7), st.booleans(),
    st.sampled_from([Tokenizer(), Tokenizer("en", stems=True)]),
)  # fmt: skip
def test_passages_of_many_texts_are_those_of_each(texts, words, fast, tokenizer):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positions, "pays", lambda *_: fast and importlib.util.find_spec("numba") is not None)
        patch.setattr(positions, "_BATCH_CHARACTERS", 20)
        counts, spans = passages_of_texts(texts, words)
        cut = cut_texts(texts, words, tokenizer)
    wanted = [passage_spans(text, words) for text in texts]
    for found in (spans, cut.spans):
        assert list(map(tuple, found.tolist())) == [span for own in wanted for span in own]
        assert (found.dtype, found.shape) == (np.int32, (int(counts.sum()), 2))
    assert (counts.tolist(), counts.dtype) == (list(map(len, wanted)), np.int64)
    assert [cut.terms.text(number) for number in range(len(cut.terms))] == [*map(tokenizer, texts)]
    of_terms = windows(cut.terms.offsets, words)
    assert of_terms.counts.tolist() == counts.tolist()
    assert [
        [cut.terms.terms[term] for term in cut.terms.ids[first : first + size].tolist()]
        for first, size in zip(of_terms.firsts.tolist(), of_terms.sizes.tolist(), strict=True)
    ] == [tokenizer.terms(window) for text in texts for window in words_of_passages(text, words)]


def words_of_passages(text, words):
    """The words of each passage, as they are in the whole text."""
    found = token_spans(text)
    last = max(0, len(found) - words)
    firsts = [*range(0, last, max(1, words // 2)), last]
    return [[word for _, _, word in found[first : first + words]] for first in firsts]


def test_uncut_texts_are_one_passage_each():
    cut = cut_texts(["to be, or not", "", "to be "], 0, Tokenizer())
    assert cut.spans.tolist() == [[0, 13], [0, 0], [0, 6]]
    assert windows(cut.terms.offsets, 0).counts.tolist() == [1, 1, 1]
    assert windows(cut.terms.offsets, 0).sizes.tolist() == [4, 0, 2]
    assert [cut.terms.text(number) for number in range(3)] == [["to", "be", "or", "not"], [], ["to", "be"]]

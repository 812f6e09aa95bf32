"""Windows of words over a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.text.passages import passage_spans
from isogloss.text.tokenizer import tokenize


@given(st.lists(st.sampled_from(["eau", "L'été", "x1", "Σ"]), max_size=40), st.integers(1, 9), st.integers(0, 9))
def test_every_word_is_in_a_passage_of_the_wanted_length(parts, words, step):
    text = ", ".join(parts)
    tokens = tokenize(text)
    passages = [tokenize(text[begin:end]) for begin, end in passage_spans(text, words, min(step, words))]
    if len(tokens) <= words:
        assert passages == [tokens]
    else:
        assert {len(passage) for passage in passages} == {words}
        starts = [place for passage in passages for place in _places(tokens, passage)]
        assert {place + number for place in starts for number in range(words)} == set(range(len(tokens)))


def _places(tokens, passage):
    return [i for i in range(len(tokens)) if tokens[i : i + len(passage)] == passage]


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

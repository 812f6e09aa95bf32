"""Stop words are data; the tokeniser must be able to meet every one of them."""

from importlib import resources

import pytest

from isogloss.text.stopwords import stop_word_languages, stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize

EXPECTED = {
    "de": "und", "en": "the", "es": "de", "fr": "le", "it": "che", "sw": "na", "tl": "ang", "zh": "的",
}  # fmt: skip


def lines_of(language):
    text = resources.files("isogloss.text").joinpath("stopwords", f"{language}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_the_languages_of_the_demo_and_german_have_a_list():
    assert set(EXPECTED) <= set(stop_word_languages())


@pytest.mark.parametrize("language", stop_word_languages())
def test_a_list_is_not_empty_has_no_duplicates_and_every_line_is_one_token(language):
    lines = lines_of(language)
    assert len(lines) > 50
    assert [line for line in lines if lines.count(line) > 1] == []
    assert [line for line in lines if tokenize(line) != [line]] == []
    assert stop_words(language) == set(lines)


@pytest.mark.parametrize(("language", "word"), EXPECTED.items())
def test_the_commonest_word_is_dropped_and_a_content_word_is_not(language, word):
    assert Tokenizer(language, drop_stop_words=True)(f"{word} kilimanjaro {word.upper()}") == ["kilimanjaro"]


@pytest.mark.parametrize("language", ["xx", "", None, "../text/stopwords/en"])
def test_a_language_without_a_list_has_no_stop_words(language):
    assert stop_words(language) == frozenset()

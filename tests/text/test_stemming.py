"""Snowball stems."""

from itertools import product
from string import ascii_lowercase

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.text.stemming import stem
from isogloss.text.tokenizer import tokenize


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", "connect connected connection connecting"),
        ("fr", "cheval chevaux"),
        ("it", "gatto gatti"),
        ("es", "casa casas"),
        ("de", "häuser haus häusern"),
        ("ru", "книга книги книгу"),
        ("ar", "كتاب الكتاب"),
        ("hi", "लड़का लड़के"),
    ],
)
def test_forms_of_a_word_share_a_stem(language, forms):
    assert len(set(stem(tokenize(forms), language))) == 1


@pytest.mark.parametrize("language", ["sw", "tl", "zh", "xx", "", None])
def test_a_language_without_a_stemmer_keeps_its_words(language):
    assert stem(["Farasi", "horses"], language) == ["Farasi", "horses"]


def test_every_snowball_language_has_a_code_of_two_letters():
    variants = {"porter", "dutch_porter", "lovins", "kraaij_pohlmann", "german2"}
    codes = ("".join(letters) for letters in product(ascii_lowercase, repeat=2))
    assert sum(map(is_snowball, codes)) == len(set(Stemmer.algorithms()) - variants)


def is_snowball(code):
    try:
        return bool(Stemmer.Stemmer(code))
    except KeyError:
        return False


@settings(deadline=None, max_examples=66)
@given(st.text(), st.sampled_from(["ar", "de", "el", "en", "fr", "hi", "ne", "ru", "tr"]))
def test_every_token_has_a_stem_that_is_not_empty(text, language):
    words = tokenize(text)
    stems = stem(words, language)
    assert len(stems) == len(words)
    assert all(stems)


@pytest.mark.parametrize(("language", "word"), [("ar", "ـ"), ("ne", "छ")])
def test_a_word_of_which_snowball_leaves_nothing_stays(language, word):
    assert stem([word], language) == [word]

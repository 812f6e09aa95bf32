"""Which language a query is in is said only where it is clear."""

import pytest

from isogloss.text.language import guess_query_language

LANGUAGES = ("fr", "it", "es", "sw", "tl", "zh")
QUERIES = {
    "en": "why do the bees make honey in the hive",
    "fr": "pourquoi les abeilles font du miel dans la ruche",
    "it": "perché le api fanno il miele nell'alveare",
    "es": "por qué las abejas hacen miel en la colmena",
    "sw": "kwa nini nyuki hutengeneza asali kwenye mzinga",
    "tl": "bakit gumagawa ng pulot ang mga bubuyog sa pugad",
    "zh": "蜜蜂为什么要在蜂巢里酿造蜂蜜",
}


@pytest.mark.parametrize(("language", "query"), QUERIES.items())
def test_a_sentence_tells_its_language(language, query):
    assert guess_query_language(query, "en", LANGUAGES) == language


@pytest.mark.parametrize("query", ["", "?!", "miel", "la ruche", "abeilles font miel", "css grid layout"])
def test_of_a_few_words_nothing_is_said(query):
    assert guess_query_language(query, "en", LANGUAGES) is None


def test_a_guess_that_hangs_on_one_word_is_none():
    assert guess_query_language("honey bees hive pourquoi", "en", ["fr"]) != "fr"
    assert guess_query_language("compass flex container property", "en", ["fr"]) in (None, "en")


def test_english_is_recognised_even_if_the_index_has_nothing_to_do_with_it():
    assert guess_query_language(QUERIES["en"], "fr", ["sw"]) == "en"


def test_of_languages_that_cannot_be_recognised_nothing_is_said():
    assert guess_query_language(QUERIES["en"], "qq", ["fr"]) is None
    assert guess_query_language(QUERIES["en"], "en", ["qq"]) == "en"


def test_a_very_long_query_is_no_harder():
    assert guess_query_language(QUERIES["fr"] * 500, "en", LANGUAGES) == "fr"

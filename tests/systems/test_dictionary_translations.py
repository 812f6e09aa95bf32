"""What a translating system knows of the words of a query."""

import pytest

from isogloss.systems.base import System
from isogloss.systems.registry import make_system

DOCUMENTS = ["le sel de mer", "le moulin Orlane", "la pomme de terre"]
LEXICON = """\
sea\tmer
potato\tpomme de terre
ice cream\tglace
salt\tsel
salt\tsaler
salt\tsaumure
salt\tsalin
salt\tsalière
salt\tsalaison
the\tle
"""


@pytest.fixture(params=["bm25-dict", "psq"])
def made(request, tmp_path):
    def make(lexicon=LEXICON, **settings):
        path = tmp_path / "en-fr.tsv"
        path.write_text(lexicon, encoding="utf-8")
        system = make_system(request.param, ("en", "fr"), {"lexicon": str(path), **settings})
        system.index_texts(DOCUMENTS)
        return system

    return make


def test_translations_are_those_of_the_lexicon_at_most_five(made):
    assert made().translations("salt potato Sea") == [
        ("salt", ["sel", "saler", "saumure", "salin", "salière"]),
        ("potato", ["pomme de terre"]),
        ("sea", ["mer"]),
    ]


def test_no_more_translations_are_shown_than_are_used(made):
    assert made(translations="2").translations("salt") == [("salt", ["sel", "saler"])]


def test_the_likeliest_translation_comes_first(made):
    lexicon = "salt\tsaler\t0.1\nsalt\tsel\t0.7\nsalt\tsaumure\t0.2\n"
    assert made(lexicon).translations("salt") == [("salt", ["sel", "saumure", "saler"])]


def test_a_phrase_is_one_thing_and_stems_are_looked_through(made):
    assert made().translations("ice cream salts") == [
        ("ice cream", ["glace"]),
        ("salts", ["sel", "saler", "saumure", "salin", "salière"]),
    ]


def test_a_name_that_a_document_holds_stands_for_itself_and_one_that_none_holds_is_unknown(made):
    system = made()
    assert system.translations("Orlane xyzzy mill") == [("orlane", ["orlane"])]
    assert system.unknown_words("Orlane xyzzy mill xyzzy") == ["xyzzy", "mill"]


def test_a_translated_word_is_known_even_if_no_document_holds_its_translation(made):
    assert made().unknown_words("ice cream") == []


def test_stop_words_are_neither_known_nor_unknown_unless_the_lexicon_has_them(made):
    assert made().unknown_words("of the sea") == []
    assert [word for word, _ in made().translations("of the sea")] == ["the", "sea"]
    assert [word for word, _ in made(drop_stop_words="true").translations("of the sea")] == ["sea"]


@pytest.mark.parametrize("query", ["", "?!", "🙂"])
def test_a_query_without_words_has_none(made, query):
    assert made().unknown_words(query) == made().translations(query) == []


def test_a_system_that_does_not_translate_says_nothing():
    system = make_system("bm25", ("en", "fr"))
    system.index_texts(DOCUMENTS)
    assert type(system).translations is System.translations
    assert system.translations("sea") == []

"""Glosses: the text comes back, and what stands for each word is what a reader can use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.systems.glossers import lexicon_glosser
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.glossing import Glosser, gloss_text
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.model import Knowledge, dictionary_table, train_translation_model

WORDS = {
    "fr": [
        ("memory", "mémoire", 0.6), ("souvenir", "souvenir", 0.5), ("the", "la", 0.9), ("the", "le", 0.9),
        ("container", "conteneur", 0.9), ("containers", "conteneur", 0.1), ("limited", "limité", 0.8),
        ("toolbar", "barre", 0.9), ("toolbar", "outils", 0.9), ("of", "de", 0.9), ("summer", "été", 0.9),
        ("bank", "banque", 0.5), ("bench", "banc", 0.5), ("bank", "banc", 0.4), ("mouse", "souris", 1.0),
        ("also", "également", 0.9), ("equal", "également", 0.1), ("the", "mise", 0.5), ("formatting", "mise", 0.4),
        ("background", "arrière", 0.9), ("background", "plan", 0.9),
        ("under", "sous", 0.5), ("as", "sous", 0.5),
    ],
    "de": [("memory", "speicher", 1.0), ("limit", "grenze", 1.0), ("file", "datei", 1.0)],
    "zh": [("memory", "内存", 1.0), ("limit", "限制", 1.0), ("container", "容器", 1.0)],
}  # fmt: skip


@pytest.fixture(scope="module")
def glosser():
    lexicons = {language: Lexicon(entries) for language, entries in WORDS.items()}
    return lambda language: lexicon_glosser(lexicons[language], "en", language)


def shown(pieces):
    return [(piece.text, piece.shown) for piece in pieces if any(map(str.isalnum, piece.text))]


def test_words_become_full_words_of_the_reader(glosser):
    pieces = glosser("fr").gloss("La mémoire du conteneur est limitée à 512 Mo.")
    assert gloss_text(pieces).startswith("The memory")
    by_text = dict(shown(pieces))
    assert (by_text["mémoire"], by_text["conteneur"], by_text["limitée"]) == ("memory", "container", "limited")
    assert by_text["512"] == "512"


def test_what_is_not_known_stays_and_is_marked(glosser):
    pieces = {piece.text: piece for piece in glosser("fr").gloss("La mémoire Xyzzy de setTimeout v2 HTTPServer 42")}
    assert pieces["Xyzzy"].unknown and pieces["Xyzzy"].shown == "Xyzzy"
    kept = [pieces[name] for name in ("setTimeout", "v2", "HTTPServer", "42")]
    assert all(piece.gloss is None and not piece.unknown for piece in kept)
    assert not pieces["mémoire"].unknown


def test_the_query_decides_between_translations(glosser):
    of = glosser("fr")
    assert gloss_text(of.gloss("banc", "a bench in the park")) == "bench"
    assert gloss_text(of.gloss("banc", "the bank of a river")) == "bank"


def test_a_word_says_what_part_of_the_query_it_met_and_its_meanings(glosser):
    text = "le conteneur"
    pieces = glosser("fr").gloss(text, "Containers without limits", [(3, 12)])
    word = pieces[-1]
    assert (word.text, word.match, word.met, word.gloss) == ("conteneur", True, "Containers", "containers")
    assert word.meanings[0].word.startswith("container")
    assert sum(meaning.probability for meaning in word.meanings) == pytest.approx(1, abs=0.01)
    named = glosser("fr").gloss(text, "boxes", met={"conteneur": "boxes"}.get)
    assert named[-1].met == "boxes"


def test_neighbours_with_one_gloss_are_one_word_and_elided_articles_go(glosser):
    of = glosser("fr")
    assert gloss_text(of.gloss("barre d'outils de souris")) == "toolbar of mouse"
    assert gloss_text(of.gloss("l'été, s'il")).startswith("summer,")


def test_a_stop_word_stands_for_a_content_word_only_where_it_is_much_likelier(glosser):
    of = glosser("fr")
    assert gloss_text(of.gloss("mémoire également limitée")) == "memory also limited"
    assert gloss_text(of.gloss("mise")) == "formatting"


def test_a_stop_word_becomes_the_one_that_it_is_a_translation_of_too():
    tokenizers = Tokenizer("en", stems=True), Tokenizer("fr", stems=True)
    entries = [("the", "le", 1), ("the", "la", 1), ("the", "pour", 0.6), ("for", "pour", 0.5), ("bench", "banc", 1)]
    table = dictionary_table(Lexicon(entries), tokenizers)
    of = Glosser(train_translation_model([], [Knowledge(table, 100.0)], tokenizers).model, tokenizers, str)
    assert of.meanings("pour") == ["the", "for"]
    assert gloss_text(of.gloss("pour le banc")) == "for the bench"


def test_hyphens_go_with_what_is_left_out(glosser):
    of = glosser("fr")
    assert gloss_text(of.gloss("arrière-plan limité")) == "background limited"
    assert gloss_text(of.gloss("souris-banc")) == "mouse-bench"
    assert gloss_text(of.gloss("sous-mémoire")) == "memory"


def test_capitals_follow_the_text_but_not_those_of_german_nouns(glosser):
    assert gloss_text(glosser("fr").gloss("MÉMOIRE Souris")) == "MEMORY Mouse"
    assert gloss_text(glosser("de").gloss("Speicher Datei")) == "memory file"


def test_an_unknown_compound_is_known_by_its_parts(glosser):
    (word,) = glosser("de").gloss("Speichergrenze", "memory")
    assert (word.gloss, word.unknown, word.met) == ("Memory limit", False, "memory")


def test_a_script_without_spaces_gets_some(glosser):
    pieces = glosser("zh").gloss("容器内存限制。CSS", "memory")
    assert gloss_text(pieces) == "container memory limit. CSS"
    assert "".join(piece.text for piece in pieces) == "容器内存限制。CSS"


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["la", "mémoire", "d'outils", "内存限制", "。", "'s", "½", "ﬁn"])).map(" ".join)
)
def test_the_texts_of_the_pieces_are_the_text(text):
    for language, entries in WORDS.items():
        pieces = _glosser(language, entries).gloss(text, text)
        assert "".join(piece.text for piece in pieces) == text


def _glosser(language, entries, kept={}):  # noqa: B006
    return kept.setdefault(language, lexicon_glosser(Lexicon(entries), "en", language))


def test_the_text_around_decides_between_translations_where_there_are_vectors(glosser):
    import numpy as np

    model = glosser("fr").model
    river = model.find_term(Tokenizer("fr", stems=True)("souris")[0])

    class Vectors:
        def of_text(self, numbers):
            return np.float32([1, 0] if river in numbers else [0, 1])

        def of_words(self, numbers):
            near = model.find_word("bench")
            return np.float32([[1, 0] if number == near else [0, 1] for number in numbers])

    tokenizers = Tokenizer("en", stems=True), Tokenizer("fr", stems=True)
    of = Glosser(model, tokenizers, str, Vectors())
    assert shown(of.gloss("souris banc"))[1] == ("banc", "bench")
    assert shown(of.gloss("mémoire banc"))[1] == ("banc", "bank")
    assert gloss_text(of.gloss("banc", around="souris")) == "bench"


def test_a_model_of_nothing_keeps_every_word():
    tokenizers = Tokenizer("en", stems=True), Tokenizer("fr", stems=True)
    model = train_translation_model([("sea", "mer")] * 3, [], tokenizers).model
    pieces = Glosser(model, tokenizers, str).gloss("vent mer")
    assert shown(pieces) == [("vent", "vent"), ("mer", "sea")]
    assert pieces[0].unknown


def test_expressions_of_code_stay_whole(glosser):
    for code in ("String.mémoire()", ":souris", "-souris-banc", "<banc>", "la_mémoire", "std::souris", "banc(souris)"):
        assert gloss_text(glosser("fr").gloss(f"la {code} souris")) == f"the {code} mouse"
    assert gloss_text(glosser("fr").gloss("banc (souris): mémoire. Souris")) == "bench (mouse): memory. Mouse"

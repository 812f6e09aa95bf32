"""Queries become concepts: phrases, translations, stems, names, probabilities."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval.bm25 import Concept
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.queries import QueryTranslator, untranslated

STRUCTURES = ("independent", "synonym", "probability")
FRENCH, PLAIN = Tokenizer("fr", stems=True), Tokenizer("fr")


def translator(*entries, tokenizer=PLAIN, **options):
    full = [(word, translation, rest[0] if rest else 0.0) for word, translation, *rest in entries]
    return QueryTranslator(Lexicon(full), "en", tokenizer, **options)


def terms(concepts):
    return [(concept.words, dict(concept.terms)) for concept in concepts]


def test_untranslated_words_stand_for_themselves_and_count_as_often_as_they_occur():
    assert untranslated("Sel, SEL et poivre", PLAIN) == [
        Concept("sel", (("sel", 1.0),), 2),
        Concept("et", (("et", 1.0),), 1),
        Concept("poivre", (("poivre", 1.0),), 1),
    ]


def test_untranslated_words_get_the_stems_and_lose_the_stop_words_of_the_document_language():
    assert terms(untranslated("les chevaux", Tokenizer("fr", stems=True, drop_stop_words=True))) == [
        ("chevaux", {"cheval": 1.0})
    ]
    assert untranslated("?!", PLAIN) == []


def test_translations_of_a_word_are_one_concept_of_synonyms():
    made = translator(("horse", "cheval"), ("horse", "jument"))("Horse horse")
    assert made == [Concept("horse", (("cheval", 1.0), ("jument", 1.0)), 2)]


def test_only_the_first_translations_are_used():
    entries = [("horse", word) for word in ("cheval", "jument", "poney", "étalon")]
    assert [list(dict(c.terms)) for c in translator(*entries, translations=3)("horse")] == [
        ["cheval", "jument", "poney"]
    ]
    assert [list(dict(c.terms)) for c in translator(*entries, translations=1)("horse")] == [["cheval"]]


def test_independent_translations_are_concepts_of_their_own():
    made = translator(("horse", "cheval"), ("horse", "jument"), structure="independent")("horse")
    assert terms(made) == [("horse", {"cheval": 1.0}), ("horse", {"jument": 1.0})]


@pytest.mark.parametrize("structure", ["synonym", "independent"])
def test_repeating_a_translation_does_not_add_evidence(structure):
    """Twice in the file, or twice under one stem: it is one synonym still."""
    once = translator(("horse", "cheval"), tokenizer=FRENCH, structure=structure)("horse")
    again = translator(
        ("horse", "cheval"), ("horse", "chevaux"), ("horse", "Cheval"), tokenizer=FRENCH, structure=structure
    )
    assert again("horse") == once


def test_the_longest_phrase_of_the_lexicon_is_taken():
    translate = translator(("ice", "glace"), ("ice cream", "sorbet"), ("ice cream cone", "cornet"), ("cone", "cône"))
    for query, words in {
        "ice cream cone": ["ice cream cone"],
        "ice cream, cone ice": ["ice cream cone", "ice"],
        "ice ice cream": ["ice", "ice cream"],
        "cream cone": ["cream", "cone"],
    }.items():
        assert [concept.words for concept in translate(query)] == words


def test_a_translation_of_several_words_shares_its_weight_among_those_that_tell():
    made = translator(("potato", "pomme de terre"), ("potato", "patate"))("potato")
    assert terms(made) == [("potato", {"pomme": 0.5, "terre": 0.5, "patate": 1.0})]


def test_a_translation_of_nothing_but_stop_words_is_kept_whole():
    assert terms(translator(("of the", "de la"))("of the")) == [("of the", {"de": 0.5, "la": 0.5})]


@pytest.mark.parametrize(("known", "asked"), [("horse", "horses"), ("horses", "horse"), ("running", "runs")])
def test_a_word_the_lexicon_lacks_is_found_by_its_stem(known, asked):
    assert terms(translator((known, "mot"))(asked)) == [(asked, {"mot": 1.0})]


def test_the_word_itself_goes_before_its_stem():
    assert terms(translator(("horse", "cheval"), ("horses", "chevaux"))("horses")) == [("horses", {"chevaux": 1.0})]


def test_all_words_of_a_stem_give_their_translations():
    made = translator(("walk", "marcher"), ("walking", "marche"), ("walk", "marche"))("walked")
    assert terms(made) == [("walked", {"marcher": 1.0, "marche": 1.0})]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_unknown_words_pass_through_as_terms_of_the_documents(structure):
    made = translator(("horse", "cheval"), tokenizer=FRENCH, structure=structure)("Nationales 1789")
    assert terms(made) == [("nationales", {"national": 1.0}), ("1789", {"1789": 1.0})]


def test_stop_words_are_dropped_where_something_else_is_left():
    entries = [("the", "le"), ("horse", "cheval"), ("point of view", "perspective"), ("of course", "bien")]
    translate = translator(*entries, ("ice cream", "sorbet"), drop_stop_words=True)
    assert [concept.words for concept in translate("the horse")] == ["horse"]
    assert [concept.words for concept in translate("the")] == ["the"]
    assert [concept.words for concept in translate("the point of view")] == ["point of view"]  # "of" is part of it
    assert [concept.words for concept in translate("of course horse")] == ["of course", "horse"]
    assert [concept.words for concept in translate("ice or cream")] == ["ice", "cream"]  # they never stood together


def test_probabilities_fall_with_the_order_of_the_lexicon():
    entries = [("sea", "mer"), ("sea", "océan"), ("sea", "flots")]
    halves = translator(*entries, structure="probability", decay=0.5)("sea")
    assert dict(halves[0].terms) == pytest.approx({"mer": 4 / 7, "océan": 2 / 7, "flots": 1 / 7})
    alike = translator(*entries, structure="probability", decay=1.0)("sea")
    assert dict(alike[0].terms) == pytest.approx({"mer": 1 / 3, "océan": 1 / 3, "flots": 1 / 3})
    assert dict(translator(*entries, structure="probability", decay=0.0)("sea")[0].terms)["mer"] == 1.0


def test_probabilities_of_a_table_go_before_its_order():
    entries = [("sea", "flots", 0.1), ("sea", "mer", 0.6), ("sea", "océan", 0.2), ("sea", "onde", 0.05)]
    made = translator(*entries, structure="probability", translations=2)("sea")
    assert dict(made[0].terms) == pytest.approx({"mer": 0.75, "océan": 0.25})


def test_probabilities_of_one_stem_are_added():
    entries = [("horse", "cheval", 0.5), ("horse", "chevaux", 0.3), ("horse", "jument", 0.2)]
    made = translator(*entries, tokenizer=FRENCH, structure="probability")("horse")
    assert dict(made[0].terms) == pytest.approx({"cheval": 0.8, "jument": 0.2})


WORDS = st.sampled_from(["sea", "salt", "old", "ice", "cream", "boats"])
ENTRIES = st.lists(st.tuples(WORDS, st.sampled_from(["mer", "sel", "vieux sel", "flots"]), st.sampled_from([0.0, 0.3])))


@given(entries=ENTRIES, query=st.lists(WORDS), structure=st.sampled_from(STRUCTURES))
@settings(deadline=None, max_examples=25)
def test_every_word_of_a_query_is_in_exactly_one_concept_and_no_weight_is_more_than_one(entries, query, structure):
    made = translator(*entries, structure=structure)(" ".join(query))
    assert {concept.words for concept in made} == set(query)
    if structure != "independent":
        assert {concept.words: concept.times for concept in made} == {word: query.count(word) for word in query}
    for concept in made:
        assert all(0 <= weight <= 1 for _, weight in concept.terms)
        if structure == "probability":
            assert sum(weight for _, weight in concept.terms) == pytest.approx(1)

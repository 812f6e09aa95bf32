"""The languages of many texts together."""

import pytest

from isogloss.data.problems import Problems
from isogloss.data.readers.demo import DEMO_LANGUAGES, Demo
from isogloss.storage.errors import InputError
from isogloss.text.detection import Clue, detect_languages, detectable_languages, language_parts, language_shares

GERMAN = "Der Bäcker backt das Brot am frühen Morgen und verkauft es auf dem Markt."
FRENCH = "Le boulanger prépare le pain chaque matin avec de la farine et de l'eau."
ENGLISH = "The baker makes bread every morning with flour and water from the well."


@pytest.fixture(scope="module")
def pages():
    return [page for _, page in Demo().all_documents(Problems())]


def test_the_languages_of_the_bundled_pages_are_all_found(pages):
    found = detect_languages([Clue(page.text) for page in pages])
    assert found == [page.language for page in pages]
    assert set(found) == set(DEMO_LANGUAGES)


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
@pytest.mark.parametrize("length", [20, 40])
def test_short_texts_of_one_language_stay_together(pages, language, length):
    clues = [Clue(page.text[:length]) for page in pages if page.language == language]
    assert set(detect_languages(clues)) == {language}


def test_one_text_that_looks_like_another_language_does_not_make_an_index_of_its_own():
    odd = Clue("Sed verba manent")
    assert detectable_languages()[int(language_shares(odd.text).argmax())] != "fr"
    assert detect_languages([*[Clue(FRENCH)] * 20, odd]) == ["fr"] * 21


def test_one_text_that_is_beyond_doubt_does():
    assert detect_languages([*[Clue(FRENCH)] * 600, Clue(GERMAN)]) == [*["fr"] * 600, "de"]


def test_a_doubtful_text_takes_the_language_of_its_folder():
    clues = [Clue(FRENCH, "a"), Clue("Radio", "a"), Clue(GERMAN, "b"), Clue("Radio", "b"), Clue("42", "b")]
    assert detect_languages(clues) == ["fr", "fr", "de", "de", "de"]
    assert detect_languages([*[Clue(GERMAN, "b")] * 3, Clue(FRENCH, "a"), Clue("Radio", "c")])[-1] == "de"


def test_a_name_says_the_language_unless_the_text_says_another_one_beyond_doubt():
    assert detect_languages([Clue("Radio", "it", "it")]) == ["it"]
    assert detect_languages([Clue(ENGLISH * 3, "it", "it")]) == ["en"]
    assert detect_languages([Clue(FRENCH, "src", "qq")]) == ["fr"]


def test_known_languages_hold_for_doubtful_texts_and_not_for_clear_ones():
    assert detect_languages([Clue("Radio")], {"sw": 12}) == ["sw"]
    assert detect_languages([Clue(GERMAN)], {"sw": 12}) == ["de"]
    assert detect_languages([Clue("Radio")], {"qaa": 12}) == ["qaa"]


def test_where_no_text_is_clear_all_are_read_together():
    assert detect_languages([Clue("Le chat dort."), Clue("Le pain")]) == ["fr", "fr"]


@pytest.mark.parametrize("texts", [["1 2 3"], ["", " "], ["Honey"]])
def test_texts_without_a_language_are_an_error(texts):
    with pytest.raises(InputError, match=r"cannot be detected.*; name it: language='fr'"):
        detect_languages([Clue(text) for text in texts])


def test_no_texts_have_no_languages():
    assert detect_languages([]) == []


def test_shares_sum_to_one_over_two_letter_codes():
    assert language_shares(FRENCH).sum() == pytest.approx(1, abs=1e-5)
    assert all(len(code) == 2 for code in detectable_languages())


def test_a_few_short_texts_of_several_languages_are_told_apart():
    texts = ["Las abejas hacen miel.", "El volcán arroja lava.", "Der Drucker antwortet nicht."]
    assert detect_languages([Clue(text) for text in texts]) == ["es", "es", "de"]


def test_a_text_is_in_no_language_of_another_script_but_for_latin_names():
    assert detect_languages([Clue("蜜蜂酿蜜"), Clue(GERMAN)]) == ["zh", "de"]
    assert detect_languages([Clue("Пчёлы делают мёд летом, а зимой спят."), Clue("GIMP")]) == ["ru", "ru"]


def test_a_long_text_of_nothing_but_code_has_no_parts():
    assert language_parts("```\n" + "make all\n" * 500 + "```") == {}

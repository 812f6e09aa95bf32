"""Which language a text is in."""

import pytest

from isogloss.storage.errors import InputError
from isogloss.text.detection import detectable_languages
from isogloss.text.language import identify_language, normalize_language
from isogloss.text.language_names import known_languages

SENTENCES = {
    "en": "The children are playing in the garden behind the old house",
    "fr": "Les enfants jouent dans le jardin derrière la vieille maison",
    "it": "I bambini giocano nel giardino dietro la vecchia casa",
    "es": "Los niños juegan en el jardín detrás de la casa vieja",
    "de": "Die Kinder spielen im Garten hinter dem alten Haus",
    "sw": "Watoto wanacheza katika bustani nyuma ya nyumba ya zamani",
    "tl": "Naglalaro ang mga bata sa hardin sa likod ng lumang bahay",
    "zh": "孩子们在老房子后面的花园里玩耍",
    "ja": "子供たちは古い家の裏の庭で遊んでいます",
    "ru": "Дети играют в саду за старым домом",
    "ar": "يلعب الأطفال في الحديقة خلف المنزل القديم",
    "hi": "बच्चे पुराने घर के पीछे बगीचे में खेल रहे हैं",
    "th": "เด็กๆ กำลังเล่นอยู่ในสวนหลังบ้านเก่า",
}


@pytest.mark.parametrize(("language", "sentence"), SENTENCES.items())
def test_a_sentence_is_recognised(language, sentence):
    assert identify_language(sentence) == language
    assert identify_language(sentence, among=list(SENTENCES)) == language


def test_the_choice_is_among_the_languages_given():
    assert identify_language(SENTENCES["it"], among={"fr", "en"}) in {"fr", "en"}
    assert identify_language(SENTENCES["it"], among=["zh"]) == "zh"


@pytest.mark.parametrize("text", ["", " ", "12 + 3", "\x00", "\ud800", "上海閒話", "🙂"])
def test_any_text_gets_a_code_of_two_letters(text):
    assert len(identify_language(text)) == 2


@pytest.mark.parametrize("among", [["qq"], ["qq", "zz"]])
def test_languages_nobody_knows_are_an_error_that_names_them(among):
    with pytest.raises(InputError, match=", ".join(among)):
        identify_language("a text", among=among)


def test_every_language_that_is_detected_or_named_keeps_its_code():
    for code in {*detectable_languages(), *known_languages()}:
        assert normalize_language(code) == code


@pytest.mark.parametrize("name", ["", "xx", "klingon", "../fr", "f", "fr" * 40, "\ud800", "français"])
def test_what_is_no_language_is_refused_with_a_way_out(name):
    with pytest.raises(InputError, match=r"is not a language code, like fr or zh, .* from qaa to qtz"):
        normalize_language(name)

"""Word by word through a lexicon."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.text.tokenizer import tokenize
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.translators import LexiconTranslator

CHINESE = [("life", "人寿"), ("insurance", "保险"), ("life insurance", "人寿保险单"), ("cost", "费用"), ("of", "的")]
CHINESE += [("car", "汽车"), ("long term", "长期的"), ("policy", "政策")]


def translator(*entries, target="fr"):
    full = [(word, translation, rest[0] if rest else 0.0) for word, translation, *rest in entries]
    return LexiconTranslator(Lexicon(full), "en", target)


@pytest.mark.parametrize(
    ("entries", "best"),
    [
        ([("sea", "mer"), ("sea", "océan")], "mer"),
        ([("sea", "mer", 0.2), ("sea", "océan", 0.7)], "océan"),
        ([("sea", "mer", 0.4), ("sea", "océan", 0.4)], "mer"),
    ],
)
def test_the_likeliest_translation_is_taken_or_else_the_first_listed(entries, best):
    assert translator(*entries).translate(["Sea"]) == [best]


def test_words_come_in_their_order_phrases_as_one_and_stems_are_looked_through():
    made = translator(("ice cream", "glace"), ("ice", "verglas"), ("potato", "pomme de terre"), ("the", "le"))
    assert made.translate(["The potatoes, the ice-cream; ICE!", ""]) == ["le pomme de terre le glace verglas", ""]


def test_a_name_stays_and_a_stop_word_without_a_translation_does_not():
    assert translator(("sea", "mer")).translate(["the Orlane of the sea"]) == ["orlane mer"]


def test_a_text_of_nothing_known_comes_back_in_words():
    assert translator(("sea", "mer")).translate(["MetLife 401(k)?"]) == ["metlife 401 k"]


@given(words=st.lists(st.sampled_from([word for word, _ in CHINESE] + ["metlife", "401k"]), max_size=8))
@settings(deadline=None, max_examples=40)
def test_the_tokeniser_cuts_a_chinese_translation_back_into_the_words_of_the_lexicon(words):
    lexicon = Lexicon([(word, translation, 0.0) for word, translation in CHINESE])
    (translation,) = LexiconTranslator(lexicon, "en", "zh").translate([" ".join(words)])
    expected = []
    for phrase in lexicon.cut(tokenize(" ".join(words))):
        expected += lexicon[phrase][0].phrase if phrase in lexicon else phrase
    assert tokenize(translation) == expected

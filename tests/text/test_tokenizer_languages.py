"""Words of many languages, as their readers would cut them."""

import unicodedata

import pytest

from isogloss.text.normalization import normalize
from isogloss.text.tokenizer import Tokenizer, token_spans, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat's 2 mice.", ["the", "cat", "s", "2", "mice"]),
        ("L'homme d’été", ["l", "homme", "d", "été"]),
        ("snake_case and CamelCase", ["snake", "case", "and", "camelcase"]),
        ("Die Straße, DIE STRASSE", ["die", "strasse", "die", "strasse"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("كِتَابٌ جَدِيدٌ", ["كِتَابٌ", "جَدِيدٌ"]),
        ("हिन्दी में लिखा है।", ["हिन्दी", "में", "लिखा", "है"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("LG전자는 서울에", ["lg전자는", "서울에"]),
        ("LG전자는 中國에", ["lg전자는", "中國", "에"]),
        ("我们在学校学习中文。", ["我们", "在", "学校", "学习", "中文"]),
        ("今日は良い天気です", ["今日", "は", "良い", "天気", "です"]),
        ("カタカナソフトウェア", ["カタカナ", "ソフトウェア"]),
        ("สวัสดีชาวโลก", ["สวัสดี", "ชาว", "โลก"]),
        ("ພາສາລາວ", ["ພາສາ", "ລາວ"]),
        ("𠀀𠀁𠀂", ["𠀀", "𠀁", "𠀂"]),
        ("CSS3属性2个", ["css3", "属性", "2", "个"]),
        ("x\u00b2 ½ Ⅳ", ["x2", "1", "2", "iv"]),
        ("", []),
        ("—…!? \ud800 \x00 🙂", []),
    ],
)
def test_words_are_cut_as_readers_would(text, tokens):
    assert tokenize(text) == [unicodedata.normalize("NFKC", token) for token in tokens]


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("co\u00adoperate", "cooperate"),
        ("می\u200cخواهم", "میخواهم"),
        ("क्\u200dष", "क्ष"),
        ("\ufeffstart", "start"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ １２", "full width 12"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("ﬁancé", "fiancé"),
        ("cafe\u0301", "café"),
        ("각", "\u1100\u1161\u11a8"),
        ("❤\ufe0fheart", "❤heart"),
        ("葛\U000e0100", "葛"),
        ("İstanbul", "i\u0307stanbul"),
    ],
)
def test_two_spellings_of_a_word_are_one_word(written, same):
    assert tokenize(written) == tokenize(same) != []
    assert normalize(written) == normalize(same)


@pytest.mark.parametrize("text", ["Crème brûlée à Noël", "Tiếng Việt có dấu", "हिन्दी", "한국어 단어", "ガギグゲゴ"])
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_every_unicode_form_of_a_text_has_the_same_tokens(text, form):
    assert tokenize(unicodedata.normalize(form, text)) == tokenize(text)


def test_the_zero_width_space_parts_words():
    assert tokenize("ពាក្យ\u200bថ្មី")[0] == "ពាក្យ"
    assert tokenize("a\u200bb") == ["a", "b"]


def test_vowels_of_arabic_and_signs_of_hindi_are_kept_in_the_token():
    assert tokenize("كِتَاب") != tokenize("كتاب")
    assert len(tokenize("क्षत्रिय")) == 1


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("L'Été", [(0, 1, "l"), (2, 5, "été")]),
        ("L'E\u0301te\u0301!", [(0, 1, "l"), (2, 7, "été")]),
        ("a co\u00adop b", [(0, 1, "a"), (2, 7, "coop"), (8, 9, "b")]),
        ("5㎏ ½", [(0, 2, "5kg"), (3, 4, "1"), (3, 4, "2")]),
        ("ﬁx 中文", [(0, 2, "fix"), (3, 5, "中文")]),
        ("STRAẞE", [(0, 6, "strasse")]),
        ("𝐀𝐁 我们", [(0, 2, "ab"), (3, 5, "我们")]),
        ("Plain text", [(0, 5, "plain"), (6, 10, "text")]),
        ("", []),
    ],
)
def test_spans_mark_the_words_as_they_are_written(text, spans):
    assert token_spans(text) == spans


@pytest.mark.parametrize(
    ("tokenizer", "terms"),
    [
        (Tokenizer(), ["the", "horses", "were", "running"]),
        (Tokenizer("en", stems=True), ["the", "hors", "were", "run"]),
        (Tokenizer("en", drop_stop_words=True), ["horses", "running"]),
        (Tokenizer("en", stems=True, drop_stop_words=True), ["hors", "run"]),
        (Tokenizer("sw", stems=True), ["the", "horses", "were", "running"]),
        (Tokenizer(None, stems=True, drop_stop_words=True), ["the", "horses", "were", "running"]),
    ],
)
def test_a_tokenizer_drops_stop_words_then_takes_stems(tokenizer, terms):
    assert tokenizer("The horses were running") == terms

"""The fast way to tokens gives the tokens of the tokeniser, all of them and no other."""

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from isogloss.text.compiled import rows as fast_tokens
from isogloss.text.compiled.rows import FastTokens
from isogloss.text.normalization import UNSPACED, normalize
from isogloss.text.tokenizer import tokenize

DATA = Path(__file__).parents[3] / "shared" / "data"
TRICKY = (
    "aAbzé'’_-.,·:%0 9½㎏ﬁßſİıΣς\u0345\u0301\u0300\u0307\u0323\u0338=\u1cd0\U00016ff0\U0001e94a\u00ad\u200b\u200c\u200d"
    "\ufeff\ufe0f\u0600中國国한각ไทยำ้ั์๓ខ្មែរကျန်ဦລາວ日本ｶﾞがガ\u3099\u1100\u1161\u11a8クー々〇〼𠀀𗀀हि्न\u093c\u064e\u064b"
    "\u0651\u0640٣①ﷺ\x00\x1f\x85\u2028\u00a0\u3000 \n\r\t🏴\U000e0067🏻❤\u0dd9\u0dcf\u0dca\u09c7\u09be\u0bc6\u0bbe"
    "\u1025\u102e𝐀\u0130\ud800…¨´"
)
UNSPACED_CHARACTERS = [c for c in map(chr, range(0x0E00, 0x3100)) if UNSPACED.match(c)]
WORDS = [
    "the", "Straße", "STRASSE", "ﬁn", "l'été", "ΣΊΣΥΦΟΣ", "İstanbul", "mañana", "man\u0303ana", "co\u00adöperate",
    "हिन्दी", "कि\u200dन्दी", "কোথায়", "தமிழ்", "العَرَبِيَّة", "الـــعربية", "ئە\u200cوە", "한국어", "\u1112\u1161\u11ab",
    "LG전자", "中国", "我们的学校在北京", "CSS属性", "東京都に行きました", "カタカナ", "ｶﾀｶﾅ", "属性を", "3月",
    "ภาษาไทย", "น้ำ", "ไทย123", "ABCไทย", "๑,๒", "ខ្មែរ", "မြန်မာ", "ລາວ", "node.js", "👩‍👩‍👧", "❤️",
    "…", "½", "№5", "a_b", "x-y", "(z)", "«q»", "ǰ",
    "e\u0301\u0323", "\u0e31ก", "เ\u0e49\u0e38", "a\u0334\u0301",
]  # fmt: skip
characters = st.one_of(
    st.characters(), st.characters(categories=["Cs"]), st.sampled_from(TRICKY), st.sampled_from(UNSPACED_CHARACTERS)
)
joined_words = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(["", " ", "\n", ", ", "\u200b", "\u3000", "。", "\u0301"])),
    max_size=8,
).map(lambda pairs: "".join(word + between for word, between in pairs))
texts = st.one_of(
    st.text(characters, max_size=20), joined_words, st.tuples(joined_words, st.text(characters)).map("".join)
)


def words_of_each(tokens, words, found):
    ids, offsets = found
    assert (ids.dtype, offsets.dtype, len(offsets)) == (np.int32, np.int64, len(tokens) + 1)
    return [[words[i] for i in ids[first:last]] for first, last in pairwise(offsets)]


def check(texts, limit=0, known=lambda word: True):
    tokens = [tokenize(text) for text in texts]
    words = [word for word in dict.fromkeys(word for text in tokens for word in text) if known(word)]
    found = words_of_each(tokens, words, FastTokens(words).ids(texts, limit))
    kept = set(words)
    assert found == [[word for word in text[: limit or None] if word in kept] for text in tokens]


@settings(deadline=None, max_examples=300)
@given(st.lists(texts, max_size=5))
@example(["中\ud800国\udfff"])
@example(["\U0002b441ß\U00016ff0"])
@example(["a \u0e31ก"])
@example(["é\u0301 中 \u0301"])
@example(["\u05e9\u05c1\u05bc \u0651\u064e \u0651\u200d\u064e"])
def test_all_tokens_of_any_texts_are_found_in_order(texts):
    check(texts)


@settings(deadline=None, max_examples=100)
@given(st.lists(texts, max_size=5), st.integers(1, 6), st.integers(1, 3))
def test_a_text_is_cut_before_unknown_words_are_dropped(texts, limit, kept):
    check(texts, limit, known=lambda word: sum(map(ord, word)) % kept == 0)


@settings(deadline=None, max_examples=30)
@given(st.lists(texts, min_size=1, max_size=8), st.integers(1, 40))
def test_blocks_and_batches_make_no_difference(texts, size):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_BATCH_CHARACTERS", "_BLOCK_CHARACTERS", "_HARD_CHARACTERS"):
            patch.setattr(fast_tokens, name, size)
        check(texts * 2)


@pytest.mark.parametrize("texts", [[], [""], ["", "", ""], ["…"], ["a", ""], ["", "中"]], ids=repr)
def test_nothing_to_find_is_no_exception(texts):
    check(texts)
    ids, offsets = FastTokens([]).ids(texts)
    assert len(ids) == 0
    assert offsets.tolist() == [0] * (len(texts) + 1)


def test_only_words_a_tokeniser_makes_are_ever_found():
    words = ["", "two words", "UPPER", "ß", "e\u0301", "中", "é", "ok"]
    found = FastTokens(words).ids(["two words UPPER upper ß e\u0301 中 ok"])
    assert [words[i] for i in found[0]] == ["é", "中", "ok"]


def test_of_a_word_that_stands_twice_the_first_row_counts():
    assert FastTokens(["b", "a", "b", "a"]).ids(["a b"])[0].tolist() == [1, 0]


@pytest.mark.parametrize("wrap", ["{}", "a{}b", "中{}国", "ไ{}ท", "é{}\u0301", "{0}{0} {0}"])
def test_every_single_character_is_taken_as_the_tokeniser_takes_it(wrap):
    numbers = [*range(0, 0x20000, 1 if wrap == "{}" else 7), *range(0x20000, 0x110000, 997)]
    check([wrap.format(chr(number)) for number in numbers])


def test_a_word_longer_than_any_known_one_is_unknown():
    assert FastTokens(["a" * 5]).ids(["a" * 4 + " " + "a" * 5 + " " + "a" * 5000 + " " + "ß" * 600])[0].tolist() == [0]


def test_texts_that_are_hard_throughout():
    decomposed = [
        "Ces e\u0301te\u0301s-la\u0300, de\u0301ja\u0300 passe\u0301s " * 3,
        "\u1112\u1161\u11ab\u1100\u116e\u11a8 \u1100\u1161",
    ]
    check([*decomposed, *(normalize(text) for text in decomposed)])
    check([*decomposed, "\ua66e\u0301 e\u0301 \ua66e", "\n\ua66ee\u0301\n"])


@pytest.mark.parametrize(
    ("name", "language"),
    [("mdn", "fr"), ("mdn", "zh"), ("lohelp", "de"), ("cppdocs", "it"), ("bible", "tl"), ("insuranceqa", "zh")],
)
def test_real_documents(name, language):
    path = DATA / name / f"wiki_{language}.documents.gz"
    if not path.exists():
        pytest.skip("no data")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        check([line.rstrip("\n").split("\t")[-1] for line, _ in zip(file, range(300), strict=False)])

"""Compiled code finds the words of ``token_spans``, with their positions or as rows of a vocabulary."""

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from isogloss.papers.smooth import compiled_tokenizer as rows_module
from isogloss.papers.smooth.compiled_tokenizer import FastTokens
from isogloss.text.compiled import segmentation
from isogloss.text.compiled import words as words_module
from isogloss.text.compiled.words import CompiledWords
from isogloss.text.normalization import UNSPACED, normalize
from isogloss.text.positions import plain_words
from isogloss.text.tokenizer import token_spans

DATA = Path(__file__).parents[4] / "shared" / "data"
TRICKY = (
    "aAbzé'’_-.,·:%0 9½㎏ﬁßſİıΣς\u0345\u0301\u0300\u0307\u0323\u0338=\u1cd0\U00016ff0\U0001e94a\u00ad\u200b\u200c\u200d"
    "\ufeff\ufe0f\u0600中國国한각ไทยำ้ั์๓ខ្មែរကျန်ဦລາວ日本ｶﾞがガ\u3099\u1100\u1161\u11a8クー々〇〼𠀀𗀀हि्न\u093c\u064e\u064b"
    "\u0651\u0640٣①ﷺ\x00\x1f\x85\u2028\u00a0\u3000 \n\r\t🏴\U000e0067🏻❤\u0dd9\u0dcf\u0dca\u09c7\u09be\u0bc6\u0bbe"
    "\u1025\u102e𝐀\u0130\ua66e™㍿\ud800…¨´"
)
UNSPACED_CHARACTERS = [c for c in map(chr, range(0x0E00, 0x3100)) if UNSPACED.match(c)]
WORDS = [
    "the", "Straße", "STRASSE", "ﬁn", "l'été", "ΣΊΣΥΦΟΣ", "İstanbul", "mañana", "man\u0303ana", "co\u00adöperate",
    "हिन्दी", "कि\u200dन्दी", "কোথায়", "தமிழ்", "العَرَبِيَّة", "الـــعربية", "ئە\u200cوە", "한국어", "\u1112\u1161\u11ab",
    "LG전자", "中国", "我们的学校在北京", "CSS属性", "東京都に行きました", "カタカナ", "ｶﾀｶﾅ", "属性を", "3月",
    "ภาษาไทย", "น้ำ", "ไทย123", "ABCไทย", "๑,๒", "ខ្មែរ", "မြန်မာ", "ລາວ", "node.js", "👩‍👩‍👧", "❤️",
    "…", "½", "№5", "a_b", "x-y", "(z)", "«q»", "ǰ",
    "end\u00ad", "\u00adbegin", "น้ํา", "คำนำ", "e\u0301\u0323", "\u0e31ก", "เ\u0e49\u0e38", "a\u0334\u0301",
]  # fmt: skip
characters = st.one_of(
    st.characters(), st.characters(categories=["Cs"]), st.sampled_from(TRICKY), st.sampled_from(UNSPACED_CHARACTERS)
)
joined_words = st.lists(
    st.tuples(
        st.sampled_from(WORDS), st.sampled_from(["", " ", "\n", ", ", "\u200b", "\u3000", "。", "\u0301", "\u00ad"])
    ),
    max_size=8,
).map(lambda pairs: "".join(word + between for word, between in pairs))
texts = st.one_of(
    st.text(characters, max_size=20), joined_words, st.tuples(joined_words, st.text(characters)).map("".join)
)


def spans_of_each(found, known):
    """The ``token_spans`` of each text."""
    known += found.new
    words = [known[number] for number in found.ids.tolist()]
    spans = list(zip(found.begins.tolist(), found.ends.tolist(), words, strict=True))
    return [spans[begin:end] for begin, end in pairwise(found.offsets)]


def check_positions(chunks, words):
    known, expected = [], [[token_spans(text) for text in chunk] for chunk in chunks]
    for chunk, spans in zip(chunks, expected, strict=True):
        assert spans_of_each(words(chunk), known) == spans
    assert known == list(dict.fromkeys(word for chunk in expected for spans in chunk for _, _, word in spans))


def check_rows(texts, limit=0, known=lambda word: True):
    tokens = [[word for _, _, word in token_spans(text)] for text in texts]
    words = [word for word in dict.fromkeys(word for text in tokens for word in text) if known(word)]
    ids, offsets = FastTokens(words).ids(texts, limit)
    assert (ids.dtype, offsets.dtype, len(offsets)) == (np.int32, np.int64, len(texts) + 1)
    kept = set(words)
    assert [[words[i] for i in ids[first:last]] for first, last in pairwise(offsets)] == [
        [word for word in text[: limit or None] if word in kept] for text in tokens
    ]


def check(chunks):
    check_positions(chunks, CompiledWords().words)
    check_rows([text for chunk in chunks for text in chunk])


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(texts, min_size=1, max_size=4), max_size=3))
@example([["中\ud800国\udfff"], ["\U0002b441ß\U00016ff0"]])
@example([["a \u0e31ก"], ["é\u0301 中 \u0301"]])
@example([["end\u00ad ½ co\u00ad\u00adop\u00ad, \u00ad\u00adx"]])
@example([["คำนำ คํานํา น้ำ น้ํา"]])
@example([["\u05e9\u05c1\u05bc \u0651\u064e \u0651\u200d\u064e"]])
def test_all_words_of_any_texts_are_found_at_their_positions(chunks):
    check(chunks)


@settings(deadline=None, max_examples=50)
@given(st.lists(texts, max_size=5), st.integers(1, 6), st.integers(1, 3))
def test_a_text_is_cut_before_unknown_words_are_dropped(texts, limit, kept):
    check_rows(texts, limit, known=lambda word: sum(map(ord, word)) % kept == 0)


@settings(deadline=None, max_examples=20)
@given(st.lists(texts, min_size=1, max_size=8), st.integers(1, 40))
def test_blocks_and_batches_make_no_difference(texts, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "_BATCH_CHARACTERS", size)
        patch.setattr(segmentation, "_CHUNK_CHARACTERS", size)
        for module in (rows_module, words_module):
            patch.setattr(module, "BLOCK_CHARACTERS", size)
        check([texts * 2, texts])


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(texts, min_size=1, max_size=4), max_size=3))
def test_without_numba_the_positions_are_the_same(chunks):
    check_positions(chunks, plain_words())


@pytest.mark.parametrize("texts", [[""], ["", "", ""], ["…"], ["a", ""], ["", "中"]], ids=repr)
def test_texts_without_words_are_no_error(texts):
    check([texts])
    ids, offsets = FastTokens([]).ids(texts)
    assert (len(ids), offsets.tolist()) == (0, [0] * (len(texts) + 1))
    assert [array.tolist() for array in FastTokens(["a"]).ids([])] == [[], [0]]


def test_only_words_that_the_tokeniser_makes_are_found():
    words = ["", "two words", "UPPER", "ß", "e\u0301", "中", "é", "ok"]
    found = FastTokens(words).ids(["two words UPPER upper ß e\u0301 中 ok"])
    assert [words[i] for i in found[0]] == ["é", "中", "ok"]


def test_the_first_row_counts_of_a_word_that_occurs_twice():
    assert FastTokens(["b", "a", "b", "a"]).ids(["a b"])[0].tolist() == [1, 0]


def test_a_word_longer_than_any_known_one_is_unknown():
    assert FastTokens(["a" * 5]).ids(["a" * 4 + " " + "a" * 5 + " " + "a" * 5000 + " " + "ß" * 600])[0].tolist() == [0]


@pytest.mark.parametrize("wrap", ["{0}", "a{0}b", "中{0}国", "ไ{0}ท", "é{0}\u0301 {0}", "{0}{0} {0}\u00ad"])
def test_every_single_character_is_tokenised_as_by_the_tokeniser(wrap):
    numbers = [*range(0, 0x20000, 2 if wrap == "{0}" else 11), *range(0x20000, 0x110000, 9973)]
    check([[wrap.format(chr(number)) for number in numbers]])


def test_hard_text_throughout():
    decomposed = [
        "Ces e\u0301te\u0301s-la\u0300, de\u0301ja\u0300 passe\u0301s " * 3,
        "\u1112\u1161\u11ab\u1100\u116e\u11a8 \u1100\u1161",
    ]
    check([[*decomposed, *map(normalize, decomposed)]])
    check([[*decomposed, "\ua66e\u0301 e\u0301 \ua66e", "\n\ua66ee\u0301\n"]])


@pytest.mark.parametrize(
    ("name", "language"), [("mdn", "zh"), ("lohelp", "de"), ("bible", "tl"), ("insuranceqa", "zh")]
)
def test_real_documents(name, language):
    path = DATA / name / f"wiki_{language}.documents.gz"
    if not path.exists():
        pytest.skip("no data")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [line.rstrip("\n").split("\t")[-1] for line, _ in zip(file, range(150), strict=False)]
    check([texts[:100], texts[100:]])

"""The compiled way to words and their places gives what ``token_spans`` gives, character by character."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from isogloss.text import positions as placed
from isogloss.text.compiled import words as compiled_module
from isogloss.text.compiled.words import CompiledWords
from isogloss.text.passages import cut_texts, passage_spans, passages_of_texts
from isogloss.text.tokenizer import Tokenizer, token_spans

DATA = Path(__file__).parents[3] / "shared" / "data"
TRICKY = (
    "aAé'’_-.:0 9½㎏ﬁßſİıΣς™\u0345\u0301\u0307\u0323\u0338=\u1cd0\U00016ff0\u00ad\u200b\u200c\u200d\ufeff\ufe0f\u0600"
    "中國한각ไทยำ้ั์๓ខ្មែរကျန်ဦລາວ日本ｶﾞがガ\u3099\u1100\u1161\u11a8クー々〇〼𠀀𗀀हि्न\u093c\u064e\u064b\u0651\u0640٣①ﷺ㍿"
    "\x00\x1f\x85\u2028\u00a0\u3000 \n\t🏴\U000e0067❤\u0dd9\u0dcf\u09c7\u09be\u1025\u102e𝐀\ua66e\ud800…¨´"
)
WORDS = [
    "the", "Straße", "ﬁn", "l'été", "İstanbul", "man\u0303ana", "co\u00adöperate", "end\u00ad", "\u00adbegin", "हिन्दी",
    "العَرَبِيَّة", "한국어", "\u1112\u1161\u11ab", "LG전자", "我们的学校在北京", "CSS属性", "東京都に行きました", "ｶﾀｶﾅ",
    "3月", "ภาษาไทย", "น้ำ", "น้ํา", "คำนำ", "ไทย123", "๑,๒", "ខ្មែរ", "မြန်မာ", "node.js", "½", "№5", "a_b",
    "ǰ", "e\u0301\u0323",
]  # fmt: skip
characters = st.one_of(st.characters(), st.characters(categories=["Cs"]), st.sampled_from(TRICKY))
between_words = st.sampled_from(["", " ", "\n", ", ", "\u200b", "\u3000", "。", "\u0301", "\u00ad"])
joined_words = st.lists(st.tuples(st.sampled_from(WORDS), between_words).map("".join), max_size=8).map("".join)
texts = st.one_of(
    st.text(characters, max_size=20), joined_words, st.tuples(joined_words, st.text(characters)).map("".join)
)
stretches = st.lists(st.lists(texts, min_size=1, max_size=4), max_size=3)


def spans_of_each(found, known):
    """What ``token_spans`` would say of each text."""
    known += found.new
    words = [known[number] for number in found.ids.tolist()]
    spans = list(zip(found.begins.tolist(), found.ends.tolist(), words, strict=True))
    return [spans[begin:end] for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)]


def check(stretches, words):
    known = []
    for stretch in stretches:
        assert spans_of_each(words(stretch), known) == [token_spans(text) for text in stretch]
    everything = (word for stretch in stretches for text in stretch for _, _, word in token_spans(text))
    assert known == list(dict.fromkeys(everything))


@settings(deadline=None, max_examples=300)
@given(stretches)
@example([["中\ud800国\udfff"]])
@example([["a \u0e31ก"], ["é\u0301 中 \u0301"]])
@example([["end\u00ad ½ co\u00ad\u00adop\u00ad, \u00ad\u00adx"]])
@example([["คำนำ คํานํา น้ำ น้ํา"]])
def test_any_words_are_found_where_they_stand(stretches):
    check(stretches, CompiledWords().words)


@settings(deadline=None, max_examples=30)
@given(st.lists(texts, min_size=1, max_size=8), st.integers(1, 40))
def test_blocks_make_no_difference(texts, size):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_BLOCK_CHARACTERS", "_HARD_CHARACTERS"):
            patch.setattr(compiled_module, name, size)
        check([texts * 2, texts], CompiledWords().words)


@settings(deadline=None, max_examples=30)
@given(stretches)
def test_without_numba_they_are_the_same(stretches):
    check(stretches, placed._plain_words())


@pytest.mark.parametrize("wrap", ["{}", "a{}b", "中{}国", "ไ{}ท", "é{}\u0301 {}", "{0}{0} {0}\u00ad"])
def test_every_single_character_has_its_place(wrap):
    numbers = [*range(0, 0x20000, 7), *range(0x20000, 0x110000, 9973)]
    check([[wrap.replace("{0}", "{}").replace("{}", chr(number)) for number in numbers]], CompiledWords().words)


@pytest.mark.parametrize("texts", [[""], ["", ""], ["…"], ["a", ""], ["", "中"]], ids=repr)
def test_nothing_to_find_is_no_exception(texts):
    check([texts], CompiledWords().words)


@pytest.mark.parametrize(
    ("name", "language"), [("mdn", "fr"), ("mdn", "zh"), ("lohelp", "de"), ("bible", "tl"), ("insuranceqa", "zh")]
)
def test_real_documents(name, language):
    path = DATA / name / f"wiki_{language}.documents.gz"
    if not path.exists():
        pytest.skip("no data")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [line.rstrip("\n").split("\t")[-1] for line, _ in zip(file, range(200), strict=False)]
    check([texts[:120], texts[120:]], CompiledWords().words)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(texts, max_size=6), st.integers(1, 7), st.booleans(),
    st.sampled_from([Tokenizer(), Tokenizer("en", stems=True), Tokenizer("en", stems=True, drop_stop_words=True)]),
)  # fmt: skip
def test_passages_of_many_texts_are_those_of_each(texts, words, fast, tokenizer):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placed, "pays", lambda *_: fast)
        patch.setattr(placed, "_BATCH_CHARACTERS", 20)
        counts, spans = passages_of_texts(texts, words)
        cut = cut_texts(texts, words, tokenizer)
    wanted = [passage_spans(text, words) for text in texts]
    for found in ((counts, spans), cut[:2]):
        assert found[0].tolist() == list(map(len, wanted))
        assert list(map(tuple, found[1].tolist())) == [span for own in wanted for span in own]
        assert (found[0].dtype, found[1].dtype, found[1].shape) == (np.int64, np.int32, (int(counts.sum()), 2))
    assert [cut.terms.text(number) for number in range(len(cut.terms))] == [
        tokenizer.terms(window) for text in texts for window in windows(text, words)
    ]


def windows(text, words):
    """The words of each passage, as they are in the whole text."""
    found = token_spans(text)
    last = max(0, len(found) - words)
    firsts = [*range(0, last, max(1, words // 2)), last]
    return [[word for _, _, word in found[first : first + words]] for first in firsts]


def test_texts_that_are_not_to_be_cut_are_one_passage_each():
    cut = cut_texts(["to be, or not", "", "to be "], 0, Tokenizer())
    assert (cut.counts.tolist(), cut.spans.tolist()) == ([1, 1, 1], [[0, 13], [0, 0], [0, 6]])
    assert [cut.terms.text(number) for number in range(3)] == [["to", "be", "or", "not"], [], ["to", "be"]]

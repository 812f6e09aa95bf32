"""What holds for every string there is."""

import unicodedata

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from isogloss.text.normalization import UNSPACED, WORD, normalize, normalize_aligned
from isogloss.text.tokenizer import token_spans, tokenize

TRICKY = (
    "'’_-.·:%½㎏ﬁßſİıΣς\u0345\u0301\u0307\u0323\u1cd0\U00016ff0\U0001e94a\u00ad\u200b\u200c\u200d\ufeff\ufe0f\u0600"
    "中國한ไทยខ្មែရ日本ｶﾞ\u1100\u1161\u11a8クー々〇𠀀𗀀हि्न\u064e\u0640٣①ﷺ\x00\x1f\x85\u2028 \n\r\t🏴\U000e0067"
)
UNSPACED_CHARACTERS = [c for c in map(chr, range(0x0E00, 0x3100)) if UNSPACED.match(c)]
HAN = st.one_of(
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), st.sampled_from("的一是不了人我在有他这中大来上国")
)
texts = st.text(
    st.one_of(
        st.characters(), st.characters(categories=["Cs"]), st.sampled_from(TRICKY), st.sampled_from(UNSPACED_CHARACTERS)
    ),
    max_size=15,
)
always = settings(deadline=None, max_examples=166)


def letters(text):
    """Its letters and digits, by the Unicode database and not by the tokeniser's patterns."""
    return [c for c in text if unicodedata.category(c)[0] in "LN"]


def word_characters(text):
    """Letters and digits, each with the combining marks that follow it (those of later versions of Unicode too)."""
    kept, inside = [], False
    for character in text:
        category = unicodedata.category(character)
        mark = category[0] == "M" or (category == "Cn" and WORD.fullmatch("a" + character))
        inside = bool(category[0] in "LN" or (inside and mark))
        if inside:
            kept.append(character)
    return "".join(kept)


@always
@given(texts)
@example("中\ud800国\udfff")
@example("\U0002b441ß\U00016ff0")  # a mark that ICU parts from its letter
def test_the_tokens_one_after_another_are_the_word_characters_of_the_normalised_text(text):
    joined = "".join(tokenize(text))
    assert joined == word_characters(normalize(text))
    assert letters(joined) == letters(normalize(text))


@always
@given(texts)
def test_normalising_twice_is_normalising_once(text):
    assert normalize(normalize(text)) == normalize(text)


@always
@given(texts)
def test_the_normalised_text_has_the_same_tokens(text):
    assert tokenize(normalize(text)) == tokenize(text)


@always
@given(texts)
def test_tokens_are_normalised_start_with_a_letter_or_digit_and_hold_no_separator(text):
    for token in tokenize(text):
        assert normalize(token) == token
        assert letters(token[0])
        assert word_characters(token) == token


@always
@given(texts)
def test_a_token_of_a_script_with_spaces_is_its_own_only_token(text):
    for token in tokenize(text):
        assert UNSPACED.search(token) or tokenize(token) == [token]


@always
@given(texts)
@example("LG전자 3월")
def test_words_of_scripts_with_spaces_do_not_depend_on_chinese_elsewhere_in_the_text(text):
    assume(not UNSPACED.search(normalize(text)))
    assert tokenize(f"{text} 中") == [*tokenize(text), "中"]


@always
@given(texts, texts)
def test_texts_joined_by_a_line_end_have_the_tokens_of_both(left, right):
    assert tokenize(f"{left}\n{right}") == tokenize(left) + tokenize(right)


@always
@given(texts)
@example("co\u00adöperate ½ ㎏ ﷺ")
@example("\u1cd0\u0345\U0001e94a")
def test_token_spans_have_the_tokens_of_tokenize_in_places_that_hold_them(text):
    spans = token_spans(text)
    assert [token for _, _, token in spans] == tokenize(text)
    ends = [0, *(end for _, end, _ in spans)]
    for (start, end, token), before in zip(spans, ends, strict=False):
        assert 0 <= start < end <= len(text)
        assert token in normalize(text[start:end])
        assert start >= before or normalize(text[start:before]) not in token  # tokens of one character


@always
@given(texts)
def test_alignment_goes_forward_and_leaves_nothing_visible_out(text):
    normalized, starts, ends = normalize_aligned(text)
    assert normalized == normalize(text)
    assert len(starts) == len(ends) == len(normalized)
    assert list(starts) == sorted(starts)
    assert all(start < end for start, end in zip(starts, ends, strict=True))
    covered = {position for start, end in zip(starts, ends, strict=True) for position in range(start, end)}
    assert all(normalize(text[position]) == "" for position in set(range(len(text))) - covered)


@always
@given(st.text(HAN, min_size=12, max_size=60))
def test_a_run_of_chinese_is_never_one_word(text):
    assert max(map(len, tokenize(text))) < len(text)


@pytest.mark.parametrize("wrap", ["{}", "a{}b", "中{}国", "{0}{0}"])
def test_no_single_character_loses_or_invents_letters(wrap):
    for number in range(0, 0x110000, 7 if wrap == "{}" else 97):
        text = wrap.format(chr(number))
        assert "".join(tokenize(text)) == word_characters(normalize(text)), hex(number)

"""The tables say of each character what the tokeniser does with it."""

import unicodedata

import pytest
from icu4py.breakers import WordBreaker

from isogloss.text.compiled.code_points import (
    BETWEEN,
    CALM,
    CALM_CHAINED,
    CHAINED,
    FOLDED,
    HARD,
    LETTER,
    MARK,
    ODD,
    PLAIN,
    SPACE,
    STARTS,
    UNSPACED,
    code_points,
)
from isogloss.text.normalization import UNSPACED as UNSPACED_PATTERN
from isogloss.text.normalization import WORD, normalize

POINTS = code_points()
INFO, CARE = POINTS.info.tolist(), POINTS.care.tolist()
CHINESE_AND_JAPANESE = ["中国", "のは", "カタ", "々", "〇", "ー", "〱", "・"]
CHAINED_SCRIPTS = ["ไทย", "ລາວ", "ខ្មែរ", "မြန်", "ᥖᥭ", "ᩈᩮ", "ๆ", "ฯ", "ကၽ"]


def folded(number):
    if not INFO[number] & ODD:
        return chr(INFO[number] & FOLDED)
    first, last = POINTS.expansion_starts[(INFO[number] & FOLDED) :][:2]
    return "".join(map(chr, POINTS.expansions[first:last]))


def test_what_is_not_hard_folds_as_it_does_alone():
    for number in range(0x110000):
        if CARE[number] == HARD:
            continue
        expected = normalize(chr(number))
        if len(expected) > 1 and not INFO[number] & ODD:  # several separators are as good as the first of them
            assert not WORD.search(f"{expected}") and not UNSPACED_PATTERN.search(expected)
            expected = expected[0]
        assert folded(number) == expected, hex(number)


def test_letters_marks_and_scripts_are_those_of_the_patterns():
    for number in range(0x20000):
        info = INFO[number]
        if CARE[number] == HARD or not folded(number):
            continue
        first = folded(number)[0]
        assert bool(info & LETTER) == bool(WORD.match(first)), hex(number)
        assert bool(info & MARK) == (bool(WORD.fullmatch(f"a{first}")) and not info & LETTER), hex(number)
        assert bool(info & UNSPACED) == bool(UNSPACED_PATTERN.match(first)), hex(number)
        assert bool(info & SPACE) == (first in " \n\r\t"), hex(number)
        assert bool(info & PLAIN) == bool(info & (LETTER | MARK) and not info & (UNSPACED | ODD)), hex(number)
        assert bool(info & STARTS) == bool(info & PLAIN and info & LETTER), hex(number)


def test_common_letters_are_not_hard():
    text = "abcxyz ABC äöüßéèñçœøå ŁŹ αβγς АБВяё אבג ابتپ हिन्दी বাংলা தமிழ் 한국어 中国日本のカタ ไทยน้ำ ខ្មែរ ’…–«»0123½"
    assert {character for character in text if CARE[ord(character)] == HARD} == {"½"}


@pytest.mark.parametrize(
    ("bit", "neighbours"),
    [(CALM, CHINESE_AND_JAPANESE), (CALM_CHAINED, CHAINED_SCRIPTS + CHINESE_AND_JAPANESE)],
    ids=["calm", "calm chained"],
)
def test_icu_cuts_on_both_sides_of_calm_characters(bit, neighbours):
    calm = [chr(number) for number in range(0x20000) if INFO[number] & bit and normalize(chr(number)) == chr(number)]
    calm = [character for character in calm if unicodedata.category(character) != "Cn" and character not in "\r\n"]
    assert len(calm) > 300
    for neighbour in neighbours:
        alone = list(WordBreaker(neighbour, "en"))
        words = list(WordBreaker("\n".join(neighbour + character + neighbour for character in calm), "en"))
        expected = [word for character in calm for word in [*alone, character, *alone, "\n"]]
        assert words == expected[:-1], neighbour


@pytest.mark.parametrize("neighbour", ["a", "5", " ", "(", ",", "é", "한", "-", "。"])
def test_icu_cuts_between_any_character_without_spaces_and_a_calm_one(neighbour):
    calm = INFO[ord(neighbour)]
    assert calm & CALM
    numbers = [n for n in range(0x20000) if INFO[n] & UNSPACED and not INFO[n] & MARK and CARE[n] != HARD]
    lone = [chr(n) for n in numbers if calm & CALM_CHAINED or not INFO[n] & CHAINED]
    lone = [character for character in lone if normalize(character) == character]
    assert len(lone) > 20_000
    words = list(WordBreaker("\n".join(neighbour + character + neighbour for character in lone), "en"))
    assert words == [word for character in lone for word in [neighbour, character, neighbour, "\n"]][:-1]


@pytest.mark.parametrize("beyond", [*" (,;!-", "\n", "“", "、", *".:'’‘·", ""])
def test_icu_cuts_before_what_stands_between_letters_where_none_follows(beyond):
    between = [
        chr(number) for number in range(0x20000) if INFO[number] & BETWEEN and normalize(chr(number)) == chr(number)
    ]
    assert len(between) == 6
    for neighbour in CHAINED_SCRIPTS:
        alone = list(WordBreaker(neighbour, "en"))
        for character in between:
            assert list(WordBreaker(neighbour + character + beyond, "en"))[: len(alone)] == alone
            assert list(WordBreaker(beyond + character + neighbour, "en"))[-len(alone) :] == alone

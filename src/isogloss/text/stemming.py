"""Stems: Snowball's for the languages that have them, cut to the first letters where that finds more.

The first letters of a word are a stem of it in languages that inflect by suffixes. They stand for more forms than the
rules of Snowball reach, and need no rules at all. How many letters, and in which languages, was chosen by searching
translated texts (``benchmarks/stemmers.py``, docs/results/appendix/languages.md). Korean and Hebrew have rules of their
own (:mod:`isogloss.text.korean`, :mod:`isogloss.text.hebrew`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from isogloss.text.hebrew import hebrew_stem
from isogloss.text.korean import korean_stem

_LATIN = {
    "cs", "da", "et", "eu", "fi", "hr", "hu", "is", "lt", "lv", "nb", "nl", "pl", "ro", "sk", "sl", "sq", "sv", "tr",
}  # fmt: skip
_OTHER_SCRIPTS = {"bg", "bn", "mk", "mr", "te", "uk"}
_LETTERS = 5
_NUMBERS = re.compile(r"\d")  # words that are not cut
_NUMBERS_AND_NAMES = re.compile(r"[\da-z]")  # the same in other scripts, where Latin letters are of names and commands
_WHOLE = dict.fromkeys(_LATIN, _NUMBERS) | dict.fromkeys(_OTHER_SCRIPTS, _NUMBERS_AND_NAMES)
_SNOWBALL_CODES = {"nb": "no", "nn": "no"}
_RULES = {"ko": korean_stem, "he": hebrew_stem}


def stem(words: Sequence[str], language: str | None) -> list[str]:
    """The stems of the words; the words themselves where the language has no stemmer.

    >>> stem(["horses", "running"], "en"), stem(["книгами", "css2"], "uk"), stem(["farasi"], "sw")
    (['hors', 'run'], ['книга', 'css2'], ['farasi'])
    """
    if language in _RULES:
        return list(map(_RULES[language], words))
    stemmer = snowball(language) if language else None
    stems = stemmer.stemWords(list(words)) if stemmer else words
    if language in _WHOLE:
        stems = [found if _WHOLE[language].search(found) else found[:_LETTERS] for found in stems]
    return [found or word for found, word in zip(stems, words, strict=True)]  # the stem of some short words is empty


@lru_cache(maxsize=None)
def snowball(language: str) -> Any:
    """Snowball's stemmer of a language; None where there is none."""
    import Stemmer  # here, so that training runs where it is not installed

    code = _SNOWBALL_CODES.get(language, language)
    try:
        return Stemmer.Stemmer(code) if len(code) == 2 else None  # Snowball knows the codes of ISO 639-1
    except KeyError:
        return None

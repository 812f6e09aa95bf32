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

import numpy as np
from numpy.typing import NDArray

from isogloss.text.hebrew import hebrew_stem
from isogloss.text.korean import korean_stem

_LATIN = {
    "cs", "da", "et", "eu", "fi", "hr", "hu", "is", "lv", "nb", "nl", "pl", "ro", "sk", "sl", "sq", "sv", "tr",
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


def as_forms(frequencies: NDArray[np.float64], words: Sequence[str], stems: Sequence[str]) -> NDArray[np.float64]:
    """The frequencies of words by those of their stems: half as much for each letter that the stem leaves out."""
    for i in np.flatnonzero(frequencies).tolist():
        frequencies[i] *= 0.5 ** max(0, len(words[i]) - len(stems[i]))
    return frequencies


def stemmer_name(language: str) -> str:
    """What makes the stems of a language; empty where it has none.

    >>> [stemmer_name(language) for language in ("de", "fi", "uk", "ko", "sw")]
    ['Snowball', 'Snowball, first 5 letters', 'first 5 letters', 'rules', '']
    """
    if language in _RULES:
        return "rules"
    parts = ("Snowball" if snowball(language) else "", f"first {_LETTERS} letters" if language in _WHOLE else "")
    return ", ".join(filter(None, parts))


@lru_cache(maxsize=None)
def snowball(language: str) -> Any:
    """Snowball's stemmer of a language; None where there is none."""
    import Stemmer  # here, so that training runs where it is not installed

    code = _SNOWBALL_CODES.get(language, language)
    try:
        # Snowball knows the codes of ISO 639-1. Its cache costs more than stemming, as soon as words are many.
        return Stemmer.Stemmer(code, 0) if len(code) == 2 else None
    except KeyError:
        return None

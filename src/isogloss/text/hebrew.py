"""Stems of Hebrew words: prefixed words and common endings are cut off.

And, the, in, to, as, from and that are single letters, written together with the word that follows (ובבית: and in the
house). At most two are cut off where four letters are left, then one ending of number, gender or owner where three are.
Vowel points are dropped.
"""

from __future__ import annotations

import re

_POINTS = re.compile("[\u0591-\u05c7]+")
_PREFIXES = "והבלכמש"
_ENDINGS = ("יות", "יים", "ים", "ות", "ית", "יה", "ה", "ת", "י")


def hebrew_stem(word: str) -> str:
    """The stem of a normalised word.

    >>> [hebrew_stem(word) for word in ("הקבצים", "קבצים", "ובתיקיות", "שלום", "html")]
    ['קבצ', 'קבצ', 'תיק', 'שלום', 'html']
    """
    word = _POINTS.sub("", word) or word
    for _ in range(2):
        if word[0] in _PREFIXES and len(word) > 4:
            word = word[1:]
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= 3), "")
    return word.removesuffix(ending)

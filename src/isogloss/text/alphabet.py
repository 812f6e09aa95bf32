"""The alphabet of a language, by the words that are known of it."""

from __future__ import annotations

import numpy as np

_LETTERS = (
    0x0700  # scripts with alphabets are before it; those after it have syllables, vowel signs or thousands of signs
)
_LEAST = 5e-4  # the share of a letter: rarer ones are of foreign words
_MOST = 64


def alphabet(text: str) -> str:
    """The letters of a text that are not rare in it, the most frequent first; none of scripts without an alphabet.

    >>> alphabet("été 東京 tee")
    'eté'
    """
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), "<u4")
    counts = np.bincount(codes[codes < _LETTERS], minlength=1)
    frequent = np.argsort(-counts, kind="stable")[: int(np.count_nonzero(counts > _LEAST * max(1, counts.sum())))]
    letters = [letter for letter in map(chr, frequent.tolist()) if letter.isalpha() and letter == letter.casefold()]
    return "".join(letters[:_MOST])

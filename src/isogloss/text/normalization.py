"""One spelling for one word: compatibility forms, letter case and invisible characters are folded away."""

from __future__ import annotations

import re
import unicodedata

# Soft hyphens, joiners, direction marks, variation selectors: they steer how text is drawn and say nothing about which
# word it is. The zero width space U+200B is not among them: Thai and Khmer writers use it to separate words.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)
_ROUNDS = 8  # a fixed point is reached after two or three on any text; the bound only guards against a loop without end


def normalize(text: str) -> str:
    """Fold compatibility forms (NFKC), case and invisible characters; a second call changes nothing.

    >>> normalize("ﬁancée STRASSE Straße Ｗｉｄｅ")
    'fiancée strasse strasse wide'
    """
    if text.isascii():
        return text.lower()
    for _ in range(_ROUNDS):
        folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold())
        if folded == text:
            break
        text = folded
    return text

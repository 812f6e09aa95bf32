"""Snowball stems, for the languages that have them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

SNOWBALL_NAMES = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""ISO 639-1 codes to the names of the languages in Snowball and PostgreSQL."""


def stem(words: Sequence[str], language: str | None) -> list[str]:
    """The stems of the words; the words themselves where the language has no stemmer.

    >>> stem(["horses", "running"], "en"), stem(["farasi"], "sw")
    (['hors', 'run'], ['farasi'])
    """
    stemmer = _stemmer(language) if language else None
    if stemmer is None:
        return list(words)
    stems = stemmer.stemWords(list(words))
    return [found or word for found, word in zip(stems, words, strict=True)]  # the stem of some short words is empty


@lru_cache(maxsize=None)
def _stemmer(language: str) -> Any:
    if language not in SNOWBALL_NAMES:
        return None
    import Stemmer  # here, so that training runs where it is not installed

    name = SNOWBALL_NAMES[language]
    return Stemmer.Stemmer(name) if name in Stemmer.algorithms() else None  # older ones have fewer

"""Snowball stems, for the languages that have them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any


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


def has_stems(language: str) -> bool:
    """Whether a language has a stemmer.

    >>> has_stems("de"), has_stems("sw")
    (True, False)
    """
    return _stemmer(language) is not None


@lru_cache(maxsize=None)
def _stemmer(language: str) -> Any:
    import Stemmer  # here, so that training runs where it is not installed

    try:
        return Stemmer.Stemmer(language) if len(language) == 2 else None  # Snowball knows the codes of ISO 639-1
    except KeyError:
        return None

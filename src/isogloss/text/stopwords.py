"""Stop words: one data file a language beside this module, one word a line."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from isogloss.text.normalization import WORD, normalize

_FOLDER = resources.files("isogloss.text").joinpath("stopwords")


@lru_cache(maxsize=None)
def stop_words(language: str | None) -> frozenset[str]:
    """The stop words of a language as tokens; empty where there is no list.

    >>> "the" in stop_words("en"), stop_words("xx")
    (True, frozenset())
    """
    if language not in stop_word_languages():
        return frozenset()
    lines = _FOLDER.joinpath(f"{language}.txt").read_text("utf-8").splitlines()
    return frozenset(token for line in lines if not line.startswith("#") for token in WORD.findall(normalize(line)))


@lru_cache(maxsize=1)
def stop_word_languages() -> tuple[str, ...]:
    """The languages that have a list."""
    return tuple(sorted(entry.name.removesuffix(".txt") for entry in _FOLDER.iterdir() if entry.name.endswith(".txt")))

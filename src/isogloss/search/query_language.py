"""The language of a query, and a note for the user where it is not the one that the index expects."""

from __future__ import annotations

from collections.abc import Collection

from isogloss.storage.errors import InputError
from isogloss.text.language import identify_language
from isogloss.text.tokenizer import tokenize

_FEWEST_WORDS = 4
_MOST_WORDS = 20


def guess_query_language(query: str, expected: str, others: Collection[str] = ()) -> str | None:
    """The language of a query, among the expected one, some others and English; None where it is not clear.

    Fewer than four words are not enough. Of more, the answer must stay the same whichever word is left out: on the 190
    longer queries of the bundled collection that lowers the false alarms from 11 to 3 and keeps nine of ten true ones.

    >>> guess_query_language("pourquoi la mer est-elle salée", "en", ["fr", "sw"])
    'fr'
    """
    words = tokenize(query)[:_MOST_WORDS]
    if len(words) < _FEWEST_WORDS or not _recognisable(expected):
        return None
    parts = (words, *(words[:left_out] + words[left_out + 1 :] for left_out in range(len(words))))
    guesses = {identify_language(" ".join(part), {expected, "en", *others}) for part in parts}
    return guesses.pop() if len(guesses) == 1 else None


def language_note(language: str | None, expected: str, of_documents: Collection[str]) -> str:
    """One line for the user where a query is not in the language that the index expects; otherwise empty."""
    if language in (None, expected):
        return ""
    whose = ", the language of the documents themselves" if language in of_documents else ""
    return f"this looks like a query in {language!r}{whose}; the index expects queries in {expected!r}"


def _recognisable(language: str) -> bool:
    try:
        return bool(identify_language("", {language}))
    except InputError:
        return False

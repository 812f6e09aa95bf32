"""Language codes, and which language a text is in, by py3langid (offline, over a hundred languages)."""

from __future__ import annotations

from collections.abc import Collection

from isogloss.storage.errors import InputError

_LONGEST_CODE = 35  # as RFC 5646 advises
_RESERVED = ("deleted", "orders", "segments", "shared", "source")  # folders of an index


def check_language(code: str) -> None:
    """Raise unless it can be a language code, which names a folder of an index."""
    if not code.replace("-", "").isalnum() or len(code) > _LONGEST_CODE or code in _RESERVED:
        raise InputError(f"language: {code!r} is not a language code, like fr or zh")


def identify_language(text: str, among: Collection[str] | None = None) -> str:
    """The code of the likeliest language, among those in ``among`` or else among those with two letters (ISO 639-1).

    >>> identify_language("Le chat dort sur la chaise", among=("en", "fr"))
    'fr'
    """
    import py3langid  # its model takes a moment to load: not at start-up

    for language, _ in py3langid.rank(text):
        if language in among if among is not None else len(language) == 2:
            return str(language)
    names = ", ".join(sorted(among or ()))
    raise InputError(f"language: {names or 'none'} cannot be recognised in a text; give each document its 'lang'")

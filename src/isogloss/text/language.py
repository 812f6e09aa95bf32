"""Which language a text is in, by py3langid (offline, over a hundred languages)."""

from __future__ import annotations

from collections.abc import Collection

from isogloss.storage.errors import InputError


def identify_language(text: str, among: Collection[str] | None = None) -> str:
    """The code of the likeliest language, among the given ones or else among those with two letters (ISO 639-1).

    >>> identify_language("Le chat dort sur la chaise", among=("en", "fr"))
    'fr'
    """
    import py3langid  # its model takes a moment to load: not at start-up

    for language, _ in py3langid.rank(text):
        if language in among if among is not None else len(language) == 2:
            return str(language)
    names = ", ".join(sorted(among or ()))
    raise InputError(f"language: {names or 'none'} cannot be recognised in a text; give each document its 'lang'")

"""Which language a text is in, by py3langid (offline, about a hundred languages)."""

from __future__ import annotations

from collections.abc import Collection


def identify_language(text: str, among: Collection[str] | None = None) -> str:
    """The ISO 639-1 code of the likeliest language, among the given ones if any are given.

    >>> identify_language("Le chat dort sur la chaise", among=("en", "fr"))
    'fr'
    """
    import py3langid  # its model takes a moment to load: not at start-up

    for language, _ in py3langid.rank(text):
        if among is None or language in among:
            return str(language)
    raise ValueError(f"none of these languages is known: {', '.join(sorted(among or ()))}")

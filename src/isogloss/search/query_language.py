"""Which of an index's query languages a query is in."""

from __future__ import annotations

from isogloss.index.reader import OpenIndex
from isogloss.text.language import identify_language


def detect_query_language(query: str, index: OpenIndex) -> str:
    """The likeliest language of a query among those that the index takes queries in."""
    among = index.manifest.query_languages
    return among[0] if len(among) == 1 else identify_language(query, among)

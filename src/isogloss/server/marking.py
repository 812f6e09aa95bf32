"""Which words of a hit to mark: those that helped to find it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache

from isogloss.search.hits import Hit
from isogloss.search.searcher import Searcher
from isogloss.systems.base import Contribution
from isogloss.text.tokenizer import tokenize

_PARTS = 10  # of a long query only what counted most is marked
_SECONDS = 0.25  # for explanations that are made only to mark words

Translations = Mapping[str, Sequence[tuple[str, Sequence[str]]]]


class Marking:
    """The terms to mark in the hits of one query.

    Where a hit is explained, they are those of its explanation. Else they are the translations of the query's words,
    which are known already, and the words that have none; explaining every hit costs more than finding it. Where the
    system translates no words but explains quickly, hits are explained after all, as long as that does not take long:
    by what found them, also where the score is a re-ranker's.
    """

    def __init__(self, searcher: Searcher, query: str, translations: Translations) -> None:
        self._searcher = searcher
        self._query = query
        self._translations = translations
        self._translated: dict[str, frozenset[str | None]] = {}
        self._until = time.monotonic() + _SECONDS
        self._term_of = {language: cache(shelf.system.term_of) for language, shelf in searcher.languages.items()}

    def of(self, hit: Hit) -> Callable[[str], bool]:
        """Whether a word of a hit is to be marked."""
        if hit.reranked and hit.explanation:
            return _terms_met(hit.explanation).__contains__
        terms, term_of = self._terms(hit), self._term_of[hit.language]
        return lambda word: term_of(word) in terms

    def _terms(self, hit: Hit) -> Collection[str | None]:
        explanation = hit.explanation
        quick = self._searcher.languages[hit.language].system.explains_quickly
        if not explanation and (self._translations.get(hit.language) or not quick):
            return self._from_translations(hit.language)
        if not explanation and time.monotonic() < self._until:
            explanation = self._searcher.explain(self._query, hit.language, hit.document.id)
        return _terms_met(explanation)

    def _from_translations(self, language: str) -> frozenset[str | None]:
        if language not in self._translated:
            translations = self._translations[language]
            known = {word for words, _ in translations for word in tokenize(words)}
            words = [word for _, others in translations for other in others for word in tokenize(other)]
            words += [word for word in tokenize(self._query) if word not in known]
            self._translated[language] = frozenset(map(self._term_of[language], words)) - {None}
        return self._translated[language]


def _terms_met(explanation: Sequence[Contribution]) -> set[str]:
    return {term for part in explanation[:_PARTS] for term in part.document_words}

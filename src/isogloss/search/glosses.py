"""Glosses of the hits of a search, by what the systems of the index know or by what this machine has.

A machine translator that the user names translates title and snippet beside that. Nothing of an index says which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import cache

from isogloss.data.documents import Document
from isogloss.search.gloss import Gloss, MachineTranslation, Twin
from isogloss.search.hits import Hit, Hits
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import Snippet, SnippetMaker
from isogloss.storage.deadline import check
from isogloss.storage.errors import InputError
from isogloss.systems.glossers import glosser_at_hand
from isogloss.text.language_names import language_name
from isogloss.translation.glossing import Glosser
from isogloss.translation.machine import open_machine_translator

MOST_GLOSSED = 10_000  # characters of a document
_LONGEST = 1_000  # letters of a title
_MARKED = 10  # parts of an explanation whose words are marked


class Glosses:
    """Glosses hits of a searcher for a reader of the language of its queries.

    ``translator`` is what the user names (:mod:`isogloss.translation.machine`). ``note`` says in one line what the
    reader should know: of which languages there is no gloss, or why nothing was translated.
    """

    def __init__(self, searcher: Searcher, translator: str = "") -> None:
        self._searcher, self._translator = searcher, translator
        self.note = ""

    def of(self, query: str, shown: Sequence[tuple[Hit, Snippet]]) -> list[Gloss | None]:
        """The gloss of each hit with its snippet; None for a document in the reader's language, or of unknown words."""
        made = [self._gloss(query, hit, snippet) for hit, snippet in shown]
        for language in dict.fromkeys(hit.language for hit, _ in shown if hit.language != self._reader):
            if self._translator:
                numbers = [number for number, (hit, _) in enumerate(shown) if hit.language == language]
                self._translate(language, [shown[number] for number in numbers], numbers, made)
        self._note_missing({hit.language for (hit, _), gloss in zip(shown, made, strict=True) if gloss is None})
        return made

    def of_document(self, query: str, language: str, document: Document) -> Gloss | None:
        """The gloss of title and text, of which the first ``MOST_GLOSSED`` characters are glossed."""
        glosser, text = self._glosser(language), document.text[:MOST_GLOSSED]
        if glosser is None:
            self._note_missing({language})
            return None
        if len(document.text) > MOST_GLOSSED:
            self.note = f"the first {MOST_GLOSSED:,} characters of this text have a gloss"
        return Gloss(self._reader, glosser.gloss(_cut(document.title), query, around=text), glosser.gloss(text, query))

    def _note_missing(self, languages: Set[str]) -> None:
        missing = sorted(languages - {self._reader})
        if missing and not self.note:
            names = ", ".join(map(language_name, missing))
            way = f"'isogloss languages {missing[0]}' says what would help"
            self.note = f"no gloss of {names}: nothing here translates its words into {self._reader!r}; {way}"

    @property
    def _reader(self) -> str:
        return self._searcher.query_language

    def _glosser(self, language: str) -> Glosser | None:
        known = language != self._reader and language in self._searcher.languages
        return glosser_of(self._searcher, language) if known else None

    def _gloss(self, query: str, hit: Hit, snippet: Snippet) -> Gloss | None:
        check()
        glosser = self._glosser(hit.language)
        if glosser is None:
            return None
        met = _met_by(self._searcher, hit)
        title = glosser.gloss(shown_title(hit), query, (), met, snippet.text)
        return Gloss(self._reader, title, glosser.gloss(snippet.text, query, snippet.marks, met))

    def _translate(
        self, language: str, shown: Sequence[tuple[Hit, Snippet]], numbers: Sequence[int], made: list[Gloss | None]
    ) -> None:
        """Put translations into the glosses; where that fails they stay as they are, and the note says why."""
        try:
            translator = open_machine_translator(self._translator, language, self._reader)
            titles = [shown_title(hit) for hit, _ in shown]
            found = translator.translate([*titles, *(snippet.text for _, snippet in shown)])
        except InputError as error:
            self.note = f"not translated: {' '.join(str(error).split())}"
            return
        for number, title, snippet in zip(numbers, found[: len(shown)], found[len(shown) :], strict=True):
            translation = MachineTranslation(title, snippet, translator.name)
            made[number] = replace(made[number] or Gloss(self._reader, (), ()), translation=translation)


def glosser_of(searcher: Searcher, language: str) -> Glosser | None:
    """What glosses documents in a language: what their system knows, or what is at hand on this machine."""
    return searcher.languages[language].system.glosser() or glosser_at_hand(searcher.query_language, language)


def twin_of(searcher: Searcher, hit: Hit) -> Twin | None:
    """The page that translates a hit into the language of the query, where the index keeps it."""
    language = searcher.query_language
    id_ = hit.document.translations.get(language)
    pages = searcher.index.sources.get(language) if id_ and hit.language != language else None
    row = pages.find(id_) if pages is not None and id_ else None
    if pages is None or row is None:
        return None
    page = pages[row]
    return Twin(language, page.id, page.title, page.url)


def glossed(searcher: Searcher, query: str, hits: Hits, translator: str = "") -> Hits:
    """The hits, each with its gloss and its twin."""
    snippet_of = SnippetMaker(searcher, query, searcher.query_language)
    glosses = Glosses(searcher, translator).of(query, [(hit, snippet_of(hit)) for hit in hits])
    hits[:] = [replace(hit, gloss=gloss, twin=twin_of(searcher, hit)) for hit, gloss in zip(hits, glosses, strict=True)]
    return hits


def shown_title(hit: Hit) -> str:
    """The title of a hit, cut where it is very long."""
    return _cut(hit.document.title)


def _cut(title: str) -> str:
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"


def _met_by(searcher: Searcher, hit: Hit) -> Callable[[str], str | None]:
    """From a word of a hit to the word of the query that it met, by the explanation of the hit."""
    term_of = cache(searcher.term_of(hit.language, hit.reranked))
    met: dict[str, str] = {}
    for part in hit.explanation[:_MARKED]:
        for term in part.document_words:
            met.setdefault(term, part.query_word)
    return lambda token: met.get(term_of(token) or "") if met else None

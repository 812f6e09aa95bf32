"""Judgments from links, as WikiCLIR makes them (Sasaki et al. 2018).

The query is the first sentence of a page without the words of its title. Its translation in the document language is
relevant (grade 2); pages there that link to the translation and are linked from it are partially relevant (grade 1).
The queries of a page with a list in ``fields["queries"]`` are those instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.source import Pair
from isogloss.text.normalization import UNSPACED, WORD, normalize
from isogloss.text.tokenizer import tokenize


class GradedPages:
    """Pages of several languages and the judgments from their links."""

    def __init__(self, pages: Iterable[Document], minimum_words: int = 1) -> None:
        self.pages: dict[str, Document] = {}
        for page in pages:
            self.pages.setdefault(page.id, page)
        self.minimum_words = minimum_words
        self._by_language: dict[str, list[Document]] = {}
        for page in self.pages.values():
            self._by_language.setdefault(page.language, []).append(page)
        self._named_by = {
            (translation, page.language): page.id
            for page in self.pages.values()
            for translation in page.translations.values()
        }

    @property
    def languages(self) -> list[str]:
        """The languages of the pages."""
        return sorted(language for language in self._by_language if language)

    def pairs(self, query_languages: Sequence[str] | None = None) -> list[Pair]:
        """The pairs of languages with judgments, with queries in ``query_languages`` or in any language."""
        every = [(query, document) for query in query_languages or self.languages for document in self.languages]
        return [
            pair for pair in every if any(True for page in self.documents(pair[0]) for _ in self._grades(page, pair[1]))
        ]

    def documents(self, language: str) -> list[Document]:
        """The pages of a language."""
        return self._by_language.get(language, [])

    def queries(self, language: str) -> list[Query]:
        """The queries of a language, page by page."""
        return [query for page in self.documents(language) for query in self.queries_of(page)]

    def judgments(self, pair: Pair) -> list[Judgment]:
        """The judgments between the queries of one language and the pages of another."""
        return [judgment for page in self.documents(pair[0]) for judgment in self.judgments_of(page, pair[1])]

    def groups(self, language: str) -> dict[str, str]:
        """Query id to its page's translation set: all queries about one topic stay in one split."""
        return {
            query.id: min((page.id, *page.translations.values()))
            for page in self.documents(language)
            for query in self.queries_of(page)
        }

    def queries_of(self, page: Document) -> list[Query]:
        """The queries that are made from a page."""
        own = page.fields.get("queries")
        if isinstance(own, list):
            return [
                Query(f"{page.id}.{n}", str(text), page.title, page.language) for n, text in enumerate(own, start=1)
            ]
        text = without_title(first_sentence(page.text, page.language), page.title)
        return [Query(page.id, text, page.title, page.language)] if len(tokenize(text)) >= self.minimum_words else []

    def judgments_of(self, page: Document, language: str) -> Iterator[Judgment]:
        """The judgments of a page's queries in a language of documents."""
        for query in self.queries_of(page):
            for document, grade in self._grades(page, language):
                yield Judgment(query.id, document, grade)

    def _grades(self, page: Document, language: str) -> Iterator[tuple[str, int]]:
        target = self._translation(page, language)
        if target is None:
            return
        yield target.id, 2
        for linked_id in dict.fromkeys(target.links):
            linked = self.pages.get(linked_id)
            if linked and linked.id != target.id and linked.language == language and target.id in linked.links:
                yield linked.id, 1

    def _translation(self, page: Document, language: str) -> Document | None:
        """The translation of a page, whichever of the two names the other."""
        if page.language == language:
            return page
        for id_ in (page.translations.get(language), self._named_by.get((page.id, language))):
            found = self.pages.get(id_) if id_ else None
            if found and found.language == language:
                return found
        return None


def first_sentence(text: str, language: str = "") -> str:
    """The first sentence, by ICU's sentence boundaries.

    >>> first_sentence("A cat is an animal. It sleeps.")
    'A cat is an animal.'
    """
    from icu4py.breakers import SentenceBreaker

    return next((found.strip() for found in SentenceBreaker(text, language or "en") if found.strip()), "")


def without_title(sentence: str, title: str) -> str:
    """The sentence without the words of the title, whatever their case.

    >>> without_title("The Great Wall is a wall in China.", "Great wall")
    'The is a in China.'
    """
    if UNSPACED.search(title):
        sentence = sentence.replace(title, "")
    words = set(WORD.findall(normalize(title)))
    kept = WORD.sub(lambda match: "" if normalize(match[0]) in words else match[0], sentence)
    return re.sub(r"\s+([.,;:!?])", r"\1", re.sub(r"\s+", " ", kept)).strip()

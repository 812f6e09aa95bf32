"""Hits, explanations and documents as messages; the matching words of a hit are marked."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from isogloss.data.documents import Document
from isogloss.search.hits import Hit
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import Snippet, reasons_of, snippet_of
from isogloss.server.models import DocumentMessage, HitMessage, Reason, SnippetPart, Translations
from isogloss.systems.base import Contribution
from isogloss.text.tokenizer import tokenize

_PARTS = 10  # of a long query only what counted most is marked
_SECONDS = 0.25  # for explanations that are made only to mark words

WordTranslations = Sequence[tuple[str, Sequence[str]]]


class Marking:
    """The terms to mark in the hits of one query.

    Where a hit is explained, they are those of its explanation. Else they are the translations of the query's words,
    which are known already, and the words that have none; explaining every hit costs more than finding it. Where the
    system translates no words but explains quickly, hits are explained after all, as long as that does not take long:
    by what found them, also where the score is a re-ranker's.
    """

    def __init__(self, searcher: Searcher, query: str, translations: Mapping[str, WordTranslations]) -> None:
        self._searcher, self._query, self._translations = searcher, query, translations
        self._translated: dict[str, frozenset[str | None]] = {}
        self._until = time.monotonic() + _SECONDS
        self._term_of = {language: cache(part.system.term_of) for language, part in searcher.languages.items()}

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


def hit_message(searcher: Searcher, hit: Hit, rank: int, is_match: Callable[[str], bool], explain: bool) -> HitMessage:
    """A hit, its snippet with the words that match marked, with its reasons if they are wanted."""
    document = hit.document
    snippet = snippet_of(searcher, hit, is_match)
    values: dict[str, Any] = {
        "rank": rank, "score": float(hit.score), "language": hit.language, "id": document.id, "title": document.title,
        "url": document.url, "fields": dict(document.fields), "relevance": hit.relevance, "reranked": hit.reranked,
    }  # fmt: skip
    try:
        return HitMessage(
            **values,
            snippet=snippet_parts(snippet),
            explanation=reasons(searcher, hit.language, document, hit.explanation, hit.reranked) if explain else None,
        )
    except ValidationError:  # a lone surrogate, from a file name say
        return HitMessage(**_printable(values), snippet=snippet_parts(_printable(snippet)), explanation=None)


def snippet_parts(snippet: Snippet) -> list[SnippetPart]:
    """A snippet cut at its marks: whoever shows it need not know what this side calls a character.

    >>> [(part.text, part.match) for part in snippet_parts(Snippet("le sel fin", ((3, 6),), ("sel",)))]
    [('le ', False), ('sel', True), (' fin', False)]
    """
    parts, position = [], 0
    for begin, end in snippet.marks:
        parts += [(snippet.text[position:begin], False), (snippet.text[begin:end], True)]
        position = end
    parts.append((snippet.text[position:], False))
    return [SnippetPart(text=text, match=match) for text, match in parts if text]


def reasons(
    searcher: Searcher, language: str, document: Document, parts: Sequence[Contribution], reranked: bool
) -> list[Reason]:
    """Which query words matched which document words, and their scores."""
    found = reasons_of(searcher, language, document, parts, reranked)
    return [Reason(query_word=word, document_words=list(words), score=score) for word, words, score in found]


def translations_message(translations: WordTranslations) -> list[Translations]:
    """Words of a query and their translations."""
    return [Translations(word=word, translations=list(others)) for word, others in translations]


def document_message(document: Document, language: str) -> DocumentMessage:
    """A document as a line of a ``jsonl:`` source."""
    return DocumentMessage.model_construct(  # what is stored is not validated again
        id=document.id, text=document.text, title=document.title, lang=document.language or language, url=document.url,
        links=list(document.links), translations=dict(document.translations), fields=dict(document.fields),
    )  # fmt: skip


def document_of(message: DocumentMessage) -> Document:
    """The document that a message brings."""
    return Document(
        message.id, message.text, message.title, message.lang, message.url, tuple(message.links), message.translations,
        message.fields,
    )  # fmt: skip


def encoded(answer: BaseModel, brief: bool = False) -> bytes:
    """An answer as JSON; ``brief``: without what has its default."""
    try:
        return answer.__pydantic_serializer__.to_json(answer, exclude_defaults=brief)
    except PydanticSerializationError:
        return to_json(_printable(answer.model_dump(exclude_defaults=brief)))


def _printable(value: Any) -> Any:
    """The same with lone surrogates written as escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Snippet):
        return Snippet(_printable(value.text), (), value.words)
    if isinstance(value, Mapping):
        return {_printable(name): _printable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_printable(inner) for inner in value]
    return value

"""Hits, explanations and documents as messages; the matching words of a hit are marked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from isogloss.data.documents import Document
from isogloss.search.facets import Facets
from isogloss.search.hits import Hit, Hits
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import Snippet, content_parts, content_words, reasons_of, snippet_of, translated_terms
from isogloss.search.spelling import Correction
from isogloss.server.models import (
    CorrectionMessage,
    DocumentAnswer,
    DocumentMessage,
    ExplainParameters,
    FacetsMessage,
    FacetValue,
    HitMessage,
    Reason,
    SnippetPart,
    Translations,
)
from isogloss.systems.base import Contribution
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import tokenize

_PARTS = 10  # of a long query only what counted most is marked
_SECONDS = 0.25  # for explanations that are made only to mark words
_LONGEST = 1_000  # letters of a title, an address or a value that a hit shows; the document has them whole
_MOST_LETTERS = 10_000  # of the fields of a hit
_DEEPEST = 16  # levels of the fields
_WRITTEN = 100  # levels of a document that can be written
_LARGEST = 1 << 64  # of whole numbers

WordTranslations = Sequence[tuple[str, Sequence[str]]]


class Marking:
    """The terms to mark in the hits of one query.

    Where a hit is explained, they are those of its explanation. Else they are the translations of the query's words,
    which are known already, and the words that have none; explaining every hit costs more than finding it. Where the
    system translates no words but explains quickly, hits are explained after all, as long as that does not take long:
    by what found them, also where the score is a re-ranker's. Where it does, the words of the query are marked.
    """

    def __init__(self, searcher: Searcher, query: str, translations: Mapping[str, WordTranslations]) -> None:
        self._searcher, self._query = searcher, query
        self._words = content_words(query, searcher.query_language)
        self._translations = {
            language: [each for each in words if not {*tokenize(each[0])}.isdisjoint(self._words)]
            for language, words in translations.items()
        }
        self._translated: dict[str, frozenset[str | None]] = {}
        self._until = time.monotonic() + _SECONDS
        self._term_of = {language: cache(part.system.term_of) for language, part in searcher.languages.items()}

    def of(self, hit: Hit) -> Callable[[str], bool]:
        """Whether a word of a hit is to be marked."""
        stops = stop_words(hit.language)
        terms: Collection[str | None]
        if hit.reranked and hit.explanation:
            terms = self._terms_met(hit.explanation)
            return lambda word: word in terms and word not in stops
        terms, term_of = self._terms(hit), self._term_of[hit.language]
        return lambda word: word not in stops and term_of(word) in terms

    def _terms(self, hit: Hit) -> Collection[str | None]:
        explanation = hit.explanation
        quick = self._searcher.languages[hit.language].system.explains_quickly
        if not explanation and (self._translations.get(hit.language) or not quick):
            return self._from_translations(hit.language)
        if not explanation and time.monotonic() > self._until:
            return self._from_translations(hit.language)
        return self._terms_met(explanation or self._searcher.explain(self._query, hit.language, hit.document.id))

    def _from_translations(self, language: str) -> frozenset[str | None]:
        if language not in self._translated:
            own = self._translations.get(language, [])
            self._translated[language] = translated_terms(self._words, own, self._term_of[language])
        return self._translated[language]

    def _terms_met(self, explanation: Sequence[Contribution]) -> set[str]:
        parts = content_parts(explanation, self._searcher.query_language)
        return {term for part in parts[:_PARTS] for term in part.document_words}


def hit_message(
    searcher: Searcher, hit: Hit, rank: int, is_match: Callable[[str], bool], explain: bool,
    snippet: Snippet | None = None,
) -> HitMessage:  # fmt: skip
    """A hit, its snippet with the words that match marked, with its reasons if they are wanted."""
    document = hit.document
    snippet = snippet or snippet_of(searcher, hit, is_match)
    values: dict[str, Any] = {
        "rank": rank, "score": float(hit.score), "language": hit.language, "id": document.id,
        "url": document.url, "fields": _Shortened(_MOST_LETTERS).value(dict(document.fields)),
        "relevance": hit.relevance, "reranked": hit.reranked, "chance": hit.chance, "bar": float(hit.bar),
    }  # fmt: skip
    values["title"], values["url"] = cut(document.title), cut(document.url)
    try:
        return HitMessage(
            **values,
            snippet=snippet_parts(snippet),
            explanation=reasons(searcher, hit.language, document, hit.explanation, hit.reranked, snippet.text)
            if explain
            else None,
        )
    except ValidationError:  # a lone surrogate, from a file name say
        return HitMessage(**_printable(values), snippet=snippet_parts(_printable(snippet)), explanation=None)


def cut(text: str, most: int = _LONGEST) -> str:
    """A text, cut where it is too long to be shown with others.

    >>> cut("un deux trois", 4)
    'un …'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


class _Shortened:
    """Fields as a hit shows them: ``letters`` in all; what is longer, deeper or no JSON is cut or left out.

    Checks on the way in are stricter, but an index may be older than they are.
    """

    def __init__(self, letters: int) -> None:
        self._left = letters

    def value(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, str):
            value = cut(value, max(1, min(_LONGEST, self._left)))
            self._left -= len(value)
        elif isinstance(value, Mapping | list | tuple):
            return self._inside(value, depth + 1)
        elif isinstance(value, float):
            value = value if math.isfinite(value) else str(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            value = value if abs(value) < _LARGEST else str(cut(hex(value)))
        self._left -= 1
        return value

    def _inside(self, value: Mapping[str, Any] | Sequence[Any], depth: int) -> Any:
        if depth > _DEEPEST:
            return "…"
        shown: dict[str, Any] = {}
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for name, inner in pairs:
            if self._left <= 0:
                break
            shown[cut(str(name))] = self.value(inner, depth)
            self._left -= len(str(name)) if isinstance(value, Mapping) else 0
        return shown if isinstance(value, Mapping) else list(shown.values())


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


def passage_shown(
    searcher: Searcher, query: str, request: ExplainParameters, document: Document, parts: Sequence[Contribution],
    translations: Mapping[str, WordTranslations],
) -> tuple[int, int]:  # fmt: skip
    """Begin and end, in the text of a document, of what a snippet with this explanation shows."""
    language_index = searcher.languages[request.language]
    key = language_index.find(request.id)
    passage = None if key is None else language_index.passage(query, key)
    hit = Hit(1, 0.0, request.language, document, tuple(parts), passage, None, request.reranked)
    return snippet_of(searcher, hit, Marking(searcher, query, translations).of(hit)).span


def reasons(
    searcher: Searcher, language: str, document: Document, parts: Sequence[Contribution], reranked: bool, shown: str
) -> list[Reason]:
    """Which query words matched which document words, those that are shown first, and their scores."""
    found = reasons_of(searcher, language, document, parts, reranked, shown)
    return [Reason(query_word=word, document_words=list(words), score=score) for word, words, score in found]


def about_hits(hits: Hits) -> dict[str, Any]:
    """What an answer says of all hits of a query."""
    return {
        "doubtful": hits.doubtful, "read_as": hits.read_as, "corrected": corrections_message(hits.corrected),
        "total": hits.total, "total_is_exact": hits.total_is_exact,
    }  # fmt: skip


def corrections_message(corrected: Sequence[Correction]) -> list[CorrectionMessage]:
    """The typing errors that were corrected."""
    return [CorrectionMessage(word=word, read_as=read_as) for word, read_as in corrected]


def translations_message(translations: WordTranslations) -> list[Translations]:
    """Words of a query and their translations."""
    return [Translations(word=word, translations=list(others)) for word, others in translations]


def facets_message(facets: Facets) -> FacetsMessage:
    """Values of fields and how many documents have each."""
    return FacetsMessage(
        counted=facets.counted, complete=facets.complete,
        fields={
            name: [FacetValue(value=value, count=count) for value, count in values]
            for name, values in facets.values.items()
        },
    )  # fmt: skip


def document_answer(document: Document, language: str) -> DocumentAnswer:
    """A document as a line of a ``jsonl:`` source."""
    return DocumentAnswer.model_construct(  # what is stored is not validated again
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
    except (PydanticSerializationError, ValueError, RecursionError):  # a lone surrogate, or levels without end
        fields = type(answer).model_fields
        values = {name: value for name, value in answer if not (brief and value == fields[name].default)}
        return to_json(_printable(values), fallback=str)


def _printable(value: Any, depth: int = 0) -> Any:
    """The same with lone surrogates written as escapes, and "…" for what is nested too deeply to be written."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Snippet):
        return Snippet(_printable(value.text), (), value.words)
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Mapping | list | tuple) and depth > _WRITTEN:
        return "…"
    if isinstance(value, Mapping):
        return {_printable(str(name)): _printable(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(inner, depth + 1) for inner in value]
    return value

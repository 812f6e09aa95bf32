"""Hits and explanations as messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import UNSET

from isogloss.data.documents import Document
from isogloss.search.hits import Hit
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import Snippet, reasons_of, snippet_of
from isogloss.server.messages import DocumentMessage, HitMessage, Meaning, Reason, SnippetPart
from isogloss.systems.base import Contribution


def hit_message(searcher: Searcher, hit: Hit, rank: int, is_match: Callable[[str], bool], explain: bool) -> HitMessage:
    """A hit, its snippet with the words that match marked, with its reasons if they are wanted."""
    document = hit.document
    return HitMessage(
        rank, float(hit.score), hit.language, document.id, document.title, document.url, dict(document.fields),
        snippet_parts(snippet_of(searcher, hit, is_match)), hit.relevance, hit.reranked,
        reasons(searcher, hit.language, document, hit.explanation, hit.reranked) if explain else UNSET,
    )  # fmt: skip


def snippet_parts(snippet: Snippet) -> list[SnippetPart]:
    """A snippet cut at its marks: whoever shows it need not know what this side calls a character.

    >>> [(part.text, part.match) for part in snippet_parts(Snippet("le sel fin", ((3, 6),), ("sel",)))]
    [('le ', False), ('sel', True), (' fin', False)]
    """
    parts, place = [], 0
    for begin, end in snippet.marks:
        parts += [SnippetPart(snippet.text[place:begin]), SnippetPart(snippet.text[begin:end], True)]
        place = end
    parts.append(SnippetPart(snippet.text[place:]))
    return [part for part in parts if part.text]


def reasons(
    searcher: Searcher, language: str, document: Document, parts: Sequence[Contribution], reranked: bool
) -> list[Reason]:
    """Which words met, and what they added."""
    found = reasons_of(searcher, language, document, parts, reranked)
    return [Reason(each.query_word, list(each.document_words), each.score) for each in found]


def meanings(translations: Sequence[tuple[str, Sequence[str]]]) -> list[Meaning]:
    """Words of a query and what stands for them."""
    return [Meaning(word, list(others)) for word, others in translations]


def document_message(document: Document, language: str) -> DocumentMessage:
    """A document as a line of a ``jsonl:`` source."""
    return DocumentMessage(
        document.id, document.text, document.title, document.language or language, document.url,
        list(document.links), dict(document.translations), dict(document.fields),
    )  # fmt: skip


def document_of(message: DocumentMessage) -> Document:
    """The document that a message brings."""
    return Document(
        message.id, message.text, message.title, message.lang, message.url, tuple(message.links), message.translations,
        message.fields,
    )  # fmt: skip

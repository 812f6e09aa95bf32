"""Documents as a program has them: texts, documents, objects, or the name of a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from isogloss.data.dataset import load_collection
from isogloss.data.documents import Document, document_of
from isogloss.data.problems import Problems
from isogloss.data.source import Source
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.storage.progress import track

Documents = str | Source | Iterable[str | Document | Mapping[str, Any]]
"""``"folder:notes"``, an open source, or texts, documents and objects as in JSON lines."""


class InMemorySource(Source):
    """Documents that a program has given. A text has its number for an id: ``first``, and so on."""

    format = "documents"

    def __init__(self, documents: Iterable[str | Document | Mapping[str, Any]], first: int = 1) -> None:
        super().__init__("given")
        numbers = count(first)
        self._documents = [_document(item, numbers) for item in documents]

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        for number, document in enumerate(self._documents, start=1):
            if document.language in ("", language):
                yield Location(Path(self.name), number), document


def as_source(documents: Documents, first: int = 1) -> Source:
    """A source of what was given."""
    if isinstance(documents, str):
        from isogloss.data.formats import open_source  # all readers: not needed to search

        return open_source(documents)
    return documents if isinstance(documents, Source) else InMemorySource(documents, first)


def documents_of(
    source: Source, asked: Sequence[str], may_miss: bool = False, problems: Problems | None = None
) -> Iterator[Document]:
    """The documents of the languages; one that does not tell its own is given once, and still does not tell it.

    ``may_miss``: that the source has no documents in one of the languages is no error.
    """
    untold = set()
    for language in asked:
        if may_miss and not _has_some(source, language):
            continue
        for document in track(load_collection(source, language, problems), f"reading {language}"):
            if document.language or len(asked) == 1:
                yield replace(document, language=language)
            elif document.id not in untold:
                untold.add(document.id)
                yield document


def _has_some(source: Source, language: str) -> bool:
    """Whether there is anything in a language, right or wrong; what is wrong is an error when it is read."""
    problems = Problems(stop_at_errors=False)
    try:
        return any(True for _ in source.documents(language, problems)) or bool(problems.errors)
    except InputError:
        return False


def _document(item: str | Document | Mapping[str, Any], numbers: Iterator[int]) -> Document:
    if isinstance(item, Document):
        return item
    if isinstance(item, str):
        return Document(str(next(numbers)), item)
    if not isinstance(item, Mapping) or not all(isinstance(item.get(name), str) for name in ("id", "text")):
        raise InputError(f"documents: {str(item)[:60]!r} is neither a text, a Document nor an object with id and text")
    return document_of(dict(item))

"""Documents in memory: texts, documents, JSON objects, or the name of a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from isogloss.data.dataset import load_collection
from isogloss.data.document_checks import checked, shown_value
from isogloss.data.documents import Document, document_of
from isogloss.data.problems import Problems
from isogloss.data.source import Source
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.storage.progress import track

Documents = str | Path | Source | Mapping[str, str] | Iterable[str | Document | Mapping[str, Any]]
"""``"folder:notes"``, a path, an open source, texts by their ids, or texts, documents and objects as in JSON lines."""


_SHAPES: dict[str, type] = {"title": str, "lang": str, "url": str, "links": list, "translations": dict, "fields": dict}


class InMemorySource(Source):
    """Documents of a program. The id of one without an id is its number: ``first``, and so on."""

    format = "documents"

    def __init__(self, documents: Iterable[str | Document | Mapping[str, Any]], first: int = 1) -> None:
        super().__init__(self.format)
        numbers = count(first)
        self._documents = [_document(each, numbers, place) for place, each in enumerate(documents)]

    @property
    def name(self) -> str:
        return self.where

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        return (each for each in self.all_documents(problems) if each[1].language in ("", language))

    def all_documents(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        for place, document in enumerate(self._documents):
            yield Location(Path(f"{self.where}[{place}]")), document


def as_source(documents: Documents, first: int = 1) -> Source:
    """The source of some documents."""
    if isinstance(documents, str | Path):
        return _named_source(str(documents))
    if isinstance(documents, Mapping):
        documents = [{"id": id_, "text": text} for id_, text in documents.items()]
    if hasattr(documents, "itertuples"):
        raise InputError("documents: a data frame; give its rows, which have 'text': frame.to_dict('records')")
    if not isinstance(documents, Source | Iterable) or isinstance(documents, bytes):
        raise InputError(f"documents: must be a list of texts, of Documents or of dicts, got {shown_value(documents)}")
    return documents if isinstance(documents, Source) else InMemorySource(documents, first)


def _named_source(name: str) -> Source:
    from isogloss.data.readers.registry import open_source

    try:
        return open_source(name)
    except (InputError, OSError) as error:
        first, *others = name.split() or [""]
        if (others and ":" not in first) or isinstance(error, OSError):  # a sentence, or no name at all
            what = f"{shown_value(name)} is neither a folder, a file nor another source"
            raise InputError(f"documents: {what}; a single text goes into a list: [text]") from error
        raise


def documents_of(source: Source, languages: Sequence[str], problems: Problems | None = None) -> Iterator[Document]:
    """The documents of some languages. Those without a language of their own come once, without a language."""
    seen = set()
    for language in languages:
        for document in track(load_collection(source, language, problems), f"reading {language}"):
            if document.language or len(languages) == 1:
                yield replace(document, language=language)
            elif document.id not in seen:
                seen.add(document.id)
                yield document


def _document(value: str | Document | Mapping[str, Any], numbers: Iterator[int], place: int) -> Document:
    try:
        return checked(_taken(value, numbers))
    except InputError as error:
        raise InputError(f"documents[{place}]: {error}") from error


def _taken(value: str | Document | Mapping[str, Any], numbers: Iterator[int]) -> Document:
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document(str(next(numbers)), value)
    if isinstance(value, Mapping) and "id" not in value:
        value = {"id": str(next(numbers)), **value}
    if not isinstance(value, Mapping) or not all(isinstance(value.get(name), str) for name in ("id", "text")):
        what = f"an object with {', '.join(map(str, value))[:60]}" if isinstance(value, Mapping) else shown_value(value)
        raise InputError(f"{what} is neither a text, a Document nor an object with text and id, both strings")
    wrong = [name for name, shape in _SHAPES.items() if not isinstance(value.get(name) or shape(), shape)]
    if wrong:
        raise InputError(f"{wrong[0]}: has the wrong type, {shown_value(value[wrong[0]])}")
    return document_of(dict(value))

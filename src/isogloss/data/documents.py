"""Documents, queries, judgments, and the collection of the documents of one language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError
from isogloss.text.language import normalize_language
from isogloss.text.language_names import find_code

FIELDS = ("title", "text")
_NONE: Mapping[str, Any] = {}  # one for all documents: of a million it saves 128 MB


@dataclass(frozen=True, slots=True)
class Document:
    """A page: its id and text, and its other fields."""

    id: str
    text: str
    title: str = ""
    language: str = ""
    url: str = ""
    links: tuple[str, ...] = ()
    translations: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Query:
    """A question in words."""

    id: str
    text: str
    title: str = ""
    language: str = ""


class Judgment(NamedTuple):
    """How relevant a document is for a query; grades are gains from 0 up."""

    query: str
    document: str
    grade: int


@dataclass(frozen=True, slots=True, eq=False)
class TermWeights:
    """The weights of the words of documents, where the data have weights instead of running text.

    Row i has the weight ``values[j]`` for the word ``vocabulary[columns[j]]``, offsets[i] <= j < offsets[i + 1].
    """

    vocabulary: list[str]
    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The columns of a row (counted from 0), ascending, and their values."""
        span = slice(self.offsets[number], self.offsets[number + 1])
        return self.columns[span], self.values[span]

    def rows(self, numbers: Sequence[int]) -> TermWeights:
        """These rows, in this order."""
        spans = [slice(self.offsets[number], self.offsets[number + 1]) for number in numbers]
        offsets = np.cumsum([0, *(span.stop - span.start for span in spans)]).astype(np.int64)
        columns = np.concatenate([self.columns[:0], *(self.columns[span] for span in spans)])
        values = np.concatenate([self.values[:0], *(self.values[span] for span in spans)])
        return TermWeights(self.vocabulary, offsets, columns, values)


def parse_fields(fields: str) -> tuple[str, ...]:
    """``"title,text"`` to field names, checked."""
    names = tuple(name.strip() for name in fields.split(",") if name.strip())
    unknown = [name for name in names if name not in FIELDS]
    if unknown or not names:
        raise InputError(f"fields: {fields!r} is not a list of {', '.join(FIELDS)}")
    return names


def joined_fields(record: Document | Query, fields: tuple[str, ...]) -> str:
    """The text of the chosen fields, in order."""
    if fields == ("text",):
        return record.text
    return " ".join(value for value in (getattr(record, name) for name in fields) if value)


class Collection(Sequence[Document]):
    """Documents of one language. ``row_of`` maps an id to its row; ``id_order`` ranks the rows by id, for ties.

    ``weights`` are those of the documents' words, row by row, where the data have weights instead of running text.
    """

    def __init__(self, documents: Iterable[Document], language: str = "", weights: TermWeights | None = None) -> None:
        self.documents = list(documents)
        self.language, self.weights = language, weights
        self.row_of = {document.id: row for row, document in enumerate(self.documents)}
        if len(self.row_of) != len(self.documents):
            raise ValueError("two documents have the same id")

    def __getitem__(self, row: int) -> Document:  # type: ignore[override]  # rows only, no slices
        return self.documents[row]

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    @cached_property
    def ids(self) -> list[str]:
        """The ids, row by row."""
        return [document.id for document in self.documents]

    @cached_property
    def id_order(self) -> NDArray[np.int64]:
        """``id_order[row]`` is the rank of the row's id among all ids, ascending."""
        return id_order(self.ids)

    def texts(self, fields: tuple[str, ...]) -> list[str]:
        """The joined fields of each document."""
        return [joined_fields(document, fields) for document in self.documents]


def id_order(ids: Sequence[str]) -> NDArray[np.int64]:
    """The rank of each id in the ascending order of strings."""
    order = np.empty(len(ids), dtype=np.int64)
    order[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return order


def document_of(page: dict[str, Any]) -> Document:
    """The document of a JSON object, as in ``jsonl:`` files."""
    return Document(
        page["id"], page["text"], page.get("title") or "", normalize_language(page["lang"]) if page.get("lang") else "",
        page.get("url") or "",
        tuple(map(str, page.get("links") or ())),
        {find_code(name) or name: str(id_) for name, id_ in page["translations"].items()}
        if page.get("translations") else _NONE,
        page.get("fields") or _NONE,
    )  # fmt: skip


def page_object(document: Document) -> dict[str, Any]:
    """The JSON object of a document, without what is empty."""
    page = {
        "id": document.id,
        "lang": document.language,
        "title": document.title,
        "text": document.text,
        "url": document.url,
        "links": list(document.links),
        "translations": dict(document.translations),
        "fields": dict(document.fields),
    }
    return {key: value for key, value in page.items() if value or key == "text"}

"""What passes between the rooms: documents, queries, and one judgment of a document for a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from isogloss.base.errors import InputError

FIELDS = ("title", "text")


@dataclass(frozen=True, slots=True)
class Document:
    """A page: its id and text, and what else is known of it."""

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
    """What somebody looks for."""

    id: str
    text: str
    title: str = ""
    language: str = ""


class Judgment(NamedTuple):
    """How relevant a document is for a query; grades are gains from 0 up."""

    query: str
    document: str
    grade: int


def parse_fields(fields: str) -> tuple[str, ...]:
    """``"title,text"`` to field names, checked."""
    names = tuple(name.strip() for name in fields.split(",") if name.strip())
    unknown = [name for name in names if name not in FIELDS]
    if unknown or not names:
        raise InputError(f"fields: {fields!r} is not a list of {', '.join(FIELDS)}")
    return names


def joined_fields(record: Document | Query, fields: tuple[str, ...]) -> str:
    """The text of a record that a system reads: the chosen fields, in order."""
    if fields == ("text",):
        return record.text
    return " ".join(value for value in (getattr(record, name) for name in fields) if value)

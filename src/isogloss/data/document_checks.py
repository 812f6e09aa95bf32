"""What every document has to satisfy before it is indexed, whoever writes it: files, programs or the service."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isogloss.storage.errors import InputError
from isogloss.text.language import normalize_language

if TYPE_CHECKING:
    from isogloss.data.documents import Document

LONGEST_ID = 1_000
LONGEST_TEXT = 1 << 24
"""Characters of a document."""
_LONGEST = {"id": LONGEST_ID, "title": 100_000, "url": 10_000, "text": LONGEST_TEXT}
_MOST_VALUES = 10_000  # in the fields, the links or the translations of a document
_DEEPEST = 8  # values in values
_LARGEST_NUMBER = 2**63
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def checked(document: Document, languages: Iterable[str] = ()) -> Document:
    """The document with the code of its language; an :class:`InputError` names the field that is wrong.

    Languages of an index, ``languages``, stay as they are.
    """
    for name, longest in _LONGEST.items():
        _check_text(name, getattr(document, name), longest)
    if not document.id:
        raise InputError("id: is empty; give each document its own")
    if _CONTROL.search(document.id):
        raise InputError(f"id: {document.id[:60]!r} has a control character; leave it out")
    for name, values in (("links", document.links), ("translations", document.translations)):
        if len(values) > _MOST_VALUES:
            raise InputError(f"{name}: more than {_MOST_VALUES:,}; leave some out")
    for id_ in (*document.links, *document.translations, *document.translations.values()):
        _check_text("links and translations", id_, LONGEST_ID)
    if document.fields:
        _check_fields(document.fields)
    language = document.language
    if language and language not in languages:
        language = normalize_language(language)
    return document if language == document.language else replace(document, language=language)


def is_text(text: str) -> bool:
    """Whether it can be written: it has no halves of characters (lone surrogates)."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def shown_value(value: Any) -> str:
    """A wrong value in an error; of a nested one its kind."""
    if isinstance(value, str):
        return repr(value[:30])
    return str(value)[:30] if isinstance(value, int | float) or value is None else _kind(value)


def _kind(value: Any) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


def _check_text(name: str, text: Any, longest: int) -> None:
    if not isinstance(text, str):
        raise InputError(f"{name}: must be a string, got {shown_value(text)}")
    if len(text) > longest:
        raise InputError(f"{name}: has {len(text):,} characters, of which {longest:,} are the most; shorten it")
    if not is_text(text):
        raise InputError(f"{name}: has half a character (a lone surrogate); write valid Unicode")


def _check_fields(fields: Mapping[str, Any]) -> None:
    """Raise unless these are plain JSON values, nested a few times at most; no recursion, whatever they are."""
    waiting: list[tuple[str, Any, int]] = [("fields", fields, 0)]
    count = 0
    while waiting:
        name, value, depth = waiting.pop()
        count += 1
        if count > _MOST_VALUES:
            raise InputError(f"fields: more than {_MOST_VALUES:,} values; leave some out")
        if depth > _DEEPEST:
            raise InputError(f"fields: more than {_DEEPEST} values inside each other; make them flatter")
        if isinstance(value, Mapping):
            for key, inner in value.items():
                _check_text(f"{name}, a key", key, LONGEST_ID)
                waiting.append((f"{name}.{key[:60]}" if depth == 0 else name, inner, depth + 1))
        elif isinstance(value, list | tuple):
            if len(value) > _MOST_VALUES:
                raise InputError(f"{name}: more than {_MOST_VALUES:,} values; leave some out")
            waiting.extend((name, inner, depth + 1) for inner in value)
        else:
            _check_value(name, value)


def _check_value(name: str, value: Any) -> None:
    if isinstance(value, str):
        _check_text(name, value, LONGEST_TEXT)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name}: {value} is not a finite number; leave it out, or write null")
    elif isinstance(value, int) and abs(value) >= _LARGEST_NUMBER:
        raise InputError(f"{name}: a whole number beyond 64 bits; write it as a string")
    elif value is not None and not isinstance(value, int | float | bool):
        raise InputError(f"{name}: must be a JSON value, got {_kind(value)}")

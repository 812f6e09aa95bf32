"""Inverted lists of the fields of documents: for each ``name=value`` the rows that have it, for fast filters.

The value of a field is a string, a number, true or false, or a list of those: then each of its values counts. Numbers
are written as in JSON. Values of more than 200 characters are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Document
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.text.batches import TokenizedTexts

_LONGEST = 200
FOLDER = "fields"


def build_field_lists(documents: Iterable[Document]) -> Postings:
    """The lists of some documents, by row."""
    number_of: dict[str, int] = {}
    ids: list[int] = []
    offsets = [0]
    for document in documents:
        ids.extend(number_of.setdefault(key, len(number_of)) for key in field_keys(document))
        offsets.append(len(ids))
    return Postings.build(TokenizedTexts(list(number_of), np.asarray(ids, np.int32), np.asarray(offsets, np.int64)))


def field_keys(document: Document) -> list[str]:
    """Every ``name=value`` of a document that a filter can name, each once.

    >>> field_keys(Document("1", "", fields={"kind": ["manual", "guide"], "year": 2024, "free": True}))
    ['kind=manual', 'kind=guide', 'year=2024', 'free=true']
    """
    return list(dict.fromkeys(key for name, value in document.fields.items() for key in _keys(name, value)))


def matching_rows(lists: JoinedPostings, filters: Mapping[str, str]) -> NDArray[np.bool_]:
    """Which rows match all filters."""
    matching = np.ones(lists.document_count, dtype=bool)
    for name, value in filters.items():
        found = np.zeros(lists.document_count, dtype=bool)
        found[lists[f"{name}={value}"].documents] = True
        matching &= found
    return matching


def value_counts(lists: JoinedPostings, name: str, rows: NDArray[np.int64]) -> Counter[str]:
    """The values of a field that some rows have, and how many of them have each.

    >>> pages = [Document("1", "", fields={"kind": ["manual", "guide"]}), Document("2", "", fields={"kind": "guide"})]
    >>> value_counts(JoinedPostings([build_field_lists(pages)]), "kind", np.array([0, 1])).most_common()
    [('guide', 2), ('manual', 1)]
    """
    counts = lists.counts_within(rows, f"{name}=", f"{name}>")  # ">" is the character after "="
    return Counter({key[len(name) + 1 :]: count for key, count in counts.items()})


def filter_text(value: Any) -> str | None:
    """A value as filters write it; None if no filter can name it.

    >>> filter_text("2024"), filter_text(2024), filter_text(True), filter_text(None)
    ('2024', '2024', 'true', None)
    """
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, bool | int | float) else None


def _keys(name: str, value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list | tuple) else (value,):
        text = filter_text(each)
        if text is not None and len(text) <= _LONGEST:
            yield f"{name}={text}"

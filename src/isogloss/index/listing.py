"""The documents of an index one after the other, each with the file that it is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from isogloss.data.documents import Document
from isogloss.index.language_index import MappedLanguageIndex
from isogloss.index.origins import Key, load_origins
from isogloss.index.reader import OpenIndex
from isogloss.retrieval.field_lists import field_keys


class ListedDocument(NamedTuple):
    """A document without its text. ``path``: the file that it is from; empty where the index does not know it."""

    language: str
    id: str
    title: str
    path: str
    url: str


def list_documents(
    index: OpenIndex, languages: Sequence[str] | None = None, filters: Mapping[str, str] | None = None, match: str = ""
) -> Iterator[ListedDocument]:
    """The documents of an index, language by language and in the order of their ids; one at a time is in memory.

    ``filters``: those that have these fields with these values; ``match``: those whose id or path has this pattern.
    """
    origins = load_origins(index.path, index.commit).values()
    wanted = {f"{name}={value}" for name, value in (filters or {}).items()}
    for language in index.choose(languages):
        for document in _documents(index, language):
            if not wanted.issubset(field_keys(document) if wanted else ()):
                continue
            path = ""
            for record in origins:
                if (file := record.file_of(Key(language, document.id))) is not None:
                    path = str(record.folder / file)
            if not match or fnmatchcase(document.id, match) or fnmatchcase(path, match):
                yield ListedDocument(language, document.id, document.title, path, document.url)


def _documents(index: OpenIndex, language: str) -> Iterator[Document]:
    opened = index.languages[language]
    if isinstance(opened, MappedLanguageIndex):
        rows = np.argsort(opened.store.id_order, kind="stable")
        return (opened.store[row] for row in rows.tolist() if opened.live is None or opened.live[row])
    return index.documents(language)

"""The documents of one language, in order, found by row or by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isogloss.corpus.records import Document, joined_fields


class Collection(Sequence[Document]):
    """Documents of one language. ``row_of`` maps an id to its row; ``id_order`` ranks the rows by id, for ties."""

    def __init__(self, documents: Iterable[Document], language: str = "") -> None:
        self.documents = list(documents)
        self.language = language
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
        """``id_order[row]`` is the place of the row's id among all ids in ascending order."""
        return id_order(self.ids)

    def texts(self, fields: tuple[str, ...]) -> list[str]:
        """What a system reads of each document."""
        return [joined_fields(document, fields) for document in self.documents]


def id_order(ids: Sequence[str]) -> NDArray[np.int64]:
    """The place of each id in the ascending order of strings."""
    order = np.empty(len(ids), dtype=np.int64)
    order[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return order

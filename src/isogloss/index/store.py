"""The documents of an index, each read from disk only when it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.errors import InputError
from isogloss.base.strings import StringTable
from isogloss.corpus.collection import Collection
from isogloss.corpus.formats.jsonl import document_of, page_object
from isogloss.corpus.records import Document
from isogloss.index.id_lookup import IdLookup

Rows = NDArray[np.int64]


class DocumentStore:
    """Documents by row, as JSON in a memory-mapped table; the order of their ids, and the ids in that order."""

    def __init__(self, pages: StringTable, id_order: Rows, ids: StringTable, place: Path | None = None) -> None:
        self.pages = pages
        self.id_order = id_order
        self.ids = ids
        self._lookup = IdLookup(ids)
        self._place = place

    @classmethod
    def of(cls, documents: Collection) -> DocumentStore:
        """A store in memory."""
        ids = StringTable.of(sorted(documents.ids))  # code points sort as their UTF-8 bytes do
        return cls(StringTable.of(_lines(documents)), documents.id_order, ids)

    def __len__(self) -> int:
        return len(self.pages)

    def __getitem__(self, row: int) -> Document:
        try:
            return read_page(self.pages, row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if self._place is None:
                raise
            what = f"document {row} is damaged; 'isogloss index --check INDEX' names what is wrong"
            raise InputError(f"{self._place / 'pages.bytes.npy'}: {what}") from error

    def find(self, id_: str) -> int | None:
        """The row of a document by its id."""
        place = self.ids.find(id_)
        return None if place is None else int(self.rows_by_id[place])

    def rows_of(self, ids: AbstractSet[str]) -> Rows:
        """The rows of those of the ids that are here."""
        places = self._lookup.places(ids)
        return self.rows_by_id[places] if len(places) else places

    @cached_property
    def rows_by_id(self) -> Rows:
        """The rows in the order of their ids."""
        rows = np.empty(len(self.id_order), dtype=np.int64)
        rows[self.id_order] = np.arange(len(rows))
        return rows

    def id_of(self, row: int) -> str:
        """The id of a document."""
        return self.ids[int(self.id_order[row])]

    def save(self, directory: Path) -> None:
        """Write the store into a directory."""
        self.pages.save(directory, "pages")
        save_array(directory / "id_order.npy", self.id_order)
        self.ids.save(directory, "ids")

    @classmethod
    def load(cls, directory: Path) -> DocumentStore:
        """Map what ``save`` wrote."""
        pages, ids = StringTable.load(directory, "pages"), StringTable.load(directory, "ids")
        made = cls(pages, load_array(directory / "id_order.npy"), ids, directory)
        if not len(made.id_order) == len(ids) == len(made):
            raise ValueError(f"id_order.npy or ids.offsets.npy does not fit pages.offsets.npy in {directory}")
        return made


def read_page(pages: StringTable, row: int) -> Document:
    """A document out of a table of pages."""
    return document_of(json.loads(pages[row]))


class JoinedStore:
    """The documents of several stores, one after the other; of an id that stands in several, the last counts.

    ``id_order`` is the order of all their ids.
    """

    def __init__(self, stores: Sequence[DocumentStore], id_order: Rows) -> None:
        self.stores = list(stores)
        self.starts: list[int] = np.cumsum([0, *map(len, stores)]).tolist()
        self.id_order = id_order

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, row: int) -> Document:
        number, place = self._at(row)
        return self.stores[number][place]

    def id_of(self, row: int) -> str:
        """The id of a document."""
        number, place = self._at(row)
        return self.stores[number].id_of(place)

    def find(self, id_: str) -> int | None:
        """The row of a document by its id."""
        for store, start in zip(reversed(self.stores), reversed(self.starts[:-1]), strict=True):
            row = store.find(id_)
            if row is not None:
                return start + row
        return None

    def _at(self, row: int) -> tuple[int, int]:
        if not 0 <= row < len(self):
            raise IndexError(row)
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return number, row - self.starts[number]


class LiveStore:
    """The documents of a store that are not deleted, numbered without gaps."""

    def __init__(self, store: DocumentStore | JoinedStore, live: NDArray[np.bool_]) -> None:
        self._store, self._rows = store, np.flatnonzero(live)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Document:
        return self._store[int(self._rows[number])]

    def find(self, id_: str) -> int | None:
        """The number of a document by its id."""
        row = self._store.find(id_)
        place = int(np.searchsorted(self._rows, -1 if row is None else row))
        return place if place < len(self) and self._rows[place] == row else None


def _lines(documents: Iterable[Document]) -> Iterable[str]:
    return (json.dumps(page_object(document), ensure_ascii=False) for document in documents)

"""The documents of an index, each read from disk only when it is shown."""

from __future__ import annotations

import json
from collections.abc import Collection as Container
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document, document_of, page_object
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.strings import StringTable

# Which of some ids a sorted table has: few are looked up one by one, many by their hashes.
#
# A binary search is some twenty steps of Python for each id, a table of hashes one look at every id that is there. So
# the hashes are worked out once those that were asked for one by one have cost as much, and are kept for the next
# time: whoever asks for a thousand ids again and again pays for the thousand, not for the table.

Numbers = NDArray[np.int64]
_FEW = 40  # so many times fewer ids than there are in the table: they are then looked up one by one


class IdLookup:
    """The ids of a table that never changes.

    >>> IdLookup(StringTable.of(["bees", "bread", "sea"])).places({"sea", "salt", "bees"}).tolist()
    [0, 2]
    """

    def __init__(self, ids: StringTable) -> None:
        self._ids = ids
        self._asked = 0

    def places(self, wanted: Container[str]) -> Numbers:
        """The places in the table of those that it has, ascending."""
        self._asked += len(wanted)
        if self._asked * _FEW < len(self._ids):
            found = [place for place in map(self._ids.find, wanted) if place is not None]
        else:
            found = self._by_hash(list(wanted)) if len(self._ids) else []
        return np.sort(np.asarray(found, dtype=np.int64))

    def _by_hash(self, wanted: list[str]) -> list[int]:
        hashes, places = self._hashes
        asked = _hashes_of(wanted, len(wanted))
        first = np.searchsorted(hashes, asked)
        likely = np.flatnonzero(hashes[np.minimum(first, len(hashes) - 1)] == asked)
        last = np.searchsorted(hashes, asked[likely], side="right")
        return [
            place
            for number, end in zip(likely.tolist(), last.tolist(), strict=True)
            for place in places[first[number] : end].tolist()
            if self._ids[place] == wanted[number]
        ]

    @cached_property
    def _hashes(self) -> tuple[Numbers, Numbers]:
        """The hashes of all ids, ascending, and the place of each."""
        hashes = _hashes_of(self._ids, len(self._ids))
        places = np.argsort(hashes)
        return hashes[places], places


def _hashes_of(ids: Container[str], count: int) -> Numbers:
    return np.fromiter(map(hash, ids), np.int64, count)


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
            what = f"document {row} is damaged; 'isogloss check INDEX' names what is wrong"
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


class JoinedDocuments:
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


class LiveDocuments:
    """The documents of a store that are not deleted, numbered without gaps."""

    def __init__(self, store: DocumentStore | JoinedDocuments, live: NDArray[np.bool_]) -> None:
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


# The order of the ids of several stores, for ties: ``order[row]`` is the place of the row's id among all ids.
#
# Whoever commits works it out once; whoever searches maps it. An id may stand twice, if its first document was
# replaced: then either place will do, for the replaced one is never found.

Order = NDArray[np.int64]
_FEW_INSERTED = 50  # so many times smaller: a table is then searched for each id rather than read


def extended_order(order: Order, stores: Sequence[DocumentStore], added: DocumentStore) -> Order:
    """The order of the rows of some stores, and of one more behind them.

    A small store is put into what is there, id by id; otherwise all are sorted.
    """
    return (
        _inserted(order, stores, added) if len(added) * _FEW_INSERTED < len(order) else sorted_order([*stores, added])
    )


def sorted_order(stores: Sequence[DocumentStore]) -> Order:
    """The order of the rows of some stores, worked out from all their ids."""
    ids = [id_ for store in stores for id_ in sorted_ids(store)]
    starts = np.cumsum([0, *map(len, stores)])
    rows = np.concatenate([store.rows_by_id + start for store, start in zip(stores, starts.tolist(), strict=False)])
    by_id = np.fromiter(sorted(range(len(ids)), key=ids.__getitem__), np.int64, len(ids))  # runs are merged, not sorted
    order = np.empty(len(ids), dtype=np.int64)
    order[rows[by_id]] = np.arange(len(ids))
    return order


def _inserted(order: Order, stores: Sequence[DocumentStore], added: DocumentStore) -> Order:
    """Each new id goes before the first of the old ones that is not smaller; those behind it move on."""
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order))
    starts = np.cumsum([0, *map(len, stores)])
    places = np.empty(len(added), dtype=np.int64)
    for number, id_ in enumerate(sorted_ids(added)):
        low, high = 0, len(rows)
        while low < high:
            middle = (low + high) // 2
            row = int(rows[middle])
            part = int(np.searchsorted(starts, row, side="right")) - 1
            if stores[part].id_of(row - int(starts[part])) < id_:
                low = middle + 1
            else:
                high = middle
        places[number] = low
    moved = order + np.searchsorted(places, order, side="right")
    new = np.empty(len(added), dtype=np.int64)
    new[added.rows_by_id] = places + np.arange(len(added))
    return np.concatenate([moved, new])


def sorted_ids(store: DocumentStore) -> list[str]:
    """The ids of a store, ascending."""
    return list(store.ids)

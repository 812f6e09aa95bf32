"""The documents of an index, each read from disk only when it is shown; and the order of their ids, for ties.

``order[row]`` is the rank of the row's id among all ids. A commit computes it once, and readers map it. An id may occur
twice, if its first document was replaced: then either rank will do, for the replaced document is never found.
"""

from __future__ import annotations

import json
from collections.abc import Collection as Container
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document, document_of, page_object
from isogloss.storage.array_checks import check_type, check_within
from isogloss.storage.arrays import load_array, place_of, save_array
from isogloss.storage.containers import packed
from isogloss.storage.errors import DamagedIndexError
from isogloss.storage.strings import StringTable

Rows = NDArray[np.int64]
_FEW = 40  # ids are found one by one while so many times fewer were asked for than the table has
_FEW_INSERTED = 50  # ids are inserted into an order one by one if they are so many times fewer


class IdLookup:
    """Positions of ids in a sorted table.

    A binary search takes some twenty steps of Python for each id, a table of hashes one step for every id of the table.
    So the hashes are computed when the binary searches so far have cost as much, and are cached.

    >>> IdLookup(StringTable.of(["bees", "bread", "sea"])).positions({"sea", "salt", "bees"}).tolist()
    [0, 2]
    """

    def __init__(self, ids: StringTable) -> None:
        self._ids = ids
        self._requested = 0

    def positions(self, wanted: Container[str]) -> Rows:
        """The positions of those ids that the table has, ascending."""
        self._requested += len(wanted)
        if self._requested * _FEW < len(self._ids):
            found = [position for position in map(self._ids.find, wanted) if position is not None]
        else:
            found = self._by_hash(list(wanted)) if len(self._ids) else []
        return np.sort(np.asarray(found, dtype=np.int64))

    def _by_hash(self, wanted: list[str]) -> list[int]:
        hashes, positions = self._hashes
        of_wanted = np.fromiter(map(hash, wanted), np.int64, len(wanted))
        first = np.searchsorted(hashes, of_wanted)
        likely = np.flatnonzero(hashes[np.minimum(first, len(hashes) - 1)] == of_wanted)
        last = np.searchsorted(hashes, of_wanted[likely], side="right")
        return [
            position
            for number, end in zip(likely.tolist(), last.tolist(), strict=True)
            for position in positions[first[number] : end].tolist()
            if self._ids[position] == wanted[number]
        ]

    @cached_property
    def _hashes(self) -> tuple[Rows, Rows]:
        """The hashes of all ids, ascending, and the position of each id."""
        hashes = np.fromiter(map(hash, self._ids), np.int64, len(self._ids))
        positions = np.argsort(hashes)
        return hashes[positions], positions


class DocumentStore:
    """Documents by row, as JSON in a memory-mapped table; the order of their ids, and the ids in that order."""

    def __init__(self, pages: StringTable, id_order: Rows, ids: StringTable, directory: Path | None = None) -> None:
        self.pages = pages
        self.id_order = id_order
        self.ids = ids
        self._lookup = IdLookup(ids)
        self._directory = directory

    @classmethod
    def of(cls, documents: Collection) -> DocumentStore:
        """A store in memory."""
        ids = StringTable.of(sorted(documents.ids))  # code points sort as their UTF-8 bytes do
        pages = (json.dumps(page_object(document), ensure_ascii=False) for document in documents)
        return cls(StringTable.of(pages), documents.id_order, ids)

    def __len__(self) -> int:
        return len(self.pages)

    def __getitem__(self, row: int) -> Document:
        try:
            return read_page(self.pages, row)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, DamagedIndexError) as error:
            if self._directory is None:
                raise
            what = f"document {row} is damaged; 'isogloss check INDEX' names what is wrong"
            raise DamagedIndexError(f"{place_of(self._directory / 'pages.bytes.npy')}: {what}") from error

    def find(self, id_: str) -> int | None:
        """The row of a document by its id."""
        position = self.ids.find(id_)
        return None if position is None else int(self.rows_by_id[position])

    def rows_of(self, ids: AbstractSet[str]) -> Rows:
        """The rows of those ids that the store has."""
        positions = self._lookup.positions(ids)
        return self.rows_by_id[positions] if len(positions) else positions

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
        with packed(directory):
            self.pages.save(directory, "pages")
            save_array(directory / "id_order.npy", self.id_order)
            self.ids.save(directory, "ids")

    @classmethod
    def load(cls, directory: Path) -> DocumentStore:
        pages, ids = StringTable.load(directory, "pages"), StringTable.load(directory, "ids")
        made = cls(pages, load_array(directory / "id_order.npy"), ids, directory)
        if len(ids) != len(made):
            raise ValueError(f"ids.offsets.npy does not fit pages.offsets.npy in {directory}")
        place = place_of(directory / "id_order.npy")
        check_type(made.id_order, np.int64, place, len(made))
        check_within(made.id_order, len(made), place)
        return made


def read_page(pages: StringTable, row: int) -> Document:
    """A document of a table of pages."""
    return document_of(json.loads(pages[row]))


class JoinedDocuments:
    """The documents of several stores, one after the other.

    An id may be in several stores: of its versions one at most is not deleted, and after merging that need not be in
    the last of them.
    """

    def __init__(self, stores: Sequence[DocumentStore], id_order: Rows) -> None:
        self.stores = list(stores)
        self.starts: list[int] = np.cumsum([0, *map(len, stores)]).tolist()
        self.id_order = id_order

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, row: int) -> Document:
        number, row_there = self._at(row)
        return self.stores[number][row_there]

    def id_of(self, row: int) -> str:
        number, row_there = self._at(row)
        return self.stores[number].id_of(row_there)

    def find(self, id_: str, live: NDArray[np.bool_] | None = None) -> int | None:
        """The row of a document by its id: of those that are live, where that is given, the last."""
        for store, start in zip(reversed(self.stores), reversed(self.starts[:-1]), strict=True):
            row = store.find(id_)
            if row is not None and (live is None or live[start + row]):
                return start + row
        return None

    def _at(self, row: int) -> tuple[int, int]:
        if not 0 <= row < len(self):
            raise IndexError(row)
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return number, row - self.starts[number]


class LiveDocuments:
    """The documents of a store that are not deleted, numbered without gaps."""

    def __init__(self, store: JoinedDocuments, live: NDArray[np.bool_]) -> None:
        self._store, self._live, self._rows = store, live, np.flatnonzero(live)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Document:
        return self._store[int(self._rows[number])]

    def find(self, id_: str) -> int | None:
        """The number of a document by its id."""
        row = self._store.find(id_, self._live)
        return None if row is None else int(np.searchsorted(self._rows, row))


def extended_order(order: Rows, stores: Sequence[DocumentStore], added: DocumentStore) -> Rows:
    """The order of the rows of some stores and of one more: inserted id by id if that is small, otherwise sorted."""
    few = len(added) * _FEW_INSERTED < len(order)
    return _inserted(order, stores, added) if few else sorted_order([*stores, added])


def sorted_order(stores: Sequence[DocumentStore]) -> Rows:
    """The order of the rows of some stores, computed from all their ids."""
    ids = [id_ for store in stores for id_ in store.ids]
    starts = np.cumsum([0, *map(len, stores)])
    rows = np.concatenate([store.rows_by_id + start for store, start in zip(stores, starts.tolist(), strict=False)])
    by_id = np.fromiter(sorted(range(len(ids)), key=ids.__getitem__), np.int64, len(ids))  # runs are merged, not sorted
    order = np.empty(len(ids), dtype=np.int64)
    order[rows[by_id]] = np.arange(len(ids))
    return order


def _inserted(order: Rows, stores: Sequence[DocumentStore], added: DocumentStore) -> Rows:
    """Insert each new id before the first old id that is not smaller; the ranks after it grow."""
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order))
    starts = np.cumsum([0, *map(len, stores)])
    ranks = np.empty(len(added), dtype=np.int64)
    for number, id_ in enumerate(added.ids):
        low, high = 0, len(rows)
        while low < high:
            middle = (low + high) // 2
            row = int(rows[middle])
            part = int(np.searchsorted(starts, row, side="right")) - 1
            if stores[part].id_of(row - int(starts[part])) < id_:
                low = middle + 1
            else:
                high = middle
        ranks[number] = low
    moved = order + np.searchsorted(ranks, order, side="right")
    new = np.empty(len(added), dtype=np.int64)
    new[added.rows_by_id] = ranks + np.arange(len(added))
    return np.concatenate([moved, new])

"""The order of the ids of several stores, for ties: ``order[row]`` is the place of the row's id among all ids.

Whoever commits works it out once; whoever searches maps it. An id may stand twice, if its first document was replaced:
then either place will do, for the replaced one is never found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.index.store import DocumentStore

Order = NDArray[np.int64]
_FEW = 50  # so many times smaller: a table is then searched for each id rather than read


def extended_order(order: Order, stores: Sequence[DocumentStore], added: DocumentStore) -> Order:
    """The order of the rows of some stores, and of one more behind them.

    A small store is put into what is there, id by id; otherwise all are sorted.
    """
    return _inserted(order, stores, added) if len(added) * _FEW < len(order) else sorted_order([*stores, added])


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

"""The documents of several segments written as those of one, without what is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import save_array
from isogloss.base.joined_strings import save_joined, taken
from isogloss.base.strings import StringTable
from isogloss.index.field_lists import FOLDER as FIELDS
from isogloss.index.segments import Segment
from isogloss.index.store import DocumentStore, Rows
from isogloss.lexical.joined_postings import JoinedPostings


def save_merged(segments: Sequence[Segment], keep: NDArray[np.bool_], order: Rows, directory: Path) -> None:
    """Write the documents to keep, and the lists of their fields, into the directory of a segment.

    ``order`` is the place of each row's id among all.
    """
    save_joined([segment.store.pages for segment in segments], keep, directory, "pages")
    kept = np.flatnonzero(keep)
    by_id = np.argsort(order[kept])
    save_array(directory / "id_order.npy", np.argsort(by_id))
    _ids([segment.store for segment in segments], kept[by_id]).save(directory, "ids")
    JoinedPostings([segment.fields for segment in segments]).merged(keep).save(directory / FIELDS)


def _ids(stores: Sequence[DocumentStore], rows: Rows) -> StringTable:
    """The ids of some rows of several stores, in that order."""
    tables = [store.ids for store in stores]
    starts = np.cumsum([0, *map(len, stores)]).tolist()
    places = [store.id_order + start for store, start in zip(stores, starts, strict=False)]
    return taken(tables, np.concatenate(places)[rows])

"""The documents of several segments written as those of one, without what is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import save_array
from isogloss.base.joined_strings import save_joined
from isogloss.base.strings import StringTable
from isogloss.index.field_lists import FOLDER as FIELDS
from isogloss.index.id_orders import sorted_ids
from isogloss.index.segments import Segment
from isogloss.lexical.joined_postings import JoinedPostings


def save_merged(segments: Sequence[Segment], keep: NDArray[np.bool_], directory: Path) -> None:
    """Write the documents to keep, and the lists of their fields, into the directory of a segment."""
    save_joined([segment.store.pages for segment in segments], keep, directory, "pages")
    ids, order = _ids(segments, keep)
    save_array(directory / "id_order.npy", order)
    StringTable.of(ids).save(directory, "ids")
    JoinedPostings([segment.fields for segment in segments]).merged(keep).save(directory / FIELDS)


def _ids(segments: Sequence[Segment], keep: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.int64]]:
    """The ids to keep, ascending, and the place of each row's id among them."""
    number_of = np.cumsum(keep) - 1
    named, start = [], 0
    for segment in segments:
        rows = (segment.store.rows_by_id + start).tolist()
        named += [
            (id_, int(number_of[row])) for id_, row in zip(sorted_ids(segment.store), rows, strict=True) if keep[row]
        ]
        start += len(segment.store)
    named.sort()
    order = np.empty(len(named), dtype=np.int64)
    order[[row for _, row in named]] = np.arange(len(named))
    return [id_ for id_, _ in named], order

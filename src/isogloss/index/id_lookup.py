"""Which of some ids a sorted table has: few are looked up one by one, many by their hashes.

A binary search is some twenty steps of Python for each id, a table of hashes one look at every id that is there. So
the hashes are worked out once those that were asked for one by one have cost as much, and are kept for the next time:
whoever asks for a thousand ids again and again pays for the thousand, not for the table.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isogloss.base.strings import StringTable

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

    def places(self, wanted: Collection[str]) -> Numbers:
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


def _hashes_of(ids: Collection[str], count: int) -> Numbers:
    return np.fromiter(map(hash, ids), np.int64, count)

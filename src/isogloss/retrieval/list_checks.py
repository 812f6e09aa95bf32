"""Inverted lists from files are checked before they are used: compiled code trusts every number in them.

Offsets and lengths are checked when the lists are opened. So are the lists themselves, if they are small; large ones
would have to be read from disk for it, so each is checked when it is used first. What was checked is remembered while
the file is open.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.array_checks import check_lists, check_offsets, check_type, check_within
from isogloss.storage.arrays import keep_with, place_of
from isogloss.storage.errors import DamagedIndexError

ARRAYS = ("offsets", "documents", "frequencies", "lengths")
_AT_ONCE = 2**20  # entries: 5 ms
_LARGEST = 2**31  # frequencies and lengths have 32 bits


class ListChecks:
    """Checks the lists ``documents[offsets[t]:offsets[t + 1]]``, with their frequencies, of a directory."""

    def __init__(
        self, directory: Path, offsets: NDArray[np.int64], documents: NDArray[Any], frequencies: NDArray[Any],
        lengths: NDArray[Any], terms: int,
    ) -> None:  # fmt: skip
        self._directory = directory
        self._offsets, self._documents, self._frequencies, self._lengths = offsets, documents, frequencies, lengths
        self._terms = terms
        self._checked: NDArray[np.bool_] = keep_with(directory / "documents.npy", self._check_at_opening)

    def check(self, term: int) -> None:
        """Raise a :class:`DamagedIndexError` if the list of a term is damaged."""
        if not self._checked[term]:
            span = slice(int(self._offsets[term]), int(self._offsets[term + 1]))
            try:
                self._check_entries(np.asarray([0, span.stop - span.start]), span)
            except ValueError as error:
                what = "mend it with 'isogloss check INDEX --repair', or make the index again"
                raise DamagedIndexError(f"{error}; the index is damaged: {what}") from error
            self._checked[term] = True

    def check_all(self) -> None:
        """Raise a ``ValueError`` if any list is damaged."""
        if not self._checked.all():
            self._check_entries(self._offsets, slice(None))
            self._checked[:] = True

    def _check_at_opening(self) -> NDArray[np.bool_]:
        """Which lists are checked."""
        check_type(self._documents, np.int32, self._places["documents"])
        check_type(self._frequencies, np.int32, self._places["frequencies"], len(self._documents))
        check_type(self._lengths, np.int32, self._places["lengths"])
        check_type(self._offsets, np.int64, self._places["offsets"], self._terms + 1)
        check_offsets(self._offsets, len(self._documents), self._places["offsets"])
        check_within(self._lengths, _LARGEST, self._places["lengths"])
        small = len(self._documents) <= _AT_ONCE
        if small:
            self._check_entries(self._offsets, slice(None))
        return np.full(self._terms, small)

    def _check_entries(self, offsets: NDArray[np.int64], span: slice) -> None:
        check_lists(offsets, self._documents[span], len(self._lengths), self._places["documents"])
        check_within(self._frequencies[span], _LARGEST, self._places["frequencies"], least=1)

    @cached_property
    def _places(self) -> dict[str, str]:
        """Where each array is, for errors."""
        return {name: place_of(self._directory / f"{name}.npy") for name in ARRAYS}

"""Which rows a search looks at: all, all but some that are hidden, or a few that are gathered."""

from __future__ import annotations

import numpy as np

from isogloss.retrieval.ranking import Allowed, Rows
from isogloss.retrieval.vectors.vector_storage import Floats, Stored

_FEW = 1 / 4  # of all rows: gathering fewer is faster than multiplying all


class Selection:
    """Rows one after the other: position p of it is row p, or the p-th allowed row where few are allowed.

    Few allowed rows are gathered and nothing else is read. Of many, all are read and the scores of the others are
    replaced by minus infinity.
    """

    def __init__(self, matrix: Stored, allowed: Allowed | None = None) -> None:
        self._matrix = matrix
        self._gathered: Rows | None = None
        self._hidden: Rows = np.zeros(0, dtype=np.int64)
        if allowed is None:
            return
        if allowed.shape != (len(matrix),):
            raise ValueError(f"a mask of shape {allowed.shape} does not fit {len(matrix)} rows")
        if np.count_nonzero(allowed) <= _FEW * len(matrix):
            self._gathered = np.flatnonzero(allowed)
        else:
            self._hidden = np.flatnonzero(~allowed)

    def __len__(self) -> int:
        return len(self._matrix) if self._gathered is None else len(self._gathered)

    @property
    def copies(self) -> bool:
        """Whether ``block`` copies rows."""
        return self._gathered is not None

    def block(self, start: int, stop: int) -> Stored:
        """The rows at positions from ``start`` to before ``stop``."""
        return self._matrix[slice(start, stop) if self._gathered is None else self._gathered[start:stop]]

    def hide(self, scores: Floats, start: int) -> None:
        """In the scores of positions from ``start`` on, those of hidden rows become minus infinity."""
        first, last = np.searchsorted(self._hidden, (start, start + len(scores)))
        if first < last:
            scores[self._hidden[first:last] - start] = -np.inf

    def rows(self, positions: Rows) -> Rows:
        """The rows at some positions, without the hidden ones."""
        if self._gathered is not None:
            return self._gathered[positions]
        if not len(self._hidden):
            return positions
        places = np.minimum(np.searchsorted(self._hidden, positions), len(self._hidden) - 1)
        shown: Rows = positions[self._hidden[places] != positions]
        return shown

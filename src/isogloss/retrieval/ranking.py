"""The best documents of a score array: score descending, then document id ascending."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_COUNTED = 100_000
"""Postings that are read to count the documents that match a query: a third of a millisecond."""
Scores = NDArray[np.floating]
Rows = NDArray[np.integer]
Allowed = NDArray[np.bool_]
"""Which rows may be found."""


class Ranking(NamedTuple):
    """Rows of a collection and their scores, best first."""

    rows: Rows
    scores: Scores


class Matches(NamedTuple):
    """How many documents match a query: exactly, or at least."""

    number: int
    is_exact: bool


def top_k(scores: Scores, k: int, id_order: Rows, rows: Rows | None = None, above: float = -np.inf) -> Ranking:
    """The ``k`` best of the scores, exactly, ties by ascending document id.

    ``scores[i]`` belongs to row ``rows[i]`` (row ``i`` by default); ``id_order[row]`` is the rank of the row's id
    among all ids. Scores not above ``above`` are left out: a lexical system has not found what it scores 0.
    """
    chosen = np.flatnonzero(scores > above)
    if 0 < k < len(chosen):
        found = scores[chosen]
        threshold = np.partition(found, len(found) - k)[len(found) - k]
        chosen = chosen[found >= threshold]  # ties with the last are decided by id
    found_rows = chosen if rows is None else np.asarray(rows)[chosen]
    order = np.lexsort((id_order[found_rows], -scores[chosen]))[:k]
    return Ranking(found_rows[order], scores[chosen[order]])

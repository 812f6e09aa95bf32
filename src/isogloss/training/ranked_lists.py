"""Lists of documents to be ranked, as arrays: what is measured on where there are no texts, on a GPU machine say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isogloss.evaluation.measures import PerQuery
from isogloss.training.judging import measure_scores
from isogloss.training.pairs import Ids, TextIds


@dataclass(frozen=True, slots=True)
class RankedLists:
    """Entry ``i``: the query ``query_of[i]``, the document ``document_of[i]`` and its grade; query by query.

    Equal scores are ordered by ``ties``; ``top`` is the grade of a relevant (MR) document.
    """

    queries: TextIds
    query_of: Ids
    document_of: Ids
    grades: Ids
    ties: Ids
    top: int

    def __len__(self) -> int:
        return len(self.grades)

    def measure(self, scores: NDArray[np.floating], names: tuple[str, ...] = ()) -> dict[str, PerQuery]:
        """Every measure (or the named ones), query by query, of a score an entry."""
        return measure_scores(self.query_of, self.grades, scores, self.ties, self.top, names)

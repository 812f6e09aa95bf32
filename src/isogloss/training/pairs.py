"""What is learned from: pairs of a query and a document, and how relevant the one is to the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TextIds:
    """``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``, as rows of a table of word vectors."""

    ids: Ids
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has."""
        return np.diff(self.offsets)

    def words_of(self, texts: NDArray[np.integer]) -> Ids:
        """The words of some texts, one text after the other.

        >>> TextIds(np.array([7, 8, 9], np.int32), np.array([0, 2, 2, 3])).words_of(np.array([2, 0])).tolist()
        [9, 7, 8]
        """
        starts = self.offsets[texts]
        lengths = self.offsets[texts + 1] - starts
        ends = np.cumsum(lengths)
        places = np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)
        found: Ids = self.ids[places]
        return found


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pair ``i`` is the query ``query_of[i]``, the document ``document_of[i]`` and its grade 0 .. K - 1."""

    queries: TextIds
    documents: TextIds
    query_of: Ids
    document_of: Ids
    grades: Ids

    def __len__(self) -> int:
        return len(self.grades)

"""Texts as flat arrays of word ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


# Lists of texts in stretches of about equal size.


def split_chunks(texts: Sequence[str], characters: int) -> Iterator[Sequence[str]]:
    """Texts one after another in stretches of about so many characters.

    >>> list(stretches(["to", "be", "or not to be", "that"], 6))
    [['to', 'be'], ['or not to be'], ['that']]
    """
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + 1)
    first = 0
    while first < len(texts):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + characters, side="right")))
        yield texts[first:last]
        first = last


def running_sum(lengths: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where each of things of such lengths begins, and where the last one ends."""
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))

"""Two words that stand side by side and have a vector of their own: what neither says alone, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isogloss.lexical.channel import Ids, Numbers
from isogloss.training.pairs import TextIds

_SEEN = 2  # phrases of fewer texts have no vector
_MOST = 20_000  # of a language: it bounds the size of a model


@dataclass(frozen=True)
class Phrases:
    """The phrases of a language of so many ``words``; phrase i has the number ``words`` + i after those of words.

    ``keys`` are first word times ``words`` plus second word, ascending.
    """

    words: int
    keys: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, texts: TextIds, words: int) -> Phrases:
        """Those that stand in most texts.

        >>> Phrases.of(TextIds(np.array([4, 2, 1, 4, 2], np.int32), np.array([0, 3, 5])), 10).keys.tolist()
        [42]
        """
        keys, sides = _side_by_side(texts, words)
        text = np.repeat(np.arange(len(texts)), texts.lengths)[sides]
        each = np.lexsort((text, keys))
        first = np.ones(len(each), bool)
        first[1:] = (np.diff(keys[each]) != 0) | (np.diff(text[each]) != 0)
        found, counts = np.unique(keys[each][first], return_counts=True)
        often = np.argsort(-counts, kind="stable")[:_MOST]
        return cls(words, np.sort(found[often[counts[often] >= _SEEN]]))

    def __len__(self) -> int:
        return len(self.keys)

    def places(self, texts: TextIds) -> tuple[Numbers, Ids]:
        """Where in ``texts.ids`` a phrase begins, and its number."""
        keys, sides = _side_by_side(texts, self.words)
        if not len(self.keys):
            return sides[:0], np.zeros(0, np.int32)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known: NDArray[np.bool_] = self.keys[rows] == keys
        return sides[known], (self.words + rows[known]).astype(np.int32)

    def added_to(self, texts: TextIds) -> TextIds:
        """The words of each text, and after them its phrases."""
        places, numbers = self.places(texts)
        if not len(places):
            return texts
        text = np.repeat(np.arange(len(texts)), texts.lengths)
        order = np.argsort(np.concatenate([text, text[places]]), kind="stable")
        begins = np.bincount(places, minlength=len(texts.ids))
        return TextIds(
            np.concatenate([texts.ids, numbers])[order],
            texts.offsets + np.append(0, np.cumsum(begins))[texts.offsets],
        )


def _side_by_side(texts: TextIds, words: int) -> tuple[Numbers, Numbers]:
    """The keys of any two words that stand side by side in a text, and the place of the first."""
    last = np.zeros(len(texts.ids), bool)
    last[texts.offsets[1:][texts.lengths > 0] - 1] = True
    sides = np.flatnonzero(~last)
    return texts.ids[sides].astype(np.int64) * words + texts.ids[sides + 1], sides

"""Texts as flat arrays of word ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from isogloss.text.batches import TokenizedTexts

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
        """The number of words of each text."""
        return np.diff(self.offsets)

    def words_of(self, texts: NDArray[np.integer]) -> Ids:
        """The words of some texts, one text after the other.

        >>> TextIds(np.array([7, 8, 9], np.int32), np.array([0, 2, 2, 3])).words_of(np.array([2, 0])).tolist()
        [9, 7, 8]
        """
        starts = self.offsets[texts]
        lengths = self.offsets[texts + 1] - starts
        ends = np.cumsum(lengths)
        positions = np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)
        found: Ids = self.ids[positions]
        return found


def split_chunks(texts: Sequence[str], characters: int) -> Iterator[Sequence[str]]:
    """Texts one after another in chunks of about so many characters.

    >>> list(split_chunks(["to", "be", "or not to be", "that"], 6))
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
    """Offsets from lengths: where each begins, and where the last one ends."""
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))


def choose_words(texts: TokenizedTexts, most: int, least_count: int = 1) -> list[str]:
    """The ``most`` most frequent words that occur at least ``least_count`` times, in the order of their UTF-8 bytes."""
    counts = np.bincount(texts.ids, minlength=len(texts.terms))
    order = np.lexsort((np.asarray(texts.terms, dtype=object), -counts))
    kept = [texts.terms[i] for i in order[:most] if counts[i] >= least_count]
    return in_order(kept)


def in_order(words: Iterable[str]) -> list[str]:
    """The words in the order of their UTF-8 bytes, as tables of strings are searched."""
    return sorted(words, key=lambda word: word.encode("utf-8", "surrogatepass"))


def text_ids(texts: TokenizedTexts, words: Sequence[str], longest: int = 0) -> TextIds:
    """The known words of each text's first ``longest`` ones (0: of all), as rows of ``words``."""
    row_of = {word: row for row, word in enumerate(words)}
    rows = np.fromiter((row_of.get(term, -1) for term in texts.terms), dtype=np.int32, count=len(texts.terms))
    lengths = np.diff(texts.offsets)
    text_of = np.repeat(np.arange(len(texts)), lengths)
    ids = rows[texts.ids] if len(rows) else np.zeros(0, np.int32)
    kept = ids >= 0
    if longest:
        kept &= np.arange(len(ids)) - texts.offsets[text_of] < longest
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.bincount(text_of[kept], minlength=len(texts)), out=offsets[1:])
    return TextIds(ids[kept], offsets)

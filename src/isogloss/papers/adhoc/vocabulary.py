"""The words a system knows, with the count of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import read_lines

_COUNT = re.compile("[0-9]{1,18}")
_UNWRITABLE = re.compile("[\t\n\0\ufeff]")


class Vocabulary:
    """Words and counts; a word's id is its rank by count, ties in code point order, so that equal texts give equal ids.

    >>> vocabulary = Vocabulary.count([["a", "b", "a"], ["c"]], minimum_count=1, maximum_size=2)
    >>> vocabulary.words, vocabulary.ids(["b", "z", "a"])
    (['a', 'b'], [1, 0])
    """

    def __init__(self, words: Sequence[str], counts: Sequence[int]) -> None:
        if len(words) != len(counts):
            raise ValueError("as many counts as words are needed")
        self.words = list(words)
        self.counts: NDArray[np.int64] = np.asarray(counts, dtype=np.int64)
        self.id_of = {word: number for number, word in enumerate(self.words)}
        if len(self.id_of) != len(self.words):
            raise ValueError("a word occurs twice")

    @classmethod
    def count(
        cls, texts: Iterable[Iterable[str]], minimum_count: int = 1, maximum_size: int | None = None
    ) -> Vocabulary:
        """Count the tokens of many texts; keep the most frequent ones with at least ``minimum_count``."""
        counter: Counter[str] = Counter()
        for tokens in texts:
            counter.update(tokens)
        return cls.from_counts(counter, minimum_count, maximum_size)

    @classmethod
    def from_counts(cls, counts: dict[str, int], minimum_count: int = 1, maximum_size: int | None = None) -> Vocabulary:
        """The same from counts."""
        kept = sorted((-count, word) for word, count in counts.items() if count >= minimum_count)[:maximum_size]
        return cls([word for _, word in kept], [-count for count, _ in kept])

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.id_of

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Ids of the known tokens, in order; unknown ones are left out."""
        id_of = self.id_of
        return [id_of[token] for token in tokens if token in id_of]

    def save(self, path: Path | str) -> None:
        """Write ``word<TAB>count`` lines."""
        if unwritable := next(filter(_UNWRITABLE.search, self.words), None):
            raise ValueError(f"a word with a tab, a line end, a NUL or a byte order mark: {unwritable!r}")
        with atomic_file(path) as file:
            file.writelines(f"{word}\t{count}\n" for word, count in zip(self.words, self.counts.tolist(), strict=True))

    @classmethod
    def load(cls, path: Path | str) -> Vocabulary:
        """Read what :meth:`save` wrote."""
        words, counts, seen = [], [], set()
        for location, line in read_lines(Path(path)):
            word, tab, count = line.partition("\t")
            if not tab or not _COUNT.fullmatch(count) or word in seen:
                raise InputError(f"{location}: expected a new word, a tab and its count, got {line[:60]!r}")
            seen.add(word)
            words.append(word)
            counts.append(int(count))
        return cls(words, counts)

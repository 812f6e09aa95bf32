"""The average of the vectors of a text's words, squashed (smooth paper, the average model).

    v(d) = tanh(1/n sum_i e(t_i))

over the n known words of the text. A text without a known word has the zero vector.

The shares of the words in it are exact and in closed form, with m the mean of the n word vectors x_i:

    tanh(m) = sum_i s_i,   s_i = (x_i / n) tanh(m) / m  (number by number)

The share s_i is what word i adds along the straight way from no words to all of them: d tanh(t m) / dt, integrated from
0 to 1, is m times the integral of tanh'(t m), which is tanh(m).

Many texts are tokenised and averaged by compiled code where numba is installed (extra ``fast``), with the same ids. A
query never touches it: importing numba takes longer than answering.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.array_types import Matrix
from isogloss.storage.compiled import compiled
from isogloss.storage.strings import StringTable
from isogloss.text.batches import available_cores, tokenize_texts
from isogloss.text.tokenizer import tokenize

if TYPE_CHECKING:
    from isogloss.papers.smooth.compiled_tokenizer import FastTokens

Ids = NDArray[np.int32]
Offsets = NDArray[np.int64]

_FEW_CHARACTERS = 20_000  # below this, importing numba takes longer than doing without
_FEW_TOKENS = 10_000
_BLOCK_TEXTS = 4096
_SAMPLED_PAIRS = 64
_PARTS_A_CORE = 4  # so that a core with longer texts does not keep the others waiting


class AverageEncoder:
    """Encodes texts by one vector a word, the rows of ``table``.

    ``words`` may be a mapped :class:`StringTable` and ``table`` a mapped array: then making an encoder reads next to
    nothing, and a query's words are found by bisection. Such words have to be in ascending order.

    With ``maximum_words`` above 0 only the first so many words of a text count, known or not: the text is cut before
    unknown words are dropped.

    >>> encoder = AverageEncoder(["bee", "cow"], np.array([[1, 0], [0, 1]], dtype=np.float32))
    >>> [[round(x, 3) for x in row] for row in encoder.encode(["Bee? Cow! Cow! Zebu.", "zebu"]).tolist()]
    [[0.322, 0.583], [0.0, 0.0]]
    """

    def __init__(self, words: Sequence[str], table: Matrix, maximum_words: int = 0) -> None:
        if table.ndim != 2 or len(words) != len(table) or table.dtype != np.float32:
            raise ValueError("a float32 table of as many rows as words is needed")
        if isinstance(words, StringTable) and not _seems_ascending(words):
            raise ValueError("the words of a StringTable have to be in ascending order")
        self.words, self.table, self.maximum_words = words, table, maximum_words

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        return int(self.table.shape[1])

    def encode(self, texts: Sequence[str], label: str = "encoding") -> Matrix:
        """One row a text."""
        encoded = np.zeros((len(texts), self.dimension), dtype=np.float32)
        first = 0
        for ids, offsets in self._batches(texts, label):
            last = first + len(offsets) - 1
            encoded[first:last] = self.pool(ids, offsets)
            first = last
        return encoded

    def pool(self, ids: Ids, offsets: Offsets) -> Matrix:
        """The same for texts whose ids are known: ``ids[offsets[i]:offsets[i + 1]]`` are those of text ``i``."""
        compiled = len(ids) >= _FEW_TOKENS and _numba_is_installed()
        means = (_compiled_means if compiled else _means)(self.table, ids, offsets)
        return np.tanh(means, out=means)

    def ids(self, texts: Sequence[str], label: str = "tokenising") -> tuple[Ids, Offsets]:
        """The rows of the known words of all texts one after another, and where those of each text begin."""
        batches = list(self._batches(texts, label))
        lengths = [np.diff(offsets) for _, offsets in batches]
        offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))
        return np.concatenate([np.zeros(0, np.int32), *(ids for ids, _ in batches)]), offsets

    def known(self, text: str) -> list[str]:
        """The words of a text that have a vector, each once."""
        return [word for word in dict.fromkeys(self._words(text)) if self._row(word) >= 0]

    def unknown(self, text: str) -> list[str]:
        """The words of a text that have none, each once."""
        return [word for word in dict.fromkeys(self._words(text)) if self._row(word) < 0]

    def _words(self, text: str) -> list[str]:
        return tokenize(text)[: self.maximum_words or None]

    def _row(self, word: str) -> int:
        """The row of a word, the first of several, or -1."""
        if isinstance(self.words, StringTable):
            row = self.words.find(word)
            return -1 if row is None else row
        return self._row_of.get(word, -1)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {word: row for row, word in reversed(list(enumerate(self.words)))}

    @cached_property
    def _fast_tokens(self) -> FastTokens:
        from isogloss.papers.smooth.compiled_tokenizer import FastTokens

        return FastTokens(self.words)

    def _batches(self, texts: Sequence[str], label: str) -> Iterator[tuple[Ids, Offsets]]:
        """Ids and offsets of one chunk of texts after another."""
        if _are_few(texts):
            rows = [[row for row in map(self._row, self._words(text)) if row >= 0] for text in texts]
            yield np.fromiter(chain.from_iterable(rows), np.int32), np.cumsum([0, *map(len, rows)], dtype=np.int64)
        elif _numba_is_installed():
            yield from self._fast_tokens.batches(texts, self.maximum_words, label)
        else:
            yield self._plain_ids(texts, label)

    def _plain_ids(self, texts: Sequence[str], label: str) -> tuple[Ids, Offsets]:
        tokens = tokenize_texts(texts, label=label)
        rows = np.fromiter(map(self._row, tokens.terms), dtype=np.int32, count=len(tokens.terms))[tokens.ids]
        lengths = np.diff(tokens.offsets)
        position = np.arange(len(rows)) - np.repeat(tokens.offsets[:-1], lengths)
        counts = (rows >= 0) & (position < (self.maximum_words or len(rows)))
        text_of = np.repeat(np.arange(len(texts)), lengths)
        offsets = np.cumsum([0, *np.bincount(text_of[counts], minlength=len(texts))], dtype=np.int64)
        return rows[counts], offsets


def _means(table: Matrix, ids: Ids, offsets: Offsets) -> Matrix:
    """The mean of the rows of each text, zeros where it has none."""
    means = np.zeros((len(offsets) - 1, table.shape[1]), dtype=np.float32)
    for first in range(0, len(means), _BLOCK_TEXTS):
        own = offsets[first : first + _BLOCK_TEXTS + 1]
        lengths = np.diff(own)
        filled = np.flatnonzero(lengths)
        if len(filled):
            sums = np.add.reduceat(table[ids[own[0] : own[-1]]], own[filled] - own[0], axis=0)
            means[first + filled] = sums / lengths[filled, None].astype(np.float32)
    return means


def _compiled_means(table: Matrix, ids: Ids, offsets: Offsets) -> Matrix:
    """The same, compiled and on all cores."""
    means = np.zeros((len(offsets) - 1, table.shape[1]), dtype=np.float32)
    table = np.asarray(table).view()
    table.flags.writeable = False  # as mapped ones are: one kind of array, compiled once
    cores, add = available_cores(), _compiled_add()
    parts = np.linspace(0, len(means), cores * _PARTS_A_CORE + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(cores) as threads:
        list(threads.map(lambda part: add(table, ids, offsets, *part, means), pairwise(parts)))
    return means


@cache
def _compiled_add() -> Callable[..., None]:
    return compiled(_add_means)


def _add_means(table: Matrix, ids: Ids, offsets: Offsets, first: int, last: int, means: Matrix) -> None:
    dimension = table.shape[1]
    for text in range(first, last):
        begin, end = offsets[text], offsets[text + 1]
        row = means[text]
        for k in range(begin, end):
            vector = table[ids[k]]
            for j in range(dimension):
                row[j] += vector[j]
        if end > begin:
            share = np.float32(1.0) / np.float32(end - begin)
            for j in range(dimension):
                row[j] *= share


def _are_few(texts: Sequence[str]) -> bool:
    return len(texts) < _FEW_CHARACTERS and sum(map(len, texts)) < _FEW_CHARACTERS


def _numba_is_installed() -> bool:
    return importlib.util.find_spec("numba") is not None


def _seems_ascending(words: StringTable) -> bool:
    """Whether neighbours all over the table are in order: checking all of them would take longer than a query."""
    samples = np.unique(np.linspace(0, max(0, len(words) - 2), _SAMPLED_PAIRS).astype(np.int64)).tolist()
    return len(words) < 2 or all(words[sample] < words[sample + 1] for sample in samples)


def squashed_shares(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """The share of each row in the tanh of the mean of all rows.

    >>> squashed_shares(np.array([[1.0, 3.0], [1.0, -1.0]])).sum(axis=0) - np.tanh([1.0, 1.0])
    array([0., 0.])
    """
    rows = np.asarray(vectors, dtype=np.float64)
    mean = rows.sum(axis=0) / max(1, len(rows))
    pull = np.divide(np.tanh(mean), mean, out=np.ones_like(mean), where=mean != 0)
    shares: NDArray[np.float64] = rows * (pull / max(1, len(rows)))
    return shares

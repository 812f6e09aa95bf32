"""Contrastive training of the average model on translated texts, in numpy: softmax over the texts of a batch.

A text is the sum of its words' vectors, scaled to length 1. Of a batch of n pairs, text i of one language being the
translation of text i of the other,

    x_i = sum of the rows of query i's words,  a_i = x_i / |x_i|;    y_j and b_j for document j likewise
    s_ij = a_i . b_j / temperature
    L = -1/n sum_i ( log exp(s_ii) / sum_j exp(s_ij)  +  log exp(s_ii) / sum_j exp(s_ji) )

Documents of equal words (their order aside) are not each other's negatives: s_ij and s_ji are left out of the sums
where documents i and j are such, i != j. With P the softmax of s by rows and Q by columns (0 where left out),

    dL/ds = (P + Q - 2 I) / n,    dL/da = dL/ds b / temperature,    dL/db = (dL/ds)' a / temperature
    dL/dx_i = (dL/da_i - (dL/da_i . a_i) a_i) / |x_i|

and the gradient of a word's row is the sum of dL/dx_i over its occurrences. Lazy Adam moves the rows of the words of
the batch alone. In training each word is left out with the probability ``drop``, so that no text is recognised by
one word only; lengths are scaled to 1, so the rest needs no other scale.

A word may have several rows (``spelling``), its own and those of subwords that others have too: their sum is its
vector.

Sums over runs of rows and Adam take most of the time. Both are compiled where numba is (extra ``fast``): the same
operations in the same order, hence the same numbers, and twice as fast on the whole.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.progress import track
from isogloss.systems.bridge.adam import ADAM_EPSILON, BETA1, BETA2
from isogloss.systems.bridge.text_vectors import Numbers, Table, add_runs, row_lengths, where_compiled
from isogloss.text.ids import Ids, TextIds

_FEWEST_TEXTS = 8  # a smaller rest of an epoch is too easy to learn from
_REST1, _REST2, _EPSILON = np.float32(1 - BETA1), np.float32(1 - BETA2), np.float32(ADAM_EPSILON)


class SoftmaxAverage:
    """Tables of word vectors for two languages, trained on translated texts. The first tables are not changed.

    Pairs of which a text has no word are left out. ``losses`` has the loss of each step taken. ``spelling`` has the
    rows of each word of the two languages; without it word i has row i alone.
    """

    def __init__(
        self,
        query_table: Table,
        document_table: Table,
        queries: TextIds,
        documents: TextIds,
        *,
        temperature: float = 0.07,
        drop: float = 0.1,
        seed: int = 0,
        spelling: tuple[TextIds, TextIds] | None = None,
    ) -> None:
        if len(queries) != len(documents):
            raise ValueError(f"{len(queries)} queries are not translations of {len(documents)} documents")
        if not (temperature > 0 and 0 <= drop < 1):
            raise ValueError(f"temperature {temperature} must be above 0, drop {drop} from 0 to below 1")
        spelt = spelling or (None, None)
        self._sides = _Side(query_table, queries, spelt[0]), _Side(document_table, documents, spelt[1])
        self._temperature, self._drop = np.float32(temperature), drop
        self._random = np.random.default_rng(seed)
        self._pairs = np.flatnonzero((queries.lengths > 0) & (documents.lengths > 0))
        self._bag_of = _bag_numbers(documents, len(self._sides[1]))
        self.losses: list[float] = []

    def learn(
        self, epochs: int = 20, batch: int = 512, rate: float = 0.03, label: str = "learning from translations"
    ) -> tuple[Table, Table]:
        """The words' vectors after ``epochs`` more epochs, the rate falling from ``rate`` to 0 in equal steps."""
        steps = epochs * len(_batches(self._pairs, batch))
        drawn = (members for epoch in range(epochs) for members in _batches(self.order(epoch), batch))
        for step, members in enumerate(track(drawn, label, steps)):
            loss, gradients = self.gradients(members, self._drop)
            self.losses.append(loss)
            for side, (touched, rows) in zip(self._sides, gradients, strict=True):
                side.move(touched, rows, rate * (1 - step / steps), len(self.losses))
        queries, documents = self._sides
        return queries.vectors(), documents.vectors()

    def gradients(self, batch: Numbers, drop: float = 0.0) -> tuple[float, list[tuple[Ids, Table]]]:
        """The loss of a batch; for each table the rows that its words have and the gradient of each."""
        bags = [_leave_out(*_take(side.texts, batch), drop, self._random) for side in self._sides]
        pooled = [side.pool(*bag) for side, bag in zip(self._sides, bags, strict=True)]
        sizes = [row_lengths(sums) for sums in pooled]
        queries, documents = (sums / size for sums, size in zip(pooled, sizes, strict=True))
        scores: Table = queries @ documents.T
        scores /= self._temperature
        loss, slopes = _contrast(scores, self._bag_of[batch])
        slopes /= self._temperature
        gradients = []
        for side, vectors, others, towards, size, bag in zip(
            self._sides, (queries, documents), (documents, queries), (slopes, slopes.T), sizes, bags, strict=True
        ):
            of_vectors = towards @ others
            along = np.einsum("ij,ij->i", of_vectors, vectors)[:, None]
            gradients.append(side.share_out((of_vectors - along * vectors) / size, *bag))
        return loss, gradients

    def order(self, epoch: int) -> Numbers:
        """The order of the pairs in an epoch."""
        return self._random.permutation(self._pairs)


class _Side:
    """The texts of one language, the rows that its words' vectors are made of and their moments."""

    def __init__(self, table: Table, texts: TextIds, spelling: TextIds | None) -> None:
        self.texts, self._spelling = texts, spelling
        self.table: Table = np.array(table, dtype=np.float32)
        self._first, self._second = np.zeros_like(self.table), np.zeros_like(self.table)

    def __len__(self) -> int:
        return len(self.table if self._spelling is None else self._spelling)

    def vectors(self) -> Table:
        """One row a word."""
        if self._spelling is None:
            return self.table.copy()
        return add_runs(self.table, self._spelling.ids, self._spelling.lengths)

    def pool(self, ids: Ids, lengths: Numbers) -> Table:
        """The sum of the words' vectors of each text."""
        if self._spelling is None:
            return add_runs(self.table, ids, lengths)
        words, numbers = np.unique(ids, return_inverse=True)
        return add_runs(add_runs(self.table, *_take(self._spelling, words)), numbers.astype(np.int32), lengths)

    def share_out(self, of_texts: Table, ids: Ids, lengths: Numbers) -> tuple[Ids, Table]:
        """The rows of the texts' words, and the gradient of each by that of the texts' sums."""
        words, gradient = _add_occurrences(of_texts, ids, lengths)
        if self._spelling is None:
            return words, gradient
        return _add_occurrences(gradient, *_take(self._spelling, words))

    def move(self, touched: Ids, gradient: Table, rate: float, step: int) -> None:
        """Take  w -= rate / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + e),  m and v the running means of g and g^2."""
        pace, correction = rate / (1 - BETA1**step), (1 - BETA2**step) ** -0.5
        move = where_compiled(_move_compiled) or _move
        move(self.table, self._first, self._second, touched, gradient, np.float32(pace), np.float32(correction))


def _batches(order: Numbers, size: int) -> list[Numbers]:
    """The pairs in batches; a small rest is left for another epoch, unless it is all there is. None of one pair."""
    batches = [order[start : start + size] for start in range(0, len(order), size)] if len(order) > 1 else []
    return [batch for batch in batches if len(batch) >= min(size, _FEWEST_TEXTS)] or batches


def _bag_numbers(texts: TextIds, words: int) -> NDArray[np.uint64]:
    """The sum, modulo 2^64, of a random number a word: shared by texts of equal words (others: a chance of 2^-64)."""
    of_words = np.random.default_rng(0).integers(0, 2**64, words, dtype=np.uint64)
    until = np.zeros(len(texts.ids) + 1, np.uint64)
    np.cumsum(of_words[texts.ids], out=until[1:])
    return until[texts.offsets[1:]] - until[texts.offsets[:-1]]


def _take(texts: TextIds, numbers: Numbers | Ids) -> tuple[Ids, Numbers]:
    """The words of the texts of these numbers, one text after the other, and how many each has."""
    lengths = texts.lengths[numbers]
    ends = np.cumsum(lengths)
    positions = np.repeat(texts.offsets[numbers] - ends + lengths, lengths) + np.arange(lengths.sum())
    return texts.ids[positions], lengths


def _leave_out(ids: Ids, lengths: Numbers, drop: float, random: np.random.Generator) -> tuple[Ids, Numbers]:
    """The same without each word by the probability ``drop``."""
    if not drop:
        return ids, lengths
    kept = random.random(len(ids), dtype=np.float32) >= drop
    texts = np.repeat(np.arange(len(lengths)), lengths)
    return ids[kept], np.bincount(texts[kept], minlength=len(lengths))


def _contrast(scores: Table, bags: NDArray[np.uint64]) -> tuple[float, Table]:
    """The loss and its slope by each score. ``scores`` is overwritten."""
    number = len(scores)
    right = np.diagonal(scores).copy()
    if len(np.unique(bags)) < number:
        scores[bags[:, None] == bags] = -np.inf
        np.fill_diagonal(scores, right)
    slopes, loss = np.zeros_like(scores), 0.0
    for axis in (1, 0):
        highest = scores.max(axis=axis, keepdims=True)
        shares = np.exp(scores - highest)
        totals = shares.sum(axis=axis, keepdims=True)
        shares /= totals
        slopes += shares
        loss += float((np.log(totals) + highest).sum(dtype=np.float64) - right.sum(dtype=np.float64)) / number
    slopes[np.diag_indices(number)] -= 2
    slopes /= number
    return loss, slopes


def _add_occurrences(of_texts: Table, ids: Ids, lengths: Numbers) -> tuple[Ids, Table]:
    """The words that occur, and the sum of the rows of the texts of each, a text counting as often as it has it."""
    order = np.argsort(ids, kind="stable")
    texts = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)[order]
    starts = np.flatnonzero(np.diff(ids[order], prepend=-1))
    return ids[order[starts]], add_runs(of_texts, texts, np.diff(starts, append=len(ids)))


def _move(
    table: Table, first: Table, second: Table, touched: Ids, gradient: Table, pace: np.float32, correction: np.float32
) -> None:
    means, squares = first[touched], second[touched]
    means += _REST1 * (gradient - means)
    squares += _REST2 * (gradient * gradient - squares)
    first[touched], second[touched] = means, squares
    table[touched] -= pace * means / (np.sqrt(squares) * correction + _EPSILON)


def _move_compiled(
    table: Table, first: Table, second: Table, touched: Ids, gradient: Table, pace: np.float32, correction: np.float32
) -> None:
    for number in range(len(touched)):
        row = touched[number]
        word, mean, square, slope = table[row], first[row], second[row], gradient[number]
        for j in range(len(word)):
            mean[j] += _REST1 * (slope[j] - mean[j])
            square[j] += _REST2 * (slope[j] * slope[j] - square[j])
            word[j] -= pace * mean[j] / (math.sqrt(square[j]) * correction + _EPSILON)

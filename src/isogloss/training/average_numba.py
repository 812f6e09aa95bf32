r"""Learning the average model on the CPU: pooling, smooth cosine, loss, gradient and lazy Adam in one compiled pass.

What limits training is memory: each step reads and writes the touched rows of two large tables. So a step reads each
row for pooling once a token, and updates it once a distinct word:

1. every pair (in parallel): pool both texts, tanh, score, loss; the gradient of each pooled mean. These two vectors a
   pair fit the cache.
2. the tokens of the batch become, for each touched row, a linked list of the pairs that hold it. Rows are dealt to
   *parts* by their number; each part reads all tokens and keeps its own, so that parts run in parallel.
3. every part (in parallel) adds up the gradients of each of its rows along the list, in the cache, and takes the Adam
   step at once. A row lies beside its two moments, so that all three come with one stretch of memory, asked for a few
   rows ahead; no table of gradients exists.

Clipping needs the norm of the whole gradient before step 3. It is at most the sum of the pairs' own norms; only where
that bound exceeds the limit is the norm computed, by one more pass over the lists. What comes out does not depend on
the number of threads.

numba was chosen over C++ with OpenMP because it needs no compiler at installation, and over torch, which is several
times slower here even with sparse gradients (``benchmarks/training.py``).
"""

from __future__ import annotations

import math
import time
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import compiled_arithmetic, compiled_parallel
from isogloss.models.losses.loss import CompiledLoss
from isogloss.training.average import ADAM_EPSILON, BETA1, BETA2, NumpyAverage, Table
from isogloss.training.pair_gradient import differentiate
from isogloss.training.pairs import Pairs
from isogloss.training.prefetching import prefetch
from isogloss.training.thread_choice import ThreadChoice

_END = np.int32(-1)
_AHEAD = 4
_PARTS = 4  # a power of 2; whatever the number of threads, so that it makes no difference
_WORTH_THREADS = 20  # words a pair
_LINE = 16  # float32 values of a cache line


class NumbaAverage(NumpyAverage):
    """The same learner, compiled."""

    def __init__(
        self, query_table: Table, document_table: Table, pairs: Pairs, loss: CompiledLoss, eps: float, clip: float
    ) -> None:
        super().__init__(query_table, document_table, pairs, loss, eps, clip)
        self._heads = [np.full(len(table), _END, dtype=np.int32) for table in self._tables]
        self._threads = ThreadChoice(_useful_threads(pairs))
        self._steps_through(np.zeros(0, np.int64), 1, 0.0)  # compiles, or finds what was compiled before

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        losses, done = [np.zeros(0)], 0
        allowed = numba.get_num_threads()
        for wanted, batches in self._threads.stretches(-(-len(order) // batch_size)):
            threads = min(wanted or self._threads.best, allowed)
            numba.set_num_threads(threads)
            started = time.perf_counter()
            losses.append(self._steps_through(order[done : done + batches * batch_size], batch_size, rate))
            self._threads.learn(threads, batches, time.perf_counter() - started)
            done += batches * batch_size
            if not np.isfinite(losses[-1][-1]):
                break
        numba.set_num_threads(allowed)
        return np.concatenate(losses)

    def _steps_through(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        pairs, losses = self.pairs, np.zeros(-(-len(order) // batch_size))
        batch_size = min(batch_size, max(1, len(order)))
        sides = []
        for texts, table, heads in zip((pairs.queries, pairs.documents), self._tables, self._heads, strict=True):
            tokens = max(1, int(texts.lengths.max(initial=0)) * batch_size)
            lists = np.empty((_PARTS, 2, tokens), np.int32)
            touched = np.empty((_PARTS, min(tokens, len(table))), np.int32)
            sides.append((texts.ids, texts.offsets, table, heads, lists, touched))
        numbers = (pairs.query_of, pairs.document_of, pairs.grades)
        loss = (self.loss.kind, self.loss.lower, self.loss.upper, np.float32(self.loss.slope), np.float32(self.eps))
        clip, rate = float(self.clip), float(rate)  # whole numbers would be compiled for anew
        taken = _advance(order, batch_size, losses, numbers, sides[0], sides[1], loss, clip, rate, self._step)
        self._step += taken
        return losses[: taken + 1]


def _useful_threads(pairs: Pairs) -> int:
    """All of them, unless texts are so short that threads would wait for each other more than they work."""
    words = pairs.queries.lengths.mean() + pairs.documents.lengths.mean() if len(pairs) else 0
    return int(numba.get_num_threads()) if words >= _WORTH_THREADS else 1


@compiled_parallel
def _advance(
    order: Any, batch_size: int, losses: Any, numbers: Any, query_side: Any, document_side: Any, loss: Any,
    clip: float, rate: float, step: int,
) -> int:  # fmt: skip
    """Step through the order; how many steps were taken (fewer than asked for: the next is not finite)."""
    query_of, document_of, grades = numbers
    query_ids, query_offsets, queries, query_heads, query_lists, query_touched = query_side
    document_ids, document_offsets, documents, document_heads, document_lists, document_touched = document_side
    gradients = np.empty((2, batch_size, queries.shape[2]), dtype=np.float32)
    pair_losses = np.empty(batch_size, dtype=np.float32)
    pair_norms = np.empty(batch_size, dtype=np.float32)
    counts = np.empty((_PARTS, 2), dtype=np.int64)
    squares = np.zeros(_PARTS)
    for batch in range(len(losses)):
        members = order[batch * batch_size : (batch + 1) * batch_size]
        number = len(members)
        for i in numba.prange(number):
            query, document = query_of[members[i]], document_of[members[i]]
            query_words = _pool(queries, query_ids, query_offsets[query], query_offsets[query + 1], gradients[0, i])
            document_words = _pool(
                documents, document_ids, document_offsets[document], document_offsets[document + 1], gradients[1, i]
            )
            pair_losses[i], pair_norms[i] = differentiate(
                gradients[0, i], gradients[1, i], query_words, document_words, grades[members[i]], loss, number
            )
        bound = _sum(pair_norms, number)
        losses[batch] = _sum(pair_losses, number) / number if math.isfinite(bound) else bound
        if not math.isfinite(losses[batch]):
            return batch
        clipping = 0 < clip < bound
        for part in numba.prange(_PARTS):
            counts[part, 0] = _link(
                part, members, query_of, query_ids, query_offsets, query_heads, query_lists[part],
                query_touched[part],
            )  # fmt: skip
            counts[part, 1] = _link(
                part, members, document_of, document_ids, document_offsets, document_heads, document_lists[part],
                document_touched[part],
            )  # fmt: skip
            if clipping:
                squares[part] = _square(
                    query_touched[part, : counts[part, 0]], query_heads, query_lists[part], gradients[0]
                ) + _square(
                    document_touched[part, : counts[part, 1]], document_heads, document_lists[part], gradients[1]
                )
        norm = math.sqrt(_sum(squares, _PARTS)) if clipping else 0.0
        scale = clip / norm if clipping and norm > clip else 1.0
        now = step + batch + 1
        pace = rate / (1.0 - BETA1**now)
        correction = 1.0 / math.sqrt(1.0 - BETA2**now)
        for part in numba.prange(_PARTS):
            _update(
                query_touched[part, : counts[part, 0]], query_heads, query_lists[part], gradients[0], queries,
                np.float32(scale), np.float32(pace), np.float32(correction),
            )  # fmt: skip
            _update(
                document_touched[part, : counts[part, 1]], document_heads, document_lists[part], gradients[1],
                documents, np.float32(scale), np.float32(pace), np.float32(correction),
            )  # fmt: skip
    return len(losses)


@compiled_arithmetic
def _sum(values: Any, number: int) -> float:
    """The sum of the first values, by one thread: it does not depend on how many there are."""
    total = 0.0
    for i in range(number):
        total += values[i]
    return total


@compiled_arithmetic
def _pool(table: Any, ids: Any, start: int, end: int, mean: Any) -> int:
    """The mean of a text's rows, four at a time so that memory answers several requests at once; how many rows."""
    size = len(mean)
    for j in range(size):
        mean[j] = np.float32(0)
    token = start
    while token + 4 <= end:
        for ahead in range(min(4, end - token - 4)):
            for line in range(0, size, _LINE):
                prefetch(table, ids[token + 4 + ahead], 0, line)
        first, second = table[ids[token], 0], table[ids[token + 1], 0]
        third, fourth = table[ids[token + 2], 0], table[ids[token + 3], 0]
        for j in range(size):
            mean[j] += (first[j] + second[j]) + (third[j] + fourth[j])
        token += 4
    for rest in range(token, end):
        row = table[ids[rest], 0]
        for j in range(size):
            mean[j] += row[j]
    share = np.float32(1) / np.float32(max(1, end - start))
    for j in range(size):
        mean[j] *= share
    return end - start


@compiled_arithmetic
def _link(part: int, members: Any, text_of: Any, ids: Any, offsets: Any, heads: Any, lists: Any, touched: Any) -> int:
    """For each row of this part that the batch touches, the list of the pairs that hold it; how many rows."""
    count, place = 0, 0
    for i in range(len(members)):
        text = text_of[members[i]]
        for token in range(offsets[text], offsets[text + 1]):
            row = ids[token]
            if row & (_PARTS - 1) != part:
                continue
            if heads[row] == _END:
                touched[count] = row
                count += 1
            lists[0, place] = i
            lists[1, place] = heads[row]
            heads[row] = place
            place += 1
    return count


@compiled_arithmetic
def _add_up(place: int, lists: Any, gradients: Any, total: Any) -> Any:
    """The gradient of one row: the sum along its list; where the list has one place, that gradient itself."""
    first = gradients[lists[0, place]]
    place = lists[1, place]
    if place == _END:
        return first
    for j in range(len(total)):
        total[j] = first[j]
    while place != _END:
        gradient = gradients[lists[0, place]]
        for j in range(len(total)):
            total[j] += gradient[j]
        place = lists[1, place]
    return total


@compiled_arithmetic
def _square(touched: Any, heads: Any, lists: Any, gradients: Any) -> float:
    """The squared norm of the gradient over some rows."""
    total = np.empty(gradients.shape[1], dtype=np.float32)
    square = 0.0
    for row in touched:
        gradient = _add_up(heads[row], lists, gradients, total)
        own: Any = np.float32(0)
        for j in range(len(gradient)):
            own += gradient[j] * gradient[j]
        square += own
    return square


@compiled_arithmetic
def _update(
    touched: Any, heads: Any, lists: Any, gradients: Any, table: Any, scale: Any, pace: Any, correction: Any
) -> None:
    """Each row's gradient, its Adam step, and its list emptied."""
    size = gradients.shape[1]
    beta1, beta2 = np.float32(BETA1), np.float32(BETA2)
    rest1, rest2 = np.float32(1 - BETA1), np.float32(1 - BETA2)
    epsilon = np.float32(ADAM_EPSILON)
    total = np.empty(size, dtype=np.float32)
    for number in range(len(touched)):
        if number + _AHEAD < len(touched):
            for moment in range(3):
                for line in range(0, size, _LINE):
                    prefetch(table, touched[number + _AHEAD], moment, line)
        row = touched[number]
        gradient = _add_up(heads[row], lists, gradients, total)
        heads[row] = _END
        word, mean, square = table[row, 0], table[row, 1], table[row, 2]
        for j in range(size):
            slope = gradient[j] * scale
            mean[j] = beta1 * mean[j] + rest1 * slope
            square[j] = beta2 * square[j] + rest2 * slope * slope
            word[j] -= pace * mean[j] / (math.sqrt(square[j]) * correction + epsilon)

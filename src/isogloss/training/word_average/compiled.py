"""One step of the average model over the rows that its batch touches, compiled.

What limits training is memory: each step reads and writes the touched rows of two large tables. So a step reads each
row for pooling once a token, and updates it once a distinct word:

1. every pair (in parallel): pool both texts, tanh, score, loss; the gradient of each pooled mean. These two vectors a
   pair fit the cache.
2. the tokens of the batch become, for each touched row, a linked list of the pairs that hold it. Rows are dealt to
   *parts* by their number; each part reads all tokens and keeps its own, so that parts run in parallel.
3. every part (in parallel) adds up the gradients of each of its rows along the list, in the cache, and takes the Adam
   step at once. A row lies beside its two moments, so that all three are one span of memory, fetched a few rows
   ahead; no table of gradients exists.

Clipping needs the norm of the whole gradient before step 3. It is at most the sum of the pairs' own norms; only where
that bound exceeds the limit is the norm computed, by one more pass over the lists. What comes out does not depend on
the number of threads.

Arguments that go together go as tuples: of a side ``(ids, offsets, table, heads, lists, touched)``, of the pairs
``(query_of, document_of, grades)``. What is written into is an argument of its own: of arrays that come out of a tuple
numba does not know that someone else sees them, and drops stores that it takes for dead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from isogloss.storage.compiled import compiled_arithmetic, compiled_parallel
from isogloss.training.word_average.reference import ADAM_EPSILON, BETA1, BETA2

END = np.int32(-1)
PARTS = 4  # a power of 2; whatever the number of threads, so that it makes no difference
_AHEAD = 4
_LINE = 16  # float32 values of a cache line
_tools: Any = cgutils  # has no types
_intrinsic: Callable[[Any], Any] = intrinsic
_TINY = np.float32(1e-15)  # its square is still a float32
_ONE = np.float32(1)


@compiled_arithmetic
def differentiate(
    query: Any, document: Any, query_words: int, document_words: int, grade: int, loss: Any, number: int
) -> tuple[float, float]:
    """Means in, gradients of the mean loss of ``number`` pairs out, in place; the loss, and a bound on their norm.

    q = tanh(a), d = tanh(b);  r = q.d / ((|q| + eps)(|d| + eps))
    dr/dq = d / ((|q| + eps)(|d| + eps)) - r q / (|q| (|q| + eps))
    dL/da = L'(r) dr/dq (1 - q^2),  and each of the text's n words gets 1/n of it
    """
    kind, lower, upper, slope, eps = loss
    size = len(query)
    product, query_square, document_square = np.float32(0), np.float32(0), np.float32(0)
    for j in range(size):
        query[j] = hyperbolic_tangent(query[j])
        document[j] = hyperbolic_tangent(document[j])
        product += query[j] * document[j]
        query_square += query[j] * query[j]
        document_square += document[j] * document[j]
    query_norm, document_norm = math.sqrt(query_square), math.sqrt(document_square)
    query_size, document_size = max(query_norm + eps, _TINY), max(document_norm + eps, _TINY)
    score = product / query_size / document_size
    value, towards = loss_and_slope(score, kind, lower[grade], upper[grade], slope)
    towards /= np.float32(number)
    across = towards / query_size / document_size
    if eps == 0 and (query_norm == 0 or document_norm == 0):
        across = np.float32(0)  # the cosine has no gradient there
    query_along = towards * score / query_size / max(query_norm, _TINY)
    document_along = towards * score / document_size / max(document_norm, _TINY)
    query_share, document_share = _ONE / np.float32(max(1, query_words)), _ONE / np.float32(max(1, document_words))
    total = np.float32(0)
    for j in range(size):
        q, d = query[j], document[j]
        query_slope = (across * d - query_along * q) * (_ONE - q * q)
        document_slope = (across * q - document_along * d) * (_ONE - d * d)
        total += query_slope * query_slope + document_slope * document_slope
        query[j] = query_slope * query_share
        document[j] = document_slope * document_share
    return value, math.sqrt(total)


@compiled_arithmetic
def hyperbolic_tangent(x: Any) -> Any:
    """The tanh to 2e-7, by Lambert's continued fraction of x/2 and doubling: without branches, it runs in registers."""
    x = np.float32(-9) if x < -9 else x  # written so that what is not a number stays so
    x = np.float32(9) if x > 9 else x
    half = x * np.float32(0.5)
    s = half * half
    above = _ONE + s * (
        np.float32(4729725 / 34459425)
        + s * (np.float32(135135 / 34459425) + s * (np.float32(990 / 34459425) + s * np.float32(1 / 34459425)))
    )
    below = _ONE + s * (
        np.float32(16216200 / 34459425)
        + s * (np.float32(945945 / 34459425) + s * (np.float32(13860 / 34459425) + s * np.float32(45 / 34459425)))
    )
    t = half * above / below
    return (t + t) / (_ONE + t * t)


@compiled_arithmetic
def loss_and_slope(score: Any, kind: int, lower: Any, upper: Any, slope: Any) -> Any:
    """Either kind of loss (:mod:`isogloss.nn.losses`)."""
    if kind == 0:
        above: Any = max(score - upper, np.float32(0))
        below: Any = max(lower - score, np.float32(0))
        return above * above + below * below, np.float32(2) * (above - below)
    right, left = slope * (score - upper), slope * (lower - score)
    value = _softplus(right) + _softplus(left) - math.log(-math.expm1(slope * (lower - upper)))
    return np.float32(value), np.float32(slope * (_sigmoid(right) - _sigmoid(left)))


@compiled_arithmetic
def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@compiled_arithmetic
def _sigmoid(x: float) -> float:
    return 0.5 + 0.5 * math.tanh(0.5 * x)


@_intrinsic
def prefetch(_context: Any, table: Any, row: Any, moment: Any, column: Any) -> Any:
    """Ask memory for the cache line of ``table[row, moment, column]``; the program goes on meanwhile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        indices = [
            context.cast(builder, argument, kind, types.intp)
            for argument, kind in zip(arguments[1:], signature.args[1:], strict=True)
        ]
        pointer = _tools.get_item_pointer(context, builder, array_type, array, indices, wraparound=False)
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = _tools.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(pointer, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(table, row, moment, column), generate


@compiled_arithmetic
def step_through(
    order: Any, batch_size: int, losses: Any, numbers: Any, sides: Any, loss: Any, gradients: Any,
    pair_losses: Any, pair_norms: Any, clip: float, rate: float, step: int,
) -> int:  # fmt: skip
    """Step through the order; how many steps were taken (fewer than planned: the next is not finite)."""
    for batch in range(len(losses)):
        members = order[batch * batch_size : (batch + 1) * batch_size]
        differentiate_pairs(members, 0, len(members), numbers, sides, loss, gradients, pair_losses, pair_norms)
        losses[batch] = take_step(
            members, numbers, sides, gradients, pair_losses, pair_norms, clip, rate, step + batch + 1
        )
        if not math.isfinite(losses[batch]):
            return batch
    return len(losses)


@compiled_parallel
def differentiate_pairs(
    members: Any, first: int, last: int, numbers: Any, sides: Any, loss: Any, gradients: Any, pair_losses: Any,
    pair_norms: Any,
) -> None:  # fmt: skip
    """Of pairs ``first`` to ``last`` of a batch: gradients of both means, loss and norm, each at its own index."""
    query_of, document_of, grades = numbers
    query_ids, query_offsets, queries, _, _, _ = sides[0]
    document_ids, document_offsets, documents, _, _, _ = sides[1]
    number = len(members)
    for i in numba.prange(first, last):
        query, document = query_of[members[i]], document_of[members[i]]
        query_words = _pool(queries, query_ids, query_offsets[query], query_offsets[query + 1], gradients[0, i])
        document_words = _pool(
            documents, document_ids, document_offsets[document], document_offsets[document + 1], gradients[1, i]
        )
        pair_losses[i], pair_norms[i] = differentiate(
            gradients[0, i], gradients[1, i], query_words, document_words, grades[members[i]], loss, number
        )


@compiled_parallel
def take_step(
    members: Any, numbers: Any, sides: Any, gradients: Any, pair_losses: Any, pair_norms: Any, clip: float, rate: float,
    step: int,
) -> float:  # fmt: skip
    """Take the step of a batch, unless it is not finite; the mean loss before it."""
    query_of, document_of, _ = numbers
    query_ids, query_offsets, queries, query_heads, query_lists, query_touched = sides[0]
    document_ids, document_offsets, documents, document_heads, document_lists, document_touched = sides[1]
    number = len(members)
    bound = _sum(pair_norms, number)
    mean_loss = _sum(pair_losses, number) / number if math.isfinite(bound) else bound
    if not math.isfinite(mean_loss):
        return mean_loss
    clipping = 0 < clip < bound
    counts = np.empty((PARTS, 2), dtype=np.int64)
    squares = np.zeros(PARTS)
    for part in numba.prange(PARTS):
        counts[part, 0] = _link(
            part, members, query_of, query_ids, query_offsets, query_heads, query_lists[part], query_touched[part]
        )
        counts[part, 1] = _link(
            part, members, document_of, document_ids, document_offsets, document_heads, document_lists[part],
            document_touched[part],
        )  # fmt: skip
        if clipping:
            squares[part] = _square(
                query_touched[part, : counts[part, 0]], query_heads, query_lists[part], gradients[0]
            ) + _square(document_touched[part, : counts[part, 1]], document_heads, document_lists[part], gradients[1])
    norm = math.sqrt(_sum(squares, PARTS)) if clipping else 0.0
    scale = clip / norm if clipping and norm > clip else 1.0
    pace = rate / (1.0 - BETA1**step)
    correction = 1.0 / math.sqrt(1.0 - BETA2**step)
    for part in numba.prange(PARTS):
        _update(
            query_touched[part, : counts[part, 0]], query_heads, query_lists[part], gradients[0], queries,
            np.float32(scale), np.float32(pace), np.float32(correction),
        )  # fmt: skip
        _update(
            document_touched[part, : counts[part, 1]], document_heads, document_lists[part], gradients[1],
            documents, np.float32(scale), np.float32(pace), np.float32(correction),
        )  # fmt: skip
    return mean_loss


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
            if row & (PARTS - 1) != part:
                continue
            if heads[row] == END:
                touched[count] = row
                count += 1
            lists[0, place] = i
            lists[1, place] = heads[row]
            heads[row] = place
            place += 1
    return count


@compiled_arithmetic
def _add_up(place: int, lists: Any, gradients: Any, total: Any) -> Any:
    """The gradient of one row: the sum along its list; where the list has one entry, that gradient itself."""
    first = gradients[lists[0, place]]
    place = lists[1, place]
    if place == END:
        return first
    for j in range(len(total)):
        total[j] = first[j]
    while place != END:
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
        heads[row] = END
        word, mean, square = table[row, 0], table[row, 1], table[row, 2]
        for j in range(size):
            slope = gradient[j] * scale
            mean[j] = beta1 * mean[j] + rest1 * slope
            square[j] = beta2 * square[j] + rest2 * slope * slope
            word[j] -= pace * mean[j] / (math.sqrt(square[j]) * correction + epsilon)

"""Steps of the average model over the rows that their batches touch, compiled.

What limits training is memory: each step reads and writes the touched rows of two large tables. So a step reads each
row for pooling once a token, and updates it once a distinct word. Steps are taken by windows of batches:

1. the tokens of each batch of the window (batches in parallel) become, for each touched row, a linked list of the pairs
   that hold it. Rows are dealt to *parts*, by blocks that fill a cache line of step numbers.
2. every part (in parallel) finds for each touched row how many steps it will miss until the window touches it again,
   and its rows catch up with the steps that they missed before (``adam.py``).
3. of each batch, every pair (in parallel): pool both texts, tanh, score, loss; the gradient of each pooled mean. These
   two vectors a pair fit the cache.
4. of each batch, every part (in parallel) adds up the gradients of each touched row along its list, in the cache, and
   takes the Adam step at once, and those that the row will miss, while it is at hand. A row lies beside its two
   moments, so that all three are one span of memory, fetched a few rows ahead; no table of gradients exists.

Clipping needs the norm of the whole gradient before step 4. It is at most the sum of the pairs' own norms; only where
that bound exceeds the limit is the norm computed, by one more pass over the lists. What comes out does not depend on
the number of threads, nor on where windows begin.

Arguments that go together go as tuples: of a side ``(ids, offsets, table, since, heads, coming)``, of a side's window
``(spans, lists, touched, firsts, misses, counts)``, of the pairs ``(query_of, document_of, grades)``. What is written
into is an argument of its own: of arrays that come out of a tuple numba does not know that someone else sees them, and
drops stores that it takes for dead.
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
from isogloss.systems.bridge.adam import ADAM_EPSILON, BETA1, BETA2, LIMIT

END = np.int32(-1)
WINDOW = 128  # batches
PARTS, BLOCK = 64, 16  # powers of 2, whatever the number of threads, so that it makes no difference
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
    """Either kind of loss (:mod:`isogloss.papers.smooth.losses`)."""
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
    order: Any, batch_size: int, losses: Any, numbers: Any, sides: Any, windows: Any, loss: Any, gradients: Any,
    pair_losses: Any, pair_norms: Any, clip: float, rate: float, step: int, schedule: Any,
) -> int:  # fmt: skip
    """Step through the order; how many steps were taken (fewer than planned: the next is not finite)."""
    for batch in range(len(losses)):
        place = batch % len(windows[0][5])
        if place == 0:
            begin_window(order[batch * batch_size :], batch_size, numbers, sides, windows, rate, step + batch, schedule)
        grades = numbers[2][order[batch * batch_size : (batch + 1) * batch_size]]
        number = len(grades)
        differentiate_pairs(grades, place, sides, windows, loss, gradients, pair_losses, pair_norms)
        losses[batch] = take_step(
            number, place, sides, windows, gradients, pair_losses, pair_norms, clip, rate, step + batch + 1,
            schedule,
        )  # fmt: skip
        if not math.isfinite(losses[batch]):
            return batch
    return len(losses)


@compiled_parallel
def begin_window(
    order: Any, batch_size: int, numbers: Any, sides: Any, windows: Any, rate: float, step: int, schedule: Any
) -> None:
    """Prepare the first batches of an order; their rows catch up. ``step`` is the last step that was taken."""
    query_of, document_of, _ = numbers
    query_ids, query_offsets, queries, query_since, query_heads, query_coming = sides[0]
    document_ids, document_offsets, documents, document_since, document_heads, document_coming = sides[1]
    query_spans, query_lists, query_touched, query_firsts, query_misses, query_counts = windows[0]
    document_spans, document_lists, document_touched, document_firsts, document_misses, document_counts = windows[1]
    batches = min(len(query_counts), -(-len(order) // batch_size))
    tasks = min(len(query_heads), batches)
    for task in numba.prange(tasks):
        for batch in range(task, batches, tasks):
            members = order[batch * batch_size : (batch + 1) * batch_size]
            _link(
                members, query_of, query_ids, query_offsets, query_heads[task], query_spans[batch], query_lists[batch],
                query_touched[batch], query_firsts[batch], query_counts[batch],
            )  # fmt: skip
            _link(
                members, document_of, document_ids, document_offsets, document_heads[task], document_spans[batch],
                document_lists[batch], document_touched[batch], document_firsts[batch], document_counts[batch],
            )  # fmt: skip
    for part in numba.prange(PARTS):
        _look_ahead(part, batches, query_touched, query_counts, query_misses, query_coming)
        _look_ahead(part, batches, document_touched, document_counts, document_misses, document_coming)
        _catch_up_part(part, queries, query_since, query_coming, step, rate, schedule)
        _catch_up_part(part, documents, document_since, document_coming, step, rate, schedule)


@compiled_parallel
def differentiate_pairs(
    grades: Any, place: int, sides: Any, windows: Any, loss: Any, gradients: Any, pair_losses: Any, pair_norms: Any
) -> None:
    """Of each pair of a window's batch: gradients of both means, loss and norm."""
    query_ids, queries, query_spans = sides[0][0], sides[0][2], windows[0][0][place]
    document_ids, documents, document_spans = sides[1][0], sides[1][2], windows[1][0][place]
    number = len(grades)
    for i in numba.prange(number):
        query_words = _pool(queries, query_ids, query_spans[i, 0], query_spans[i, 1], gradients[0, i])
        document_words = _pool(documents, document_ids, document_spans[i, 0], document_spans[i, 1], gradients[1, i])
        pair_losses[i], pair_norms[i] = differentiate(
            gradients[0, i], gradients[1, i], query_words, document_words, grades[i], loss, number
        )


@compiled_parallel
def take_step(
    number: int, place: int, sides: Any, windows: Any, gradients: Any, pair_losses: Any, pair_norms: Any, clip: float,
    rate: float, step: int, schedule: Any,
) -> float:  # fmt: skip
    """Take the step of a window's batch of ``number`` pairs, unless it is not finite; the mean loss before it."""
    _, _, queries, query_since, _, _ = sides[0]
    _, _, documents, document_since, _, _ = sides[1]
    _, query_lists, query_touched, query_firsts, query_misses, query_counts = windows[0]
    _, document_lists, document_touched, document_firsts, document_misses, document_counts = windows[1]
    bound = _sum(pair_norms, number)
    mean_loss = _sum(pair_losses, number) / number if math.isfinite(bound) else bound
    if not math.isfinite(mean_loss):
        return mean_loss
    scale = 1.0
    if 0 < clip < bound:
        squares = np.zeros(PARTS)
        for part in numba.prange(PARTS):
            squares[part] = _square(
                query_firsts[place, part, : query_counts[place, part]], query_lists[place], gradients[0]
            ) + _square(
                document_firsts[place, part, : document_counts[place, part]], document_lists[place], gradients[1]
            )
        scale = min(1.0, clip / math.sqrt(_sum(squares, PARTS)))
    rates = np.empty((len(query_counts) - place, 4), np.float32)
    rates[0, 0], rates[0, 1] = rate / (1.0 - BETA1**step), 1.0 / math.sqrt(1.0 - BETA2**step)
    for missed in range(1, len(rates)):
        _missed_rates(step, step + missed, rate, schedule, rates[missed])
    for part in numba.prange(PARTS):
        _update(
            query_touched[place, part, : query_counts[place, part]], query_firsts[place, part],
            query_misses[place, part], query_lists[place], gradients[0], queries, query_since, scale, step, rates,
        )  # fmt: skip
        _update(
            document_touched[place, part, : document_counts[place, part]], document_firsts[place, part],
            document_misses[place, part], document_lists[place], gradients[1], documents, document_since, scale, step,
            rates,
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
def _link(
    members: Any, text_of: Any, ids: Any, offsets: Any, heads: Any, spans: Any, lists: Any, touched: Any, firsts: Any,
    counts: Any,
) -> None:  # fmt: skip
    """Where each text of a batch is; the touched rows, by parts; for each the list of the pairs that hold it."""
    for i in range(len(members)):  # apart from what follows: memory answers several requests at once
        text = text_of[members[i]]
        spans[i, 0], spans[i, 1] = offsets[text], offsets[text + 1]
    counts[:] = 0
    place = 0
    for i in range(len(members)):
        for token in range(spans[i, 0], spans[i, 1]):
            row = ids[token]
            if heads[row] == END:
                part = row // BLOCK & (PARTS - 1)
                touched[part, counts[part]] = row
                counts[part] += 1
            lists[0, place] = i
            lists[1, place] = heads[row]
            heads[row] = place
            place += 1
    for part in range(PARTS):
        for number in range(counts[part]):
            firsts[part, number] = heads[touched[part, number]]
            heads[touched[part, number]] = END


@compiled_arithmetic
def _look_ahead(part: int, batches: int, touched: Any, counts: Any, misses: Any, coming: Any) -> None:
    """How many steps each touched row will miss before the window touches it again; none where it does not.

    ``coming`` has the first batch that touches a row, or END.
    """
    for batch in range(batches - 1, -1, -1):
        for number in range(counts[batch, part]):
            row = touched[batch, part, number]
            misses[batch, part, number] = max(0, coming[row] - batch - 1)
            coming[row] = batch


@compiled_arithmetic
def _catch_up_part(part: int, table: Any, since: Any, coming: Any, step: int, rate: float, schedule: Any) -> None:
    """The rows of a part catch up to the step before the first batch that touches them."""
    rates = np.empty(4, np.float32)
    for block in range(part * BLOCK, len(table), PARTS * BLOCK):
        for row in range(block, min(block + BLOCK, len(table))):
            if coming[row] != END and 0 < since[row] < step + coming[row]:
                _fetch(table, row)
        for row in range(block, min(block + BLOCK, len(table))):
            until = step + coming[row]
            if coming[row] != END and 0 < since[row] < until:  # 0: it has never been touched
                _missed_rates(since[row], until, rate, schedule, rates)
                _miss(table[row, 0], table[row, 1], table[row, 2], rates)
                since[row] = until
            coming[row] = END


@compiled_arithmetic
def _fetch(table: Any, row: int) -> None:
    """Ask memory for a row and its moments."""
    for moment in range(3):
        for line in range(0, table.shape[2], _LINE):
            prefetch(table, row, moment, line)


@compiled_arithmetic
def _missed_rates(since: int, until: int, rate: float, schedule: Any, rates: Any) -> None:
    """What ``_miss`` needs to make the steps after ``since`` up to ``until`` (``adam.py``)."""
    before, after = schedule[min(since, LIMIT)], schedule[min(until, LIMIT)]
    powers = schedule[min(until - since, LIMIT)]
    total = before[0] - powers[2] * after[0]
    rates[0], rates[1] = rate * total, total / (before[1] - powers[4] * after[1])
    rates[2], rates[3] = powers[2], powers[3]


@compiled_arithmetic
def _miss(word: Any, mean: Any, square: Any, rates: Any) -> None:
    """The steps of a row that has no gradient in them."""
    pace, scale, first, second = rates[0], rates[1], rates[2], rates[3]
    epsilon = np.float32(ADAM_EPSILON)
    for j in range(len(word)):
        word[j] -= mean[j] * pace / (math.sqrt(square[j]) * scale + epsilon)
        mean[j] *= first
        square[j] *= second


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
def _square(firsts: Any, lists: Any, gradients: Any) -> float:
    """The squared norm of the gradient over some rows."""
    total = np.empty(gradients.shape[1], dtype=np.float32)
    square = 0.0
    for first in firsts:
        gradient = _add_up(first, lists, gradients, total)
        own: Any = np.float32(0)
        for j in range(len(gradient)):
            own += gradient[j] * gradient[j]
        square += own
    return square


@compiled_arithmetic
def _update(
    touched: Any, firsts: Any, misses: Any, lists: Any, gradients: Any, table: Any, since: Any, scale: float, step: int,
    rates: Any,
) -> None:  # fmt: skip
    """Of some rows: the gradient, the Adam step, and the steps that the row will miss."""
    size = gradients.shape[1]
    beta1, beta2 = np.float32(BETA1), np.float32(BETA2)
    rest1, rest2 = np.float32(1 - BETA1), np.float32(1 - BETA2)
    factor, epsilon, pace, correction = np.float32(scale), np.float32(ADAM_EPSILON), rates[0, 0], rates[0, 1]
    total = np.empty(size, dtype=np.float32)
    for number in range(min(_AHEAD, len(touched))):
        _fetch(table, touched[number])
    for number in range(len(touched)):
        if number + _AHEAD < len(touched):
            _fetch(table, touched[number + _AHEAD])
        row = touched[number]
        gradient = _add_up(firsts[number], lists, gradients, total)
        word, mean, square = table[row, 0], table[row, 1], table[row, 2]
        since[row] = step + misses[number]
        if misses[number] == 0:
            for j in range(size):
                slope = gradient[j] * factor
                mean[j] = beta1 * mean[j] + rest1 * slope
                square[j] = beta2 * square[j] + rest2 * slope * slope
                word[j] -= pace * mean[j] / (math.sqrt(square[j]) * correction + epsilon)
            continue
        missed = rates[misses[number]]
        missed_pace, missed_scale, decay1, decay2 = missed[0], missed[1], missed[2], missed[3]
        for j in range(size):  # the same, then what ``_miss`` does
            slope = gradient[j] * factor
            m = beta1 * mean[j] + rest1 * slope
            v = beta2 * square[j] + rest2 * slope * slope
            root = math.sqrt(v)
            w = word[j] - pace * m / (root * correction + epsilon)
            word[j] = w - m * missed_pace / (root * missed_scale + epsilon)
            mean[j] = m * decay1
            square[j] = v * decay2

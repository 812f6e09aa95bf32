"""The kernels of ``cuda.py``, in Triton.

Before a recording's steps, ``claim`` and ``resolve`` prepare all of them at once. A batch's words are numbered through:
these are their *places*. Of all places that hold the same word, the last *owns* the word's row:

    links[place] = 2^32 owner's place + row,   shared[place] = 1 if it owns a row that other places hold, too

Then ``look_ahead`` finds how many steps of the recording each row will miss after each that touches it, and makes up
for those that it missed before its first (``adam.py``). ``settle`` makes all rows catch up.

A step is ``differentiate`` (one program a pair), ``square`` (only with clipping) and ``update`` (one program a block of
places). The gradient of a row is that of its owner's text, plus ``sums``, where ``differentiate`` adds up those of all
other places. Sums are whole multiples of ``1 / SCALE``: whole numbers add up to the same in any order, so that runs
repeat bit by bit.

On devices that can (``OVERLAPS``), a kernel starts while the one before still runs, reads what that one does not write,
and waits for its end (``gdc_wait``) before the rest. A kernel lets the next start only after its own wait, so that what
was written two kernels ago is there from the start; ``square`` may let go earlier, since it writes no rows.

Which step it is stands in device memory, so that launches can be recorded once and replayed:

    control = [batch of the recording's first step, batches, examples, first batch with a loss or gradient not finite,
               steps taken before the first batch]
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

# mypy: disallow-untyped-decorators=False, warn-return-any=False
# ruff: noqa: N803 - capitals are what the compiler knows


SCALE = tl.constexpr(2.0**36)


@triton.jit(do_not_specialize=["batch_size", "row_count", "room"])
def claim(
    control: tl.tensor, batch_size: tl.tensor, row_count: tl.tensor, room: tl.tensor, ids: tl.tensor, counts: tl.tensor,
    starts: tl.tensor, lengths: tl.tensor, places: tl.tensor, owners: tl.tensor, row_of: tl.tensor, count_of: tl.tensor,
    text_of: tl.tensor, shared: tl.tensor, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """One program a pair and step: write its words down at their places; the last place of each row wins it."""
    pair, step = tl.program_id(0), tl.program_id(1).to(tl.int64)
    example = (tl.load(control) + step) * batch_size + pair
    asked = example < tl.load(control + 2)
    for side in tl.static_range(2):
        start = tl.load(starts + 2 * example + side, mask=asked, other=0)
        length = tl.load(lengths + 2 * example + side, mask=asked, other=0)
        place = tl.load(places + 2 * example + side, mask=asked, other=0)
        for first in range(0, length, BLOCK):
            words = first + tl.arange(0, BLOCK)
            known = words < length
            rows = tl.load(ids + start + words, mask=known, other=0)
            at = step * room + place + words
            tl.atomic_max(owners + step * row_count + rows, place + words + 1, mask=known, sem="relaxed")
            tl.store(row_of + at, rows, mask=known)
            tl.store(count_of + at, tl.load(counts + start + words, mask=known, other=0.0), mask=known)
            tl.store(text_of + at, tl.zeros([BLOCK], tl.int32) + (2 * pair + side), mask=known)
            tl.store(shared + at, tl.zeros([BLOCK], tl.int32), mask=known)


@triton.jit(do_not_specialize=["row_count", "room"])
def resolve(
    control: tl.tensor, row_count: tl.tensor, room: tl.tensor, words_in: tl.tensor, owners: tl.tensor,
    row_of: tl.tensor, links: tl.tensor, shared: tl.tensor, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """One program a block of places and step: who owns the row of each place; which owners share theirs."""
    step = tl.program_id(1).to(tl.int64)
    batch = tl.load(control) + step
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    used = places < tl.load(words_in + batch, mask=batch < tl.load(control + 1), other=0)
    at = step * room + places
    rows = tl.load(row_of + at, mask=used, other=0)
    owner = tl.load(owners + step * row_count + rows, mask=used, other=0) - 1
    tl.store(links + at, (owner.to(tl.int64) << 32) + rows, mask=used)
    tl.store(shared + step * room + owner, tl.zeros([BLOCK], tl.int32) + 1, mask=used & (owner != places))


@triton.jit
def _missed_rates(
    since: tl.tensor, until: tl.tensor, rate: tl.tensor, schedule: tl.tensor, LIMIT: tl.constexpr
) -> tl.tensor:
    """A times the rate, A / H and the decays of both moments, for the steps after ``since`` up to ``until``."""
    before, after = schedule + 5 * tl.minimum(since, LIMIT), schedule + 5 * tl.minimum(until, LIMIT)
    powers = schedule + 5 * tl.minimum(until - since, LIMIT)
    total = tl.load(before) - tl.load(powers + 2) * tl.load(after)
    other = tl.load(before + 1) - tl.load(powers + 4) * tl.load(after + 1)
    scale = tl.where(until > since, total / tl.where(until > since, other, 1.0), 0.0)
    first, second = tl.load(powers + 2).to(tl.float32), tl.load(powers + 3).to(tl.float32)
    return (rate * total).to(tl.float32), scale.to(tl.float32), first, second


@triton.jit
def _catch_up(
    rows: tl.tensor, behind: tl.tensor, until: tl.tensor, rate: tl.tensor, table: tl.tensor, since: tl.tensor,
    schedule: tl.tensor, LIMIT: tl.constexpr, EPSILON: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr,
) -> None:  # fmt: skip
    """The rows that are ``behind`` make the steps that they missed."""
    start = tl.where(behind, tl.load(since + rows, mask=behind, other=0), until)
    pace, scale, first, second = _missed_rates(start, until, rate, schedule, LIMIT)
    columns = tl.arange(0, COLUMNS)
    inside = behind[:, None] & (columns < SIZE)[None, :]
    cells = table + rows.to(tl.int64)[:, None] * (3 * SIZE) + columns[None, :]
    weights = tl.load(cells, mask=inside, other=0.0)
    means = tl.load(cells + SIZE, mask=inside, other=0.0)
    sizes = tl.load(cells + 2 * SIZE, mask=inside, other=0.0)
    moved = weights - means * pace[:, None] / (tl.sqrt(sizes) * scale[:, None] + EPSILON)
    tl.store(cells, moved, mask=inside)
    tl.store(cells + SIZE, means * first[:, None], mask=inside)
    tl.store(cells + 2 * SIZE, sizes * second[:, None], mask=inside)
    tl.store(since + rows, until, mask=behind)


@triton.jit(do_not_specialize=["row_count", "room"])
def look_ahead(
    control: tl.tensor, row_count: tl.tensor, room: tl.tensor, owners: tl.tensor, misses: tl.tensor, table: tl.tensor,
    since: tl.tensor, rates: tl.tensor, schedule: tl.tensor, STEPS: tl.constexpr, LIMIT: tl.constexpr,
    EPSILON: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """One program a block of rows: ``misses`` of the places that own them; they catch up to their first step."""
    batch = tl.load(control)
    if tl.load(control + 3) < batch:
        return
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    known = rows < row_count
    coming = tl.full([BLOCK], STEPS, tl.int32)
    for back in range(STEPS):
        step = STEPS - 1 - back
        owner = tl.load(owners + step * row_count.to(tl.int64) + rows, mask=known, other=0)
        missed = tl.where(coming < STEPS, coming - step - 1, 0)
        tl.store(misses + step * room.to(tl.int64) + owner - 1, missed, mask=owner > 0)
        coming = tl.where(owner > 0, step, coming)
    until = (tl.load(control + 4) + batch).to(tl.int32) + coming
    start = tl.load(since + rows, mask=known, other=0)
    behind = (coming < STEPS) & (start > 0) & (start < until)  # 0: it has never been touched
    rate = tl.load(rates + 3 * batch + 2)
    _catch_up(rows, behind, until, rate, table, since, schedule, LIMIT, EPSILON, SIZE, COLUMNS)


@triton.jit(do_not_specialize=["row_count", "step"])
def settle(
    row_count: tl.tensor, step: tl.tensor, rate: tl.tensor, table: tl.tensor, since: tl.tensor, schedule: tl.tensor,
    LIMIT: tl.constexpr, EPSILON: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """One program a block of rows: they catch up to ``step``."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    start = tl.load(since + rows, mask=rows < row_count, other=0)
    until = tl.zeros([BLOCK], tl.int32) + step
    behind = (start > 0) & (start < until)
    _catch_up(rows, behind, until, rate, table, since, schedule, LIMIT, EPSILON, SIZE, COLUMNS)


@triton.jit
def _inverse(x: tl.tensor) -> tl.tensor:
    """1 / x, and 0 at 0."""
    return tl.where(x > 0, 1.0 / x, 0.0)


@triton.jit
def _softplus(x: tl.tensor) -> tl.tensor:
    return tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))


@triton.jit
def _loss(
    score: tl.tensor, low: tl.tensor, high: tl.tensor, constant: tl.tensor, slope: tl.tensor, IS_BAND: tl.constexpr
) -> tl.tensor:
    """Value and slope of either kind of loss (:mod:`isogloss.nn.losses`)."""
    if IS_BAND:
        above, below = tl.maximum(score - high, 0.0), tl.maximum(low - score, 0.0)
        value = above * above + below * below
        towards = 2.0 * (above - below)
    else:
        right, left = slope * (score - high), slope * (low - score)
        value = _softplus(right) + _softplus(left) + constant
        towards = slope * (tl.sigmoid(right) - tl.sigmoid(left))
    return value, towards


@triton.jit
def _scatter(
    gradient: tl.tensor, limit: tl.tensor, start: tl.tensor, end: tl.tensor, place: tl.tensor, links: tl.tensor,
    count_of: tl.tensor, sums: tl.tensor, SIZE: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """Add a text's gradient to the sums of those of its words that other places own.

    ``limit`` keeps the sums from overflowing whatever happens; no gradient that is good for anything comes near it.
    """
    whole = tl.floor(tl.minimum(tl.maximum(gradient, -limit), limit) * SCALE + 0.5).to(tl.int64)
    columns = tl.arange(0, COLUMNS)
    for first in range(start, end, BLOCK):
        words = first + tl.arange(0, BLOCK)
        owner = tl.load(links + words, mask=words < end, other=0) >> 32
        count = tl.load(count_of + words, mask=words < end, other=0.0).to(tl.int64)
        inside = ((words < end) & (owner != place + words))[:, None] & (columns < SIZE)[None, :]
        cells = sums + owner[:, None] * SIZE + columns[None, :]
        tl.atomic_add(cells, whole[None, :] * count[:, None], mask=inside, sem="relaxed")


@triton.jit(do_not_specialize=["offset", "batch_size", "room"], do_not_specialize_on_alignment=["sums"])
def differentiate(
    control: tl.tensor, offset: tl.tensor, batch_size: tl.tensor, room: tl.tensor, links: tl.tensor,
    count_of: tl.tensor, lengths: tl.tensor, places: tl.tensor, tokens: tl.tensor, grades: tl.tensor, table: tl.tensor,
    gradients: tl.tensor, sums: tl.tensor, losses: tl.tensor, bounds: tl.tensor, lower: tl.tensor, upper: tl.tensor,
    constants: tl.tensor, slope: tl.tensor, eps: tl.tensor, limit: tl.tensor, IS_BAND: tl.constexpr, SIZE: tl.constexpr,
    COLUMNS: tl.constexpr, BLOCK: tl.constexpr, SUM_BLOCK: tl.constexpr, OVERLAPS: tl.constexpr,
) -> None:  # fmt: skip
    r"""One program a pair: its loss, and the gradients of the summed loss for each word of either text.

        q = tanh(mean of the query's rows),   d likewise,   r = q.d / ((|q| + eps) (|d| + eps))
        dr/dq = (d / (|d| + eps) - r q / |q|) / (|q| + eps),   dL/dmean = dL/dr dr/dq (1 - q^2),   and likewise for d

    ``bounds`` receives the norm of both together: the norm of the batch's gradient is at most the sum of these.
    ``sums`` is not said to be aligned: a warp then adds 32 neighbouring numbers at once, not every other one of 64.
    """
    pair = tl.program_id(0)
    batch = tl.load(control) + offset
    example = batch * batch_size + pair
    asked = example < tl.load(control + 2)
    query_length = tl.load(lengths + 2 * example, mask=asked, other=0)
    length = query_length + tl.load(lengths + 2 * example + 1, mask=asked, other=0)
    at = offset.to(tl.int64) * room + tl.load(places + 2 * example, mask=asked, other=0)
    query_tokens = tl.load(tokens + 2 * example, mask=asked, other=1.0)
    document_tokens = tl.load(tokens + 2 * example + 1, mask=asked, other=1.0)
    grade = tl.load(grades + example, mask=asked, other=0)
    low, high, constant = tl.load(lower + grade), tl.load(upper + grade), tl.load(constants + grade)
    if OVERLAPS:
        gdc_wait()
        gdc_launch_dependents()
    if (not asked) | (tl.load(control + 3) < batch):
        return
    columns = tl.arange(0, COLUMNS)
    query, document = tl.zeros([COLUMNS], tl.float32), tl.zeros([COLUMNS], tl.float32)
    for first in range(0, length, BLOCK):
        words = first + tl.arange(0, BLOCK)
        rows = tl.load(links + at + words, mask=words < length, other=0) & 0xFFFFFFFF
        count = tl.load(count_of + at + words, mask=words < length, other=0.0)
        inside = (words < length)[:, None] & (columns < SIZE)[None, :]
        vectors = tl.load(table + rows[:, None] * (3 * SIZE) + columns[None, :], mask=inside, other=0.0)
        query += tl.sum(vectors * tl.where(words < query_length, count, 0.0)[:, None], axis=0)
        document += tl.sum(vectors * tl.where(words < query_length, 0.0, count)[:, None], axis=0)
    query, document = libdevice.tanh(query / query_tokens), libdevice.tanh(document / document_tokens)
    query_norm, document_norm = tl.sqrt(tl.sum(query * query)), tl.sqrt(tl.sum(document * document))
    query_rate, document_rate = _inverse(query_norm + eps), _inverse(document_norm + eps)
    score = tl.sum(query * document) * query_rate * document_rate
    value, towards = _loss(score, low, high, constant, slope, IS_BAND)
    by_query = document * document_rate - query * (score * _inverse(query_norm))
    by_document = query * query_rate - document * (score * _inverse(document_norm))
    by_query *= (1.0 - query * query) * (towards * query_rate)
    by_document *= (1.0 - document * document) * (towards * document_rate)
    bound = tl.sqrt(tl.sum(by_query * by_query + by_document * by_document))
    value = tl.where(bound < float("inf"), value, bound)  # a score that is not a number is only seen in the gradient
    if not (value < float("inf")):
        tl.atomic_min(control + 3, batch, sem="relaxed")
    tl.store(losses + example, value)
    tl.store(bounds + pair, bound)
    by_query /= query_tokens
    by_document /= document_tokens
    tl.store(gradients + 2 * pair * SIZE + columns, by_query, mask=columns < SIZE)
    tl.store(gradients + (2 * pair + 1) * SIZE + columns, by_document, mask=columns < SIZE)
    links, count_of, place = links + at, count_of + at, tl.load(places + 2 * example)
    _scatter(by_query, limit, 0, query_length, place, links, count_of, sums, SIZE, COLUMNS, SUM_BLOCK)
    _scatter(by_document, limit, query_length, length, place, links, count_of, sums, SIZE, COLUMNS, SUM_BLOCK)


@triton.jit
def _total(values: tl.tensor, number: tl.tensor, BLOCK: tl.constexpr) -> tl.tensor:
    which = tl.arange(0, BLOCK)
    return tl.sum(tl.load(values + which, mask=which < number, other=0.0))


@triton.jit
def _gradient(
    at: tl.tensor, places: tl.tensor, mine: tl.tensor, text_of: tl.tensor, count_of: tl.tensor, shared: tl.tensor,
    gradients: tl.tensor, sums: tl.tensor, SIZE: tl.constexpr, COLUMNS: tl.constexpr,
) -> tl.tensor:  # fmt: skip
    """The gradients of the rows that the places own, of the summed loss; the cells of the sums that went into them."""
    texts, count = tl.load(text_of + at, mask=mine, other=0), tl.load(count_of + at, mask=mine, other=0.0)
    columns = tl.arange(0, COLUMNS)
    inside = mine[:, None] & (columns < SIZE)[None, :]
    own = tl.load(gradients + texts[:, None] * SIZE + columns[None, :], mask=inside, other=0.0)
    summed = (tl.load(shared + at, mask=mine, other=0) > 0)[:, None] & inside
    cells = sums + places.to(tl.int64)[:, None] * SIZE + columns[None, :]
    others = tl.load(cells, mask=summed, other=0).to(tl.float32) * (1.0 / SCALE)
    return own * count[:, None] + others, cells, summed


@triton.jit(do_not_specialize=["offset", "batch_size", "room"])
def square(
    control: tl.tensor, offset: tl.tensor, batch_size: tl.tensor, room: tl.tensor, words_in: tl.tensor,
    links: tl.tensor, text_of: tl.tensor, count_of: tl.tensor, shared: tl.tensor, gradients: tl.tensor, sums: tl.tensor,
    bounds: tl.tensor, squares: tl.tensor, clip: tl.tensor, SIZE: tl.constexpr, COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr, BATCH: tl.constexpr, SQUARES: tl.constexpr, OVERLAPS: tl.constexpr,
) -> None:  # fmt: skip
    """From each of SQUARES programs a share of the gradient's squared norm; nothing if the bounds say it is in vain."""
    if OVERLAPS:
        gdc_launch_dependents()
    batch = tl.load(control) + offset
    batches, examples = tl.load(control + 1), tl.load(control + 2)
    words = tl.load(words_in + batch, mask=batch < batches, other=0)
    if OVERLAPS:
        gdc_wait()
    number = tl.minimum(examples - batch * batch_size, batch_size)
    if _total(bounds, number, BATCH) <= clip * number.to(tl.float32):
        return
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(tl.program_id(0) * BLOCK, words, SQUARES * BLOCK):
        places = first + tl.arange(0, BLOCK)
        at = offset.to(tl.int64) * room + places
        mine = (tl.load(links + at, mask=places < words, other=-1) >> 32) == places
        gradient, _, _ = _gradient(at, places, mine, text_of, count_of, shared, gradients, sums, SIZE, COLUMNS)
        total += tl.sum(gradient * gradient, axis=1)
    tl.store(squares + tl.program_id(0), tl.sum(total))


@triton.jit(do_not_specialize=["offset", "batch_size", "room"])
def update(
    control: tl.tensor, offset: tl.tensor, batch_size: tl.tensor, room: tl.tensor, words_in: tl.tensor,
    links: tl.tensor, text_of: tl.tensor, count_of: tl.tensor, shared: tl.tensor, gradients: tl.tensor, sums: tl.tensor,
    bounds: tl.tensor, squares: tl.tensor, clip: tl.tensor, table: tl.tensor, since: tl.tensor, misses: tl.tensor,
    rates: tl.tensor, schedule: tl.tensor, BETA1: tl.constexpr, BETA2: tl.constexpr, EPSILON: tl.constexpr,
    LIMIT: tl.constexpr, CLIPS: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
    BATCH: tl.constexpr, SQUARES: tl.constexpr, OVERLAPS: tl.constexpr,
) -> None:  # fmt: skip
    r"""One program a block of places: the Adam step of the rows they own; the sums that went into it are cleared.

        m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2,   w -= rate / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + e)

    Then those steps that the row will miss, as ``look_ahead`` has found, while it is at hand. ``rates`` has both
    corrections of each batch and the rate. The sums of a batch that has something not finite are forgotten.
    """
    batch = tl.load(control) + offset
    batches, examples = tl.load(control + 1), tl.load(control + 2)
    words = tl.load(words_in + batch, mask=batch < batches, other=0)
    if tl.program_id(0) * BLOCK >= words:
        if OVERLAPS:
            gdc_wait()
        return
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = offset.to(tl.int64) * room + places
    link = tl.load(links + at, mask=places < words, other=-1)
    mine, rows = (link >> 32) == places, link & 0xFFFFFFFF
    columns = tl.arange(0, COLUMNS)
    inside = mine[:, None] & (columns < SIZE)[None, :]
    cells = table + rows[:, None] * (3 * SIZE) + columns[None, :]
    weights = tl.load(cells, mask=inside, other=0.0)
    means = tl.load(cells + SIZE, mask=inside, other=0.0)
    sizes = tl.load(cells + 2 * SIZE, mask=inside, other=0.0)
    pace, correction = tl.load(rates + 3 * batch), tl.load(rates + 3 * batch + 1)
    step = (tl.load(control + 4) + batch).to(tl.int32) + 1
    until = step + tl.load(misses + at, mask=mine, other=0)
    missed_pace, missed_scale, decay1, decay2 = _missed_rates(
        tl.zeros([BLOCK], tl.int32) + step, until, tl.load(rates + 3 * batch + 2), schedule, LIMIT
    )
    if OVERLAPS:
        gdc_wait()
        gdc_launch_dependents()
    failed = tl.load(control + 3)
    if failed < batch:
        return
    number = tl.minimum(examples - batch * batch_size, batch_size)
    factor = 1.0 / number.to(tl.float32)
    if CLIPS:  # noqa: SIM102 - a question to the compiler, and one to the device
        if _total(bounds, number, BATCH) > clip * number.to(tl.float32):
            norm = tl.sqrt(_total(squares, SQUARES, SQUARES)) * factor
            factor *= tl.where(norm > clip, clip / norm, 1.0)
    gradient, sum_cells, summed = _gradient(
        at, places, mine, text_of, count_of, shared, gradients, sums, SIZE, COLUMNS
    )  # fmt: skip
    gradient *= factor
    tl.debug_barrier()  # the threads that clear the sums are not always those that read them
    tl.store(sum_cells, tl.zeros([BLOCK, COLUMNS], tl.int64), mask=summed)
    means = BETA1 * means + (1 - BETA1) * gradient
    sizes = BETA2 * sizes + (1 - BETA2) * gradient * gradient
    inside = inside & (failed > batch)
    roots = tl.sqrt(sizes)
    weights -= pace * means / (roots * correction + EPSILON)
    weights -= means * missed_pace[:, None] / (roots * missed_scale[:, None] + EPSILON)
    tl.store(cells, weights, mask=inside)
    tl.store(cells + SIZE, means * decay1[:, None], mask=inside)
    tl.store(cells + 2 * SIZE, sizes * decay2[:, None], mask=inside)
    tl.store(since + rows, until, mask=mine & (failed > batch))

"""The kernels of ``cuda.py``, in Triton.

Before a recording's steps, ``claim`` and ``resolve`` prepare all of them at once. A batch's words are numbered through:
these are their *places*. Of all places that hold the same word, the last *owns* the word's row:

    links[place] = 2^32 owner's place + row,   shared[place] = 1 if it owns a row that other places hold, too
    others = of each text, from its first place on: 2^32 owner's place + count of each word that another place owns

Then ``look_ahead`` finds how many steps of the recording each row will miss after each that touches it, ``foresee``
what missing so many means (``adam.py``), and ``approach`` makes up for those that a row missed before its first.
``settle`` makes all rows catch up.

A step is ``differentiate`` (one program a pair), ``square`` (only with clipping) and ``update`` (one program a block of
places). The gradient of a row is that of its owner's text, plus ``sums``, where ``differentiate`` adds up those of all
other places. Sums are whole multiples of ``1 / SCALE``: whole numbers add up to the same in any order, so that runs
repeat bit by bit.

On devices that can (``OVERLAPS``), a kernel starts while the one before still runs, reads what that one does not write,
and waits for its end (``gdc_wait``) before the rest. A kernel lets the next start only after its own wait, so that what
was written two kernels ago is there from the start; ``square`` may let go earlier, since it writes no rows. There,
too, rows are brought into the cache before they are needed: ``update`` fetches the weights of the next step's rows,
``differentiate`` the moments that ``update`` will ask for.

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


@triton.jit(do_not_specialize=["batch_size", "row_count", "room"])
def resolve(
    control: tl.tensor, batch_size: tl.tensor, row_count: tl.tensor, room: tl.tensor, words_in: tl.tensor,
    starts: tl.tensor, owners: tl.tensor, row_of: tl.tensor, count_of: tl.tensor, text_of: tl.tensor, links: tl.tensor,
    shared: tl.tensor, others: tl.tensor, number_of: tl.tensor, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """One program a block of places and step: who owns the row of each place; which owners share theirs, with whom."""
    step = tl.program_id(1).to(tl.int64)
    batch = tl.load(control) + step
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    used = places < tl.load(words_in + batch, mask=batch < tl.load(control + 1), other=0)
    at = step * room + places
    rows = tl.load(row_of + at, mask=used, other=0)
    owner = (tl.load(owners + step * row_count + rows, mask=used, other=0) - 1).to(tl.int64)
    tl.store(links + at, (owner << 32) + rows, mask=used)
    owned = used & (owner != places)
    tl.store(shared + step * room + owner, tl.zeros([BLOCK], tl.int32) + 1, mask=owned)
    text = tl.load(text_of + at, mask=owned, other=0)
    start = tl.load(starts + 2 * batch * batch_size + text, mask=owned, other=0)
    which = tl.atomic_add(number_of + 2 * step * batch_size + text, 1, mask=owned, sem="relaxed")
    count = tl.load(count_of + at, mask=owned, other=0.0).to(tl.int64)
    tl.store(others + step * room + start + which, (owner << 32) + count, mask=owned)


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
    control: tl.tensor, row_count: tl.tensor, room: tl.tensor, owners: tl.tensor, misses: tl.tensor, firsts: tl.tensor,
    STEPS: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """One program a block of rows: ``misses`` of the places that own them, and the first step that touches each."""
    if tl.load(control + 3) < tl.load(control):
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
    tl.store(firsts + rows, coming, mask=known)


@triton.jit
def foresee(
    control: tl.tensor, rates: tl.tensor, schedule: tl.tensor, ahead: tl.tensor, STEPS: tl.constexpr,
    LIMIT: tl.constexpr,
) -> None:  # fmt: skip
    """One program a step of the recording: what it means to miss none, one or more steps after it."""
    batch = tl.load(control)
    missed = tl.arange(0, STEPS)
    since = tl.zeros([STEPS], tl.int32) + (tl.load(control + 4) + batch).to(tl.int32) + tl.program_id(0) + 1
    pace, scale, first, second = _missed_rates(since, since + missed, tl.load(rates + 3 * batch + 2), schedule, LIMIT)
    cells = ahead + 4 * (tl.program_id(0) * STEPS + missed)
    tl.store(cells, pace)
    tl.store(cells + 1, scale)
    tl.store(cells + 2, first)
    tl.store(cells + 3, second)


@triton.jit(do_not_specialize=["row_count"])
def approach(
    control: tl.tensor, row_count: tl.tensor, firsts: tl.tensor, table: tl.tensor, since: tl.tensor, rates: tl.tensor,
    schedule: tl.tensor, STEPS: tl.constexpr, LIMIT: tl.constexpr, EPSILON: tl.constexpr, SIZE: tl.constexpr,
    COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """One program a block of rows: those that the recording touches catch up to the first step that does."""
    batch = tl.load(control)
    if tl.load(control + 3) < batch:
        return
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    coming = tl.load(firsts + rows, mask=rows < row_count, other=STEPS)
    until = (tl.load(control + 4) + batch).to(tl.int32) + coming
    start = tl.load(since + rows, mask=rows < row_count, other=0)
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
    """Value and slope of either kind of loss (:mod:`isogloss.papers.smooth.losses`)."""
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
    gradient: tl.tensor, limit: tl.tensor, others: tl.tensor, number: tl.tensor, sums: tl.tensor, SIZE: tl.constexpr,
    COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """Add a text's gradient to the sums of those of its words that other places own.

    ``limit`` keeps the sums from overflowing whatever happens; no gradient that is good for anything comes near it.
    """
    whole = tl.floor(tl.minimum(tl.maximum(gradient, -limit), limit) * SCALE + 0.5).to(tl.int64)
    columns = tl.arange(0, COLUMNS)
    for first in range(0, number, BLOCK):
        which = first + tl.arange(0, BLOCK)
        other = tl.load(others + which, mask=which < number, other=0)
        inside = (which < number)[:, None] & (columns < SIZE)[None, :]
        cells = sums + (other >> 32)[:, None] * SIZE + columns[None, :]
        tl.atomic_add(cells, whole[None, :] * (other & 0xFFFFFFFF)[:, None], mask=inside, sem="relaxed")


@triton.jit
def _words(row_of: tl.tensor, count_of: tl.tensor, words: tl.tensor, length: tl.tensor) -> tl.tensor:
    """The rows of some words of a pair, and how often the text has each."""
    rows = tl.load(row_of + words, mask=words < length, other=0).to(tl.int64)
    return rows, tl.load(count_of + words, mask=words < length, other=0.0)


@triton.jit
def _pooled(
    table: tl.tensor, rows: tl.tensor, count: tl.tensor, words: tl.tensor, query_length: tl.tensor, length: tl.tensor,
    SIZE: tl.constexpr, COLUMNS: tl.constexpr,
) -> tl.tensor:  # fmt: skip
    """The sums of some words' rows, those of the query and those of the document."""
    columns = tl.arange(0, COLUMNS)
    inside = (words < length)[:, None] & (columns < SIZE)[None, :]
    vectors = tl.load(table + rows[:, None] * (3 * SIZE) + columns[None, :], mask=inside, other=0.0)
    query = tl.sum(vectors * tl.where(words < query_length, count, 0.0)[:, None], axis=0)
    return query, tl.sum(vectors * tl.where(words < query_length, 0.0, count)[:, None], axis=0)


@triton.jit
def _fetch(start: tl.tensor, rows: tl.tensor, STRIDE: tl.constexpr, BYTES: tl.constexpr) -> None:
    """Have so many bytes of some rows brought into the cache that all programs share; those below 0 are no rows."""
    tl.inline_asm_elementwise(
        """{ .reg .pred known; setp.ge.s64 known, $2, 0;
        @known cp.async.bulk.prefetch.L2.global [$1], $3; mov.u32 $0, 0; }""",
        "=r,l,l,r", [(start + rows * (STRIDE // 4)).to(tl.int64), rows, BYTES], tl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@triton.jit(do_not_specialize=["offset", "batch_size", "room"], do_not_specialize_on_alignment=["sums"])
def differentiate(
    control: tl.tensor, offset: tl.tensor, batch_size: tl.tensor, room: tl.tensor, row_of: tl.tensor,
    count_of: tl.tensor, others: tl.tensor, number_of: tl.tensor, lengths: tl.tensor, places: tl.tensor,
    tokens: tl.tensor, grades: tl.tensor, table: tl.tensor, gradients: tl.tensor, sums: tl.tensor, losses: tl.tensor,
    bounds: tl.tensor, lower: tl.tensor, upper: tl.tensor, constants: tl.tensor, slope: tl.tensor, eps: tl.tensor,
    limit: tl.tensor, IS_BAND: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
    SUM_BLOCK: tl.constexpr, OVERLAPS: tl.constexpr,
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
    words = tl.arange(0, BLOCK)
    rows, count = _words(row_of + at, count_of + at, words, length)
    number_of += 2 * (offset * batch_size + pair)
    query_others, document_others = tl.load(number_of), tl.load(number_of + 1)
    if OVERLAPS:
        gdc_wait()
        gdc_launch_dependents()
    columns = tl.arange(0, COLUMNS)
    query, document = _pooled(table, rows, count, words, query_length, length, SIZE, COLUMNS)
    if (not asked) | (tl.load(control + 3) < batch):
        return
    if OVERLAPS and SIZE % 4 == 0:
        _fetch(table + SIZE, tl.where(words < length, rows, -1), 12 * SIZE, 8 * SIZE)
    for first in range(BLOCK, length, BLOCK):
        words = first + tl.arange(0, BLOCK)
        rows, count = _words(row_of + at, count_of + at, words, length)
        more_query, more_document = _pooled(table, rows, count, words, query_length, length, SIZE, COLUMNS)
        query += more_query
        document += more_document
    query, document = libdevice.tanh(query / query_tokens), libdevice.tanh(document / document_tokens)
    query_norm, document_norm = tl.sqrt(tl.sum(query * query, axis=0)), tl.sqrt(tl.sum(document * document, axis=0))
    query_rate, document_rate = _inverse(query_norm + eps), _inverse(document_norm + eps)
    score = tl.sum(query * document, axis=0) * query_rate * document_rate
    value, towards = _loss(score, low, high, constant, slope, IS_BAND)
    by_query = document * document_rate - query * (score * _inverse(query_norm))
    by_document = query * query_rate - document * (score * _inverse(document_norm))
    by_query *= (1.0 - query * query) * (towards * query_rate)
    by_document *= (1.0 - document * document) * (towards * document_rate)
    bound = tl.sqrt(tl.sum(by_query * by_query + by_document * by_document, axis=0))
    value = tl.where(bound < float("inf"), value, bound)  # a score that is not a number is only seen in the gradient
    if not (value < float("inf")):
        tl.atomic_min(control + 3, batch, sem="relaxed")
    tl.store(losses + example, value)
    tl.store(bounds + pair, bound)
    by_query /= query_tokens
    by_document /= document_tokens
    tl.store(gradients + 2 * pair * SIZE + columns, by_query, mask=columns < SIZE)
    tl.store(gradients + (2 * pair + 1) * SIZE + columns, by_document, mask=columns < SIZE)
    _scatter(by_query, limit, others + at, query_others, sums, SIZE, COLUMNS, SUM_BLOCK)
    _scatter(by_document, limit, others + at + query_length, document_others, sums, SIZE, COLUMNS, SUM_BLOCK)


@triton.jit
def _total(values: tl.tensor, number: tl.tensor, BLOCK: tl.constexpr) -> tl.tensor:
    which = tl.arange(0, BLOCK)
    return tl.sum(tl.load(values + which, mask=which < number, other=0.0))


@triton.jit
def _sources(
    at: tl.tensor, places: tl.tensor, mine: tl.tensor, text_of: tl.tensor, count_of: tl.tensor, shared: tl.tensor,
    gradients: tl.tensor, sums: tl.tensor, SIZE: tl.constexpr, COLUMNS: tl.constexpr,
) -> tl.tensor:  # fmt: skip
    """Where the gradients of the rows lie that the places own: the texts', how often, and the sums of other places."""
    texts, count = tl.load(text_of + at, mask=mine, other=0), tl.load(count_of + at, mask=mine, other=0.0)
    columns = tl.arange(0, COLUMNS)
    summed = (tl.load(shared + at, mask=mine, other=0) > 0)[:, None] & (columns < SIZE)[None, :]
    own = gradients + texts[:, None] * SIZE + columns[None, :]
    return own, count, sums + places.to(tl.int64)[:, None] * SIZE + columns[None, :], summed


@triton.jit
def _gradient(own: tl.tensor, count: tl.tensor, cells: tl.tensor, summed: tl.tensor, inside: tl.tensor) -> tl.tensor:
    """The gradients of the rows, of the summed loss."""
    others = tl.load(cells, mask=summed, other=0).to(tl.float32) * (1.0 / SCALE)
    return tl.load(own, mask=inside, other=0.0) * count[:, None] + others


@triton.jit(do_not_specialize=["offset", "batch_size", "room"])
def square(
    control: tl.tensor, offset: tl.tensor, batch_size: tl.tensor, room: tl.tensor, words_in: tl.tensor,
    links: tl.tensor, text_of: tl.tensor, count_of: tl.tensor, shared: tl.tensor, gradients: tl.tensor, sums: tl.tensor,
    squares: tl.tensor, clip: tl.tensor, bounds: tl.tensor, SIZE: tl.constexpr, COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr, BATCH: tl.constexpr, SQUARES: tl.constexpr, OVERLAPS: tl.constexpr,
) -> None:  # fmt: skip
    """From each of SQUARES programs a share of the gradient's squared norm; nothing if the bounds say it is in vain.

    After the shares stands the sum of the bounds.
    """
    if OVERLAPS:
        gdc_launch_dependents()
    batch = tl.load(control) + offset
    batches, examples = tl.load(control + 1), tl.load(control + 2)
    words = tl.load(words_in + batch, mask=batch < batches, other=0)
    if OVERLAPS:
        gdc_wait()
    number = tl.minimum(examples - batch * batch_size, batch_size)
    bound = _total(bounds, number, BATCH)
    tl.store(squares + SQUARES, bound)
    if bound <= clip * number.to(tl.float32):
        return
    columns = tl.arange(0, COLUMNS)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(tl.program_id(0) * BLOCK, words, SQUARES * BLOCK):
        places = first + tl.arange(0, BLOCK)
        at = offset.to(tl.int64) * room + places
        mine = (tl.load(links + at, mask=places < words, other=-1) >> 32) == places
        own, count, cells, summed = _sources(
            at, places, mine, text_of, count_of, shared, gradients, sums, SIZE, COLUMNS
        )
        gradient = _gradient(own, count, cells, summed, mine[:, None] & (columns < SIZE)[None, :])
        total += tl.sum(gradient * gradient, axis=1)
    tl.store(squares + tl.program_id(0), tl.sum(total))


@triton.jit(do_not_specialize=["offset", "batch_size", "room"])
def update(
    control: tl.tensor, offset: tl.tensor, batch_size: tl.tensor, room: tl.tensor, words_in: tl.tensor,
    links: tl.tensor, text_of: tl.tensor, count_of: tl.tensor, shared: tl.tensor, gradients: tl.tensor, sums: tl.tensor,
    squares: tl.tensor, clip: tl.tensor, row_of: tl.tensor, table: tl.tensor, since: tl.tensor, misses: tl.tensor,
    rates: tl.tensor, ahead: tl.tensor, BETA1: tl.constexpr, BETA2: tl.constexpr, EPSILON: tl.constexpr,
    STEPS: tl.constexpr, CLIPS: tl.constexpr, SIZE: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
    SQUARES: tl.constexpr, OVERLAPS: tl.constexpr,
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
    if OVERLAPS and SIZE % 4 == 0:
        coming = tl.load(words_in + batch + 1, mask=(batch + 1 < batches) & (offset + 1 < STEPS), other=0)
        _fetch(table, tl.load(row_of + room + at, mask=places < coming, other=-1).to(tl.int64), 12 * SIZE, 4 * SIZE)
    mine, rows = (link >> 32) == places, link & 0xFFFFFFFF
    columns = tl.arange(0, COLUMNS)
    inside = mine[:, None] & (columns < SIZE)[None, :]
    cells = table + rows[:, None] * (3 * SIZE) + columns[None, :]
    weights = tl.load(cells, mask=inside, other=0.0)
    means = tl.load(cells + SIZE, mask=inside, other=0.0)
    sizes = tl.load(cells + 2 * SIZE, mask=inside, other=0.0)
    pace, correction = tl.load(rates + 3 * batch), tl.load(rates + 3 * batch + 1)
    missed = tl.load(misses + at, mask=mine, other=0)
    until = (tl.load(control + 4) + batch).to(tl.int32) + 1 + missed
    ahead += 4 * (offset * STEPS + missed)
    missed_pace, missed_scale, decay1, decay2 = (
        tl.load(ahead), tl.load(ahead + 1), tl.load(ahead + 2), tl.load(ahead + 3)
    )  # fmt: skip
    own, count, sum_cells, summed = _sources(
        at, places, mine, text_of, count_of, shared, gradients, sums, SIZE, COLUMNS
    )
    if OVERLAPS:
        gdc_wait()
        gdc_launch_dependents()
    gradient = _gradient(own, count, sum_cells, summed, inside)
    failed = tl.load(control + 3)
    number = tl.minimum(examples - batch * batch_size, batch_size).to(tl.float32)
    factor = 1.0 / number
    if CLIPS:  # noqa: SIM102 - a question to the compiler, and one to the device
        if tl.load(squares + SQUARES) > clip * number:
            norm = tl.sqrt(_total(squares, SQUARES, SQUARES)) * factor
            factor *= tl.where(norm > clip, clip / norm, 1.0)
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

"""The average model trained on a GPU: Adam by touched rows, a few kernels a step, recorded and replayed.

The mathematics and the states are those of ``reference.py``, so a training may move from one to the other. Rounding
differs (float32 throughout), but a run repeats bit by bit on the same kind of device, since gradients are added up in
whole numbers.

A step moves some tens of megabytes, which takes a GPU ten microseconds; launching one operation after the other from
Python would take a hundred times that. So everything lies on the device: texts, the epoch's order, learning rates, and
a counter that tells the kernels (``kernels.py``) which step it is. Some steps (``STEPS``) are recorded once as a CUDA
graph; an epoch is that recording, replayed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from isogloss.papers.examples import Pairs
from isogloss.papers.learner import PairLearner, State
from isogloss.papers.smooth.learners.reference import check_state, state_of
from isogloss.papers.smooth.losses import BAND, CompiledLoss
from isogloss.storage.errors import InputError, import_extra
from isogloss.systems.bridge.adam import ADAM_EPSILON, BETA1, BETA2, LIMIT, Table, catch_up, schedule

STEPS = 128
"""How many steps a recording has, if there is room."""
_ROOM = 2**28  # numbers of 32 bits that a recording may use: a gigabyte
_NEVER = 2**62
_LARGEST_SUM = 2.0**26  # times ``kernels.SCALE`` it is half of what 64 bits hold
# How many numbers (of word vectors, of sums) a program handles at once, and in how many warps: tried on an H200.
_TILE, _SUM_TILE, _WARPS = 16384, 2048, 16
_SQUARE_TILE, _SQUARE_WARPS, _SQUARES = 4096, 8, 128
_UPDATE_TILE, _UPDATE_WARPS = 512, 2
_CATCH_UP_TILE, _CATCH_UP_WARPS = 1024, 4
_ROWS = 128  # rows that a program of ``look_ahead`` handles at once
_WORDS = 1024  # words that a program of ``claim`` or ``resolve`` handles at once
_OVERLAPPING = (9, 0)  # compute capability from which a kernel can start before the one before it ends


class Model(NamedTuple):
    """The parameters, the loss and its settings, on the device."""

    rows: torch.Tensor
    since: torch.Tensor
    schedule: torch.Tensor
    control: torch.Tensor
    lower: torch.Tensor
    upper: torch.Tensor
    constants: torch.Tensor
    loss: CompiledLoss
    eps: float
    clip: float


class Order(NamedTuple):
    """The examples of an order; by example and side: where the text's words start, how many there are, where placed.

    ``tokens`` is the length of each text with all repetitions, ``words`` how many words each batch has.
    """

    starts: torch.Tensor
    lengths: torch.Tensor
    places: torch.Tensor
    tokens: torch.Tensor
    grades: torch.Tensor
    words: torch.Tensor

    @classmethod
    def room(cls, examples: int, batch_size: int, device: torch.device) -> Order:
        """Memory for an order."""
        shapes = [(examples, 2)] * 4 + [(examples,), (-(-examples // batch_size),)]
        kinds = [torch.int64, torch.int32, torch.int32, torch.float32, torch.int32, torch.int32]
        return cls(*(torch.zeros(shape, dtype=kind, device=device) for shape, kind in zip(shapes, kinds, strict=True)))


class Texts:
    """Pairs on the device: the distinct words of each text and their counts.

    The documents' words and texts are numbered after the queries'.
    """

    def __init__(self, pairs: Pairs, query_words: int, words: int, device: torch.device) -> None:
        queries, documents = pairs.queries, pairs.documents
        tokens = put(np.concatenate([queries.lengths, documents.lengths]), device)
        ids = put(np.concatenate([queries.ids, documents.ids + np.int64(query_words)]), device)
        texts = torch.repeat_interleave(torch.arange(len(tokens), device=device), tokens)
        found, counts = torch.unique(texts * words + ids, return_counts=True)
        self.ids, self.counts = (found % words).to(torch.int32), counts.to(torch.float32)
        self.lengths = torch.bincount(found // words, minlength=len(tokens))
        self.starts = self.lengths.cumsum(0) - self.lengths
        self.tokens = tokens.clamp(min=1).to(torch.float32)
        of_pair = np.stack([pairs.query_of.astype(np.int64), pairs.document_of.astype(np.int64) + len(queries)], axis=1)
        self.of_pair, self.grades = put(of_pair, device), put(pairs.grades.astype(np.int32), device)
        sides = self.lengths[: len(queries)], self.lengths[len(queries) :]
        self.longest = [int(side.max()) if len(side) else 0 for side in sides]

    def order(self, numbers: NDArray[np.int64], batch_size: int) -> Order:
        """The examples in this order."""
        chosen = put(numbers, self.ids.device)
        texts = self.of_pair[chosen]
        lengths = self.lengths[texts]
        ends = lengths.flatten().cumsum(0).view(-1, 2)
        before = (ends - lengths)[::batch_size, 0]
        words = torch.cat([before[1:], ends[-1:, 1]]) - before
        places = ends - lengths - before.repeat_interleave(batch_size)[: len(ends), None]
        return Order(self.starts[texts], lengths, places, self.tokens[texts], self.grades[chosen], words)

    def most_words(self, batch_size: int) -> int:
        """How many words a batch of different pairs can have."""
        words = self.lengths[self.of_pair].sum(1)
        return int(words.topk(min(batch_size, len(words))).values.sum())


class Recording:
    """Some steps of one batch size as a CUDA graph, and the memory that it reads and writes."""

    def __init__(self, model: Model, texts: Texts, batch_size: int, examples: int, words: int) -> None:
        device, size = model.rows.device, model.rows.shape[2]
        self.model, self.texts = model, texts
        self.batch_size, self.examples, self.words = batch_size, examples, max(1, words)
        self.steps = steps = recorded_steps(-(-examples // batch_size), len(model.rows), self.words)
        self.order = Order.room(examples, batch_size, device)
        self.rates = torch.zeros((-(-examples // batch_size), 3), device=device)
        self.losses = torch.zeros(examples, device=device)
        self._owners = torch.zeros((steps, len(model.rows)), dtype=torch.int32, device=device)
        at_places = torch.zeros((4, steps, self.words), dtype=torch.int32, device=device)
        self._row_of, self._text_of, self._shared, self._misses = at_places
        self._links, self._others = torch.zeros((2, steps, self.words), dtype=torch.int64, device=device)
        self._number_of = torch.zeros((steps, batch_size, 2), dtype=torch.int32, device=device)
        self._count_of = torch.zeros((steps, self.words), device=device)
        self._firsts = torch.zeros(len(model.rows), dtype=torch.int32, device=device)
        self._ahead = torch.zeros((steps, steps, 4), device=device)
        self._sums = torch.zeros((self.words, size), dtype=torch.int64, device=device)
        self._gradients = torch.zeros((2 * batch_size, size), device=device)
        self._bounds = torch.zeros(batch_size, device=device)
        self._overlaps = torch.cuda.get_device_capability(device) >= _OVERLAPPING
        self._columns = _power_of_two(size)
        self._squares = torch.zeros(_SQUARES + 1, device=device)
        from isogloss.papers.smooth.learners import kernels  # needs triton, which is not everywhere that torch is

        self._kernels = kernels
        self._graph = self._record()

    def replay(self) -> None:
        """Take the next ``steps`` steps."""
        self._graph.replay()

    def begin(self, order: Order, rates: NDArray[np.float64], step: int) -> None:
        """Start on an order, after so many steps."""
        for kept, new in zip(self.order, order, strict=True):
            kept[: len(new)] = new
        self.rates[: len(rates)] = put(rates.astype(np.float32), self.rates.device)
        self.model.control.copy_(torch.tensor([0, len(order.words), len(order.grades), _NEVER, step]))

    def _record(self) -> torch.cuda.CUDAGraph:
        self.model.control.zero_()  # no examples: the first launch only compiles
        self._prepare()
        self._step(0)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._run()
        return graph

    def _run(self) -> None:
        self._prepare()
        for offset in range(self.steps):
            self._step(offset)
        self.model.control[:1].add_(self.steps)

    def _prepare(self) -> None:
        """Launch what finds the owners of all steps."""
        model, texts, order, rows = self.model, self.texts, self.order, len(self.model.rows)
        self._owners.zero_()
        self._kernels.claim[(self.batch_size, self.steps)](
            model.control, self.batch_size, rows, self.words, texts.ids, texts.counts, order.starts, order.lengths,
            order.places, self._owners, self._row_of, self._count_of, self._text_of, self._shared,
            BLOCK=min(_WORDS, _power_of_two(max(1, *texts.longest))),
        )  # fmt: skip
        self._number_of.zero_()
        self._kernels.resolve[(-(-self.words // _WORDS), self.steps)](
            model.control, self.batch_size, rows, self.words, order.words, order.places, self._owners, self._row_of,
            self._count_of, self._text_of, self._links, self._shared, self._others, self._number_of, BLOCK=_WORDS,
        )  # fmt: skip
        self._kernels.look_ahead[(-(-rows // _ROWS),)](
            model.control, rows, self.words, self._owners, self._misses, self._firsts, STEPS=self.steps, BLOCK=_ROWS
        )
        self._kernels.foresee[(self.steps,)](
            model.control, self.rates, model.schedule, self._ahead, STEPS=self.steps, LIMIT=LIMIT
        )
        self._kernels.approach[(_blocks(model),)](
            model.control, rows, self._firsts, model.rows, model.since, self.rates, model.schedule, STEPS=self.steps,
            **_catch_up_options(model),
        )  # fmt: skip

    def _step(self, offset: int) -> None:
        """Launch the kernels of a step."""
        model, order = self.model, self.order
        where = (model.control, offset, self.batch_size, self.words)
        most = _power_of_two(max(1, sum(self.texts.longest)))
        options: dict[str, Any] = {
            "SIZE": model.rows.shape[2], "COLUMNS": self._columns, "OVERLAPS": self._overlaps,
            "launch_pdl": self._overlaps,
        }  # fmt: skip
        self._kernels.differentiate[(self.batch_size,)](
            *where, self._row_of, self._count_of, self._others, self._number_of, order.lengths, order.places,
            order.tokens, order.grades, model.rows, self._gradients, self._sums, self.losses, self._bounds, model.lower,
            model.upper, model.constants, float(model.loss.slope), model.eps, _LARGEST_SUM / self.words,
            IS_BAND=model.loss.kind == BAND,
            BLOCK=min(most, max(1, _TILE // self._columns)), SUM_BLOCK=min(most, max(1, _SUM_TILE // self._columns)),
            num_warps=_WARPS, **options,
        )  # fmt: skip
        flat = (
            *where, order.words, self._links, self._text_of, self._count_of, self._shared, self._gradients, self._sums,
            self._squares, model.clip,
        )  # fmt: skip
        options |= {"SQUARES": _SQUARES}
        if model.clip > 0:
            self._kernels.square[(_SQUARES,)](
                *flat, self._bounds, BLOCK=max(1, _SQUARE_TILE // self._columns), BATCH=_power_of_two(self.batch_size),
                num_warps=_SQUARE_WARPS, **options,
            )  # fmt: skip
        block = max(1, _UPDATE_TILE // self._columns)
        self._kernels.update[(-(-self.words // block),)](
            *flat, self._row_of, model.rows, model.since, self._misses, self.rates, self._ahead, BETA1=BETA1,
            BETA2=BETA2, EPSILON=ADAM_EPSILON, STEPS=self.steps, CLIPS=model.clip > 0, BLOCK=block,
            num_warps=_UPDATE_WARPS, enable_fp_fusion=False, **options,
        )  # fmt: skip


def recorded_steps(batches: int, rows: int, words: int) -> int:
    """How many steps a recording has, of so many batches with so many words each, and a model with so many rows.

    >>> [recorded_steps(*each) for each in ((10_334, 200_000, 28_000), (10, 200, 280), (900, 2_000_000, 1_000_000))]
    [128, 16, 16]
    """
    steps = min(STEPS, _power_of_two(batches))
    while steps > 1 and steps * (rows + 9 * words) > _ROOM:
        steps //= 2
    return steps


def _blocks(model: Model) -> int:
    """How many programs it takes for all rows to catch up."""
    rows, _, size = model.rows.shape
    return -(-rows // max(1, _CATCH_UP_TILE // _power_of_two(size)))


def _catch_up_options(model: Model) -> dict[str, Any]:
    """Options of the kernels that catch up. Without fusion they round as ``update`` does, wherever recordings begin."""
    size = model.rows.shape[2]
    columns = _power_of_two(size)
    return {
        "LIMIT": LIMIT, "EPSILON": ADAM_EPSILON, "SIZE": size, "COLUMNS": columns,
        "BLOCK": max(1, _CATCH_UP_TILE // columns), "num_warps": _CATCH_UP_WARPS, "enable_fp_fusion": False,
    }  # fmt: skip


def settle(model: Model, step: int, rate: float) -> None:
    """All rows catch up."""
    from isogloss.papers.smooth.learners import kernels

    kernels.settle[(_blocks(model),)](
        len(model.rows), step, rate, model.rows, model.since, model.schedule, **_catch_up_options(model)
    )


def _power_of_two(number: int) -> int:
    """The smallest power of two that is not less."""
    return 1 << max(0, number - 1).bit_length()


def put(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """The array on the device."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


class CudaAverage(PairLearner):
    """Both tables in one, the queries' first, each row beside its two moments: ``[words, 3, size]``."""

    def __init__(
        self,
        query_table: Table,
        document_table: Table,
        pairs: Pairs,
        loss: CompiledLoss,
        eps: float,
        clip: float,
        device: str = "cuda",
    ) -> None:
        if not torch.cuda.is_available():
            raise InputError(f"there is no GPU to train on (device '{device}'): train on the device 'cpu'")
        import_extra("triton", "papers", "training on a GPU")
        self._device, self._query_words = torch.device(device), len(query_table)
        table = put(np.concatenate([query_table, document_table]).astype(np.float32), self._device)
        self._model = Model(
            torch.stack([table, torch.zeros_like(table), torch.zeros_like(table)], dim=1),
            torch.zeros(len(table), dtype=torch.int32, device=self._device),
            put(schedule(), self._device),
            torch.zeros(5, dtype=torch.int64, device=self._device),
            put(loss.lower, self._device),
            put(loss.upper, self._device),
            put(_constants(loss), self._device),
            loss,
            float(eps),
            float(clip),
        )
        self._step, self._rate = 0, 0.0
        self.use(pairs)

    def use(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self._texts = Texts(pairs, self._query_words, len(self._model.rows), self._device)
        self._recording: Recording | None = None

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        if not len(order):
            return np.zeros(0)
        batches = -(-len(order) // batch_size)
        with torch.cuda.device(self._device):
            recording = self._begin(order, batch_size, rate)
            try:
                for _ in range(0, batches, recording.steps):
                    recording.replay()
            finally:  # also when interrupted: the count of steps goes with the rows
                reached, _, _, failed, _ = self._model.control.tolist()
                self._step += min(reached, batches, failed)
                self._step_back()
            taken = min(batches, failed + 1)
            losses = recording.losses[: min(len(order), taken * batch_size)].cpu().numpy().astype(np.float64)
        starts = np.arange(0, len(losses), batch_size)
        means: NDArray[np.float64] = np.add.reduceat(losses, starts) / np.diff(starts, append=len(losses))
        return means

    def _begin(self, order: NDArray[np.int64], batch_size: int, rate: float) -> Recording:
        """Put the order on the device; record anew if the last recording has another batch size or too little room."""
        if rate != self._rate:
            settle(self._model, self._step, self._rate)
            self._rate = rate
        examples = self._texts.order(order, batch_size)
        words, last = int(examples.words.max()), self._recording
        if last is None or last.batch_size != batch_size or last.examples < len(order) or last.words < words:
            words = max(words, self._texts.most_words(batch_size))
            self._recording = last = None  # its memory may be needed
            last = Recording(self._model, self._texts, batch_size, max(len(order), self.examples), words)
            self._recording = last
        steps = self._step + 1 + np.arange(-(-len(order) // batch_size))
        corrections = [rate / (1 - BETA1**steps), 1 / np.sqrt(1 - BETA2**steps), np.full(len(steps), rate)]
        last.begin(examples, np.stack(corrections, axis=1), self._step)
        return last

    def _step_back(self) -> None:
        """Rows that made steps which are not taken after all go back to the last one that is."""
        model = self._model
        ahead = torch.nonzero(model.since > self._step)[:, 0]
        if len(ahead):
            rows, since = (each[ahead].cpu().numpy() for each in (model.rows, model.since))
            model.rows[ahead] = put(catch_up(rows, since, self._step, self._rate), self._device)
            model.since[ahead] = self._step

    def parameters(self) -> State:
        copies = self._model._replace(rows=self._model.rows.clone(), since=self._model.since.clone())
        with torch.cuda.device(self._device):
            settle(copies, self._step, self._rate)
        table = copies.rows[:, 0].cpu().numpy()
        return {"query_table": table[: self._query_words].copy(), "document_table": table[self._query_words :].copy()}

    def state(self) -> State:
        rows, since = (self._sides(each.cpu().numpy()) for each in (self._model.rows, self._model.since))
        return state_of(rows, since, self._step, self._rate)

    def restore(self, state: State) -> None:
        check_state(state, [rows.shape for rows in self._sides(self._model.rows)])
        for name, kept in (("rows", self._model.rows), ("since", self._model.since)):
            kept.copy_(put(np.concatenate([state[f"query_{name}"], state[f"document_{name}"]]), self._device))
        self._step, self._rate = int(state["step"]), float(state["rate"])

    def _sides(self, both: Any) -> list[Any]:
        return [both[: self._query_words], both[self._query_words :]]


def _constants(loss: CompiledLoss) -> NDArray[np.float32]:
    """What does not depend on the score, for each grade: the last term of ``ODDS``."""
    if loss.kind == BAND:
        return np.zeros(len(loss.lower), dtype=np.float32)
    widths = loss.slope * (loss.upper.astype(np.float64) - loss.lower)
    constants: NDArray[np.float32] = (-np.log(-np.expm1(-widths))).astype(np.float32)
    return constants

"""Learning any scorer of pairs from (query, positive, negative) triples, with torch, on the CPU or a GPU.

    L = mean over the batch of max(0, margin - s(q, d+) + s(q, d-))  + what an extra term adds

(eq. 9 and 10 of the layer-wise paper). As in ``torch_pairs.py`` a step is recorded on a GPU and replayed, texts and
pairs lie on the device, and nothing is asked of it within a stretch of batches. Steps that are shared with other
processes are not recorded; their negatives are drawn by the first process for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.nn.encoders.torch_encoder import as_tensor, fill
from isogloss.nn.encoders.towers import Dropout, pad_texts
from isogloss.nn.inference import encode_texts, usable_device
from isogloss.nn.matchers.scorer import Compared, Scorer, Texts, VectorScorer, WordTables
from isogloss.nn.similarity import smooth_scale
from isogloss.storage.errors import InputError
from isogloss.text.ids import Ids, TextIds
from isogloss.training.distributed import Alone, Team
from isogloss.training.distributed_torch import SharedSteps
from isogloss.training.learner import Learner, State
from isogloss.training.torch_steps import NamedAdam, RecordedStep, in_chunks
from isogloss.training.triples import Negatives, Triples

# A term beside the ranking loss, with parameters and steps of its own: an adversary.


class ExtraTerm(ABC):
    """Something added to the loss of each batch."""

    @abstractmethod
    def use(self, device: torch.device, generator: torch.Generator) -> None:
        """Compute there, with random numbers from there; called before anything else."""

    @abstractmethod
    def join(self, shared: SharedSteps) -> None:
        """See only this process's share of each batch from now on; called before ``prepare``."""

    @abstractmethod
    def prepare(self, compared: Compared, stopped: Tensor) -> None:
        """Take steps of its own on a batch, which changes nothing of the scorer.

        None where ``stopped`` is 1; it is set to 1 where something is not finite.
        """

    @abstractmethod
    def value(self, compared: Compared) -> Tensor:
        """What is added to the loss of the batch."""

    def begin_epoch(self, epoch: int) -> None:  # noqa: B027 - some have nothing to prepare
        """Begin to gather what ``report`` says of an epoch, unless that was begun."""

    def check(self) -> None:  # noqa: B027 - some cannot fail
        """Raise ``TrainingStopped`` where going on is of no use; called now and then."""

    def report(self) -> dict[str, float]:
        """What was measured in the epoch, for the history."""
        return {}

    @abstractmethod
    def state(self) -> State:
        """Everything needed to go on."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from a state."""


_Lengths = tuple[int, int]


class _Side:
    """The texts of one language, on the device; their lengths are known here as well."""

    def __init__(self, texts: TextIds, device: torch.device) -> None:
        self._ids, self._offsets = as_tensor(texts.ids, device), as_tensor(texts.offsets, device)
        self._lengths = texts.lengths

    def longest(self, *texts: NDArray[np.int32] | slice) -> int:
        return max(1, *(int(self._lengths[rows].max(initial=0)) for rows in texts))

    def batch(self, texts: Tensor, length: int) -> Texts:
        return Texts(*pad_texts(self._ids, self._offsets, texts.long(), length))


class TorchTriples(Learner):
    """A scorer and the triples it learns from.

    ``clip`` <= 0 clips nothing; ``seed`` draws what dropout drops; ``recorded`` is about GPUs only. The losses it gives
    are those of the ranking alone; the steps are those of the whole.
    """

    def __init__(
        self,
        scorer: Scorer,
        triples: Triples,
        negatives: Negatives,
        margin: float = 1.0,
        clip: float = 0.0,
        seed: int = 0,
        device: str = "cpu",
        extra: ExtraTerm | None = None,
        recorded: bool = True,
    ) -> None:
        self._device = usable_device(device)
        self._recorded = recorded and self._device.type == "cuda"
        self.scorer = scorer.to(self._device)
        self.triples, self.negatives, self._margin, self._extra = triples, negatives, margin, extra
        self._named = dict(scorer.named_parameters())
        learned = {name: parameter for name, parameter in self._named.items() if parameter.requires_grad}
        if not learned:
            raise InputError("this scorer with fixed word vectors has nothing to learn; train the vectors too")
        self._adam = NamedAdam(learned, clip)
        self._rate, self._stopped = torch.zeros((), device=self._device), torch.zeros((), device=self._device)
        self._idle, self._taken = torch.zeros((), device=self._device), torch.zeros((), device=self._device)
        self._generator = torch.Generator(self._device).manual_seed(seed)
        for module in scorer.modules():
            if isinstance(module, Dropout):
                module.generator = self._generator
        if extra:
            extra.use(self._device, self._generator)
        self._queries, self._documents = (_Side(each, self._device) for each in (triples.queries, triples.documents))
        self._query_of, self._positive_of = (
            as_tensor(each, self._device) for each in (triples.query_of, triples.positive_of)
        )
        self._negative_of = torch.zeros_like(self._positive_of)
        self._recordings: dict[int, RecordedStep] = {}
        self._epoch = -1
        self._team: Team = Alone()
        self._shared: SharedSteps | None = None

    def join(self, team: Team) -> None:
        self._team, self._shared, self._recorded = team, SharedSteps(team, self.scorer.modules()), False
        self._adam.add_up = self._shared.add_up
        if self._extra:
            self._extra.join(self._shared)

    @property
    def examples(self) -> int:
        return len(self.triples)

    def begin_epoch(self, epoch: int) -> None:
        self.negatives.restore(self._team.decide(partial(self._drawn, epoch)))
        if self._extra:
            self._extra.begin_epoch(epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            self._idle.zero_()
            self._taken.zero_()

    def _drawn(self, epoch: int) -> State:
        """The negatives of an epoch."""
        self.negatives.begin_epoch(epoch)
        return self.negatives.state()

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        self.scorer.train()
        self._rate.fill_(rate)
        return in_chunks(order, batch_size, partial(self._advance, batch_size))

    def _advance(self, batch_size: int, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """A stretch of batches; what follows a loss that is not finite is of no account and changes nothing."""
        recorded = self._recording(batch_size) if self._recorded and len(order) >= batch_size else None
        batches = [slice(first, min(len(order), first + batch_size)) for first in range(0, len(order), batch_size)]
        drawn = np.concatenate([self.negatives.of(order[batch]) for batch in batches])
        numbers, losses = as_tensor(order, self._device), []
        self._negative_of[numbers] = as_tensor(drawn, self._device)
        self._stopped.zero_()
        for batch in batches:
            if recorded and batch.stop - batch.start == batch_size:
                losses.append(recorded(numbers[batch]))
            else:
                own = self._share(order[batch], drawn[batch])
                losses.append(self._step(numbers[batch][own], self._longest(order[batch], drawn[batch])))
        if self._extra:
            self._extra.check()
        return torch.stack(losses).double().cpu().numpy()

    def _share(self, pairs: NDArray[np.int64], negatives: NDArray[np.int32]) -> slice:
        """Which pairs of a batch are this process's."""
        if self._shared is None:
            return slice(None)
        triples, touched = self.triples, dict[torch.nn.Parameter, NDArray[np.int32]]()
        queries = triples.queries.words_of(triples.query_of[pairs])
        documents = triples.documents.words_of(np.concatenate([triples.positive_of[pairs], negatives]))
        for tables in self.scorer.modules():
            if isinstance(tables, WordTables) and tables.query is tables.document:
                touched[tables.query] = np.concatenate([queries, documents])
            elif isinstance(tables, WordTables):
                touched |= {tables.query: queries, tables.document: documents}
        return self._shared.begin(len(pairs), touched)

    def _longest(self, pairs: NDArray[np.int64], negatives: NDArray[np.int32]) -> _Lengths:
        triples = self.triples
        query = self._queries.longest(triples.query_of[pairs])
        return query, self._documents.longest(triples.positive_of[pairs], negatives)

    def _recording(self, batch_size: int) -> RecordedStep:
        """The step of a batch, padded to the longest text of all, with nothing changed by its recording."""
        if batch_size not in self._recordings:
            lengths = tuple(
                max(1, int(texts.lengths.max())) for texts in (self.triples.queries, self.triples.documents)
            )
            before = self._generator.get_state()
            self._stopped.fill_(1)
            step = partial(self._step, lengths=(lengths[0], lengths[1]))
            self._recordings[batch_size] = RecordedStep(step, batch_size, self._generator)
            self._generator.set_state(before)
        return self._recordings[batch_size]

    def _step(self, pairs: Tensor, lengths: _Lengths) -> Tensor:
        """Take one step, unless ``_stopped`` is 1 or becomes so here; the ranking loss before it."""
        compared = self.scorer.compare(
            self._queries.batch(self._query_of[pairs], lengths[0]),
            self._documents.batch(self._positive_of[pairs], lengths[1]),
            self._documents.batch(self._negative_of[pairs], lengths[1]),
        )
        ranking = (self._margin - compared.positive + compared.negative).clamp(min=0).mean()
        loss = ranking
        if self._extra:
            self._extra.prepare(compared, self._stopped)
            loss = loss + self._extra.value(compared)
        if self._shared:
            loss, ranking = loss * self._shared.weight, self._shared.sum(ranking)
        norm = self._adam.step(loss, self._rate, self._stopped)
        going = 1 - self._stopped
        self._idle += going * (norm == 0)
        self._taken += going
        return torch.where(self._stopped == 0, ranking.detach(), torch.nan)

    def report(self) -> dict[str, float]:
        """What the epoch showed beside the loss: ``idle`` is the share of steps whose gradient was all zero."""
        made = {"idle": float(self._idle / self._taken.clamp(min=1))}
        return made | self._extra.report() if self._extra else made

    def parameters(self) -> State:
        return _arrays(self._named)

    def state(self) -> State:
        counts = {"step": self._adam.steps, "epoch": self._epoch}
        made = self.parameters() | _arrays(self._adam.moments()) | self.negatives.state()
        made |= {name: np.asarray(number) for name, number in counts.items()}
        made |= _arrays({"idle": self._idle, "taken": self._taken})
        made["random"] = self._generator.get_state().numpy().copy()
        if self._extra:
            made |= {f"extra.{name}": array for name, array in self._extra.state().items()}
        return made

    def restore(self, state: State) -> None:
        random = torch.from_numpy(np.array(state["random"]))
        if len(random) != len(self._generator.get_state()):
            raise InputError(
                f"this training began on another kind of device than {self._device.type}, which draws other random "
                f"numbers; go on with it there"
            )
        fill(self._named | self._adam.moments() | {"idle": self._idle, "taken": self._taken}, state)
        self._adam.steps, self._epoch = int(state["step"]), int(state["epoch"])
        self.negatives.restore(state)
        self._generator.set_state(random)
        if self._extra:
            self._extra.restore(
                {name.removeprefix("extra."): array for name, array in state.items() if name.startswith("extra.")}
            )


def _arrays(tensors: dict[str, Tensor] | dict[str, torch.nn.Parameter]) -> State:
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}


# Hard negatives by the model that is being trained: the documents it now takes to be nearest to each query.

_QUERIES = 1024  # compared with all documents at a time


def nearest_documents(scorer: VectorScorer, triples: Triples, number: int) -> Ids:
    """The rows of the ``number`` documents with the largest cosine for each query, best first.

    The cosine of the vectors, whatever the scorer makes of them: all pairs would be too many for a network.
    """
    device, was_training = next(scorer.parameters()).device, scorer.training
    scorer.eval()
    queries = encode_texts(scorer.encode_queries, triples.queries, device)
    documents = torch.from_numpy(encode_texts(scorer.encode_documents, triples.documents, device)).to(device)
    scorer.train(was_training)
    columns = smooth_scale(documents, 0.0).T
    found = np.empty((len(queries), min(number, len(triples.documents))), np.int32)
    for first in range(0, len(queries), _QUERIES):
        part = torch.from_numpy(queries[first : first + _QUERIES]).to(device)
        found[first : first + _QUERIES] = (part @ columns).topk(found.shape[1], dim=1).indices.cpu().numpy()
    return found

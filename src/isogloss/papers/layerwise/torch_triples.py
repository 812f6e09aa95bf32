"""A scorer of pairs trained on (query, positive, negative) triples, with torch, on the CPU or a GPU.

    L = mean over the batch of max(0, margin - s(q, d+) + s(q, d-))  + what an extra term adds

(eq. 9 and 10 of the layer-wise paper), or without a margin the softmax loss over the positive and its sampled negatives
(eq. 5 of Huang et al. 2013; their smoothing factor gamma is in s):

    L = mean over the batch of -log exp(s(q, d+)) / (exp(s(q, d+)) + sum over the negatives of exp(s(q, d-)))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.papers.layerwise.matchers.scorer import Compared, Scorer, VectorScorer
from isogloss.papers.layerwise.triples import Negatives, Triples
from isogloss.papers.learner import State
from isogloss.papers.similarity import smooth_scale
from isogloss.papers.torch_encoder import as_tensor
from isogloss.papers.torch_inference import DeviceTexts, encode_texts, usable_device
from isogloss.papers.torch_steps import Lengths, TorchLearner
from isogloss.text.ids import Ids

_QUERIES = 1024  # compared with all documents at a time


class ExtraTerm(ABC):
    """A term added to the ranking loss of each batch, with parameters and steps of its own: an adversary."""

    @abstractmethod
    def use(self, device: torch.device, generator: torch.Generator) -> None:
        """Compute there, with random numbers from there; called before anything else."""

    @abstractmethod
    def prepare(self, compared: Compared, stopped: Tensor) -> None:
        """Take steps of its own on a batch, which changes nothing of the scorer.

        None where ``stopped`` is 1; it is set to 1 where something is not finite.
        """

    @abstractmethod
    def value(self, compared: Compared) -> Tensor:
        """What is added to the loss of the batch."""

    def begin_epoch(self, epoch: int) -> None:  # noqa: B027 - some have nothing to prepare
        """Begin to gather what ``report`` returns for an epoch, unless that was begun."""

    def check(self) -> None:  # noqa: B027 - some cannot fail
        """Raise ``TrainingStopped`` where training has diverged; called after each chunk of batches."""

    def report(self) -> dict[str, float]:
        """What was measured in the epoch, for the history."""
        return {}

    @abstractmethod
    def state(self) -> State:
        """Everything that a checkpoint needs."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Continue from a state."""


class TorchTriples(TorchLearner):
    """A scorer and the triples it is trained on.

    The losses it returns are those of the ranking alone; the steps are those of the whole loss.
    """

    def __init__(
        self, scorer: Scorer, triples: Triples, negatives: Negatives, margin: float | None = 1.0, clip: float = 0.0,
        seed: int = 0, device: str = "cpu", extra: ExtraTerm | None = None, recorded: bool = True,
    ) -> None:  # fmt: skip
        on = usable_device(device)
        self.scorer = scorer.to(on)
        super().__init__([self.scorer], dict(scorer.named_parameters()), clip, seed, on, recorded)
        self.triples, self.negatives, self._margin, self._extra = triples, negatives, margin, extra
        self._idle, self._taken = torch.zeros((), device=on), torch.zeros((), device=on)
        if extra:
            extra.use(on, self._generator)
        self._queries, self._documents = (DeviceTexts(each, on) for each in (triples.queries, triples.documents))
        self._query_of, self._positive_of = as_tensor(triples.query_of, on), as_tensor(triples.positive_of, on)
        self._drawn = np.zeros((len(triples), negatives.draws), np.int32)
        self._negative_of = as_tensor(self._drawn, on)
        self._epoch = -1

    @property
    def examples(self) -> int:
        return len(self.triples)

    def begin_epoch(self, epoch: int) -> None:
        self.negatives.begin_epoch(epoch)
        if self._extra:
            self._extra.begin_epoch(epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            self._idle.zero_()
            self._taken.zero_()

    def _advance_chunk(self, order: NDArray[np.int64], batch_size: int) -> NDArray[np.float64]:
        losses = super()._advance_chunk(order, batch_size)
        if self._extra:
            self._extra.check()
        return losses

    def prepare_chunk(self, batches: Sequence[NDArray[np.int64]]) -> None:
        for batch in batches:
            self._drawn[batch] = self.negatives.of(batch)
        pairs = np.concatenate(batches)
        self._negative_of[as_tensor(pairs, self._device)] = as_tensor(self._drawn[pairs], self._device)

    def lengths(self, batch: NDArray[np.int64] | None) -> Lengths:
        if batch is None:
            return self._queries.longest(slice(None)), self._documents.longest(slice(None))
        query = self._queries.longest(self.triples.query_of[batch])
        return query, self._documents.longest(self.triples.positive_of[batch], self._drawn[batch].ravel())

    def step(self, examples: Tensor, lengths: Lengths) -> Tensor:
        compared = self.scorer.compare(
            self._queries.batch(self._query_of[examples], lengths[0]),
            self._documents.batch(self._positive_of[examples], lengths[1]),
            self._documents.batch(self._negative_of[examples].T.flatten(), lengths[1]),
        )
        ranking = ranking_loss(compared, self._margin)
        loss = ranking
        if self._extra:
            self._extra.prepare(compared, self._stopped)
            loss = loss + self._extra.value(compared)
        _, norm = self._adam.step(loss, self._rate, self._stopped)
        going = 1 - self._stopped
        self._idle += going * (norm == 0)
        self._taken += going
        return torch.where(self._stopped == 0, ranking.detach(), torch.nan)

    def report(self) -> dict[str, float]:
        """What the epoch showed beside the loss: ``idle`` is the share of steps whose gradient was all zero."""
        made = {"idle": float(self._idle / self._taken.clamp(min=1))}
        return made | self._extra.report() if self._extra else made

    def tensors(self) -> dict[str, Tensor]:
        return {**super().tensors(), "idle": self._idle, "taken": self._taken}

    def state(self) -> State:
        made = super().state() | self.negatives.state() | {"epoch": np.asarray(self._epoch)}
        extra = self._extra.state() if self._extra else {}
        return made | {f"extra.{name}": array for name, array in extra.items()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._epoch = int(state["epoch"])
        self.negatives.restore(state)
        if self._extra:
            self._extra.restore(
                {name.removeprefix("extra."): array for name, array in state.items() if name.startswith("extra.")}
            )


def ranking_loss(compared: Compared, margin: float | None) -> Tensor:
    """The hinge loss with a margin, the softmax loss without."""
    positive = compared.positive
    negative = compared.negative.view(-1, len(positive))
    if margin is not None:
        return (margin - positive + negative).clamp(min=0).mean()
    return (torch.cat([positive[None], negative]).logsumexp(dim=0) - positive).mean()


def nearest_documents(scorer: VectorScorer, triples: Triples, number: int) -> Ids:
    """Hard negatives: the rows of the ``number`` documents with the largest cosine for each query, best first.

    The cosine of the vectors is used, whatever the scorer makes of them: all pairs would be too many for a network.
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

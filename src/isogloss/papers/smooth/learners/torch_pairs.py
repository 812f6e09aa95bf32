"""Two encoders trained on graded pairs, with torch: any towers, dense Adam, on the CPU or a GPU.

    L = mean over the batch of loss(r_eps(f_q(q), f_d(d)), grade)

Each pair's texts are encoded by themselves: in shuffled batches hardly any text occurs twice.

On a GPU the loss of a recorded step is compiled by torch, which makes a few kernels of many: 400 µs a step instead of
1,278 with the CNN on texts of 25 words, on an H200. Compiling takes a minute or two, and is kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from isogloss.papers.examples import Pairs
from isogloss.papers.learner import PairLearner, State
from isogloss.papers.similarity import smooth_cosine
from isogloss.papers.smooth.losses import BAND, CompiledLoss, Loss
from isogloss.papers.torch_encoder import as_tensor, named_parameters
from isogloss.papers.torch_inference import DeviceTexts, usable_device
from isogloss.papers.torch_steps import PADDINGS, Lengths, TorchLearner
from isogloss.papers.towers import Dropout, TextEncoder
from isogloss.storage.errors import InputError


class TensorLoss:
    """The two closed forms of ``isogloss.papers.smooth.losses``, as tensors that lie where the scores are.

    Making them anew at each step would make a GPU wait.
    """

    def __init__(self, loss: Loss | CompiledLoss, device: torch.device) -> None:
        compiled = loss.compiled() if isinstance(loss, Loss) else loss
        self.grades = len(compiled.lower)
        self._band, self._slope = compiled.kind == BAND, compiled.slope
        self._lower, self._upper = (
            torch.tensor(ends, dtype=torch.float64, device=device) for ends in (compiled.lower, compiled.upper)
        )
        self._width_terms = -torch.log(-torch.expm1(self._slope * (self._lower - self._upper)))

    def values(self, scores: Tensor, grades: Tensor) -> Tensor:
        """The loss of each score."""
        lower, upper = self._lower[grades].to(scores.dtype), self._upper[grades].to(scores.dtype)
        if self._band:
            return (scores - upper).relu().square() + (lower - scores).relu().square()
        sides = softplus(self._slope * (scores - upper)) + softplus(self._slope * (lower - scores))
        return sides + self._width_terms[grades].to(scores.dtype)


class TorchPairs(TorchLearner, PairLearner):
    """Two encoders and the pairs they are trained on."""

    def __init__(
        self, query_encoder: TextEncoder, document_encoder: TextEncoder, pairs: Pairs, loss: Loss | CompiledLoss,
        eps: float, clip: float, seed: int = 0, device: str = "cpu", recorded: bool = True,
    ) -> None:  # fmt: skip
        on = usable_device(device)
        self.encoders = query_encoder.to(on), document_encoder.to(on)
        super().__init__(self.encoders, named_parameters(*self.encoders), clip, seed, on, recorded)
        self._loss, self._eps = TensorLoss(loss, on), eps
        self.use(pairs)

    def use(self, pairs: Pairs) -> None:
        if len(pairs) and int(pairs.grades.max()) >= self._loss.grades:
            raise InputError(
                f"a pair has grade {int(pairs.grades.max())}, but the loss knows grades 0 to {self._loss.grades - 1}; "
                f"give it one threshold fewer than there are grades"
            )
        self.pairs = pairs
        self._queries, self._documents = (DeviceTexts(each, self._device) for each in (pairs.queries, pairs.documents))
        self._query_of, self._document_of, self._grades = (
            as_tensor(numbers, self._device) for numbers in (pairs.query_of, pairs.document_of, pairs.grades)
        )
        self._recordings.clear()
        self._longest = None

    def lengths(self, batch: NDArray[np.int64] | None) -> Lengths:
        rows = slice(None) if batch is None else batch
        queries, documents = self.pairs.query_of[rows], self.pairs.document_of[rows]
        return self._queries.longest(queries), self._documents.longest(documents)

    def _loss_of(self, examples: Tensor, lengths: Lengths) -> Tensor:
        queries = self.encoders[0].encode(*self._queries.batch(self._query_of[examples], lengths[0]))
        documents = self.encoders[1].encode(*self._documents.batch(self._document_of[examples], lengths[1]))
        scores = smooth_cosine(queries, documents, self._eps)
        return self._loss.values(scores, self._grades[examples].long()).mean()

    @cached_property
    def _compiled_loss(self) -> Callable[[Tensor, Lengths], Tensor]:
        """The same, compiled; only for what is recorded, because compiling takes longer than a few steps."""
        torch.compiler.reset()  # what a learner before this one compiled counts against torch's limit of versions
        limits = torch._dynamo.config  # beyond them nothing is compiled; there is a version for each encoder and length
        limits.recompile_limit = max(limits.recompile_limit, 2 * PADDINGS)
        for part in self._parts():
            if isinstance(part, Dropout):
                part.stay_uncompiled()
        return torch.compile(self._loss_of, dynamic=False)

    def step(self, examples: Tensor, lengths: Lengths) -> Tensor:
        loss = (self._compiled_loss if self._is_recording else self._loss_of)(examples, lengths)
        loss, norm = self._adam.step(loss, self._rate, self._stopped)
        return torch.where(norm.isfinite(), loss, norm)


class TorchAverage(TorchPairs):
    """The average model, its tables named as the other learners of it (``word_average``) name them."""

    def parameters(self) -> State:
        return {name.replace(".", "_"): table for name, table in super().parameters().items()}

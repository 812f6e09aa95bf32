"""Adam over named parameters, whose step can be called off by a flag that lies on the device.

    m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2,   x = x - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8)

Nothing is asked of the device, so that steps can follow one another without waiting, or be recorded. The fused kernel
leaves parameters, moments and the step count alone where it is told that something was not finite (``found_inf``, as
in mixed-precision training).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim.adam import adam

ADAM_EPSILON = 1e-8
AddUp = Callable[[Sequence[nn.Parameter], Tensor], Tensor]
"""Adds up gradients and a loss over several processes."""


class NamedAdam:
    """Moments and step count of some parameters; ``clip`` <= 0 clips nothing."""

    def __init__(
        self, parameters: Mapping[str, nn.Parameter], clip: float = 0.0, betas: tuple[float, float] = (0.9, 0.999)
    ) -> None:
        self.parameters = list(parameters.values())
        self._clip, self._betas = clip if clip > 0 else torch.inf, betas
        self._first = {f"first.{name}": torch.zeros_like(each) for name, each in parameters.items()}
        self._second = {f"second.{name}": torch.zeros_like(each) for name, each in parameters.items()}
        self._steps = [torch.zeros((), device=each.device) for each in self.parameters]
        self.add_up: AddUp | None = None

    def step(self, loss: Tensor, rate: Tensor, stopped: Tensor) -> Tensor:
        """A step down the gradient of ``loss``; none where ``stopped`` is 1, which it becomes where that is not finite.

        Gives the norm of the gradient before it was clipped.
        """
        torch.autograd.backward(loss, inputs=self.parameters)
        for parameter in self.parameters:  # one that the loss does not depend on
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        if self.add_up:
            loss = self.add_up(self.parameters, loss)
        norm = clip_grad_norm_(self.parameters, self._clip)
        finite = norm.isfinite() & loss.detach().isfinite()
        stopped.copy_(torch.maximum(stopped, (~finite).float()))
        adam(
            cast("list[Tensor]", self.parameters),
            cast("list[Tensor]", [parameter.grad for parameter in self.parameters]),
            list(self._first.values()),
            list(self._second.values()),
            [],
            self._steps,
            fused=True,
            found_inf=stopped,
            amsgrad=False,
            beta1=self._betas[0],
            beta2=self._betas[1],
            lr=rate,
            weight_decay=0.0,
            eps=ADAM_EPSILON,
            maximize=False,
        )
        for parameter in self.parameters:
            parameter.grad = None
        return norm

    def moments(self) -> dict[str, Tensor]:
        """The moments by name, to be kept and filled."""
        return self._first | self._second

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return int(self._steps[0]) if self._steps else 0

    @steps.setter
    def steps(self, number: int) -> None:
        for step in self._steps:
            step.fill_(number)


# A training step recorded once on a GPU (as a CUDA graph) and replayed: one launch for the hundreds a step is made of.
#
# Without it the GPU waits for the processor most of the time. A step with vocabularies of 100,000 words and documents
# of 100 to 200 words, on an H200: 5.8 ms unrecorded and 1.35 ms recorded with the CNN (batches of 128), 9.7 and 1.65
# ms with the LSTM (of 64).

_WARM_UP = 3


class RecordedStep:
    """``step`` takes the numbers of a batch's examples and gives a loss; every batch has ``batch_size`` of them.

    Recording runs the step a few times: whoever asks for it sees to it that nothing is changed by that.
    """

    def __init__(self, step: Callable[[Tensor], Tensor], batch_size: int, generator: torch.Generator) -> None:
        self._rows = torch.zeros(batch_size, dtype=torch.int64, device=generator.device)
        stream = torch.cuda.Stream(generator.device)  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream(generator.device))
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                step(self._rows)
        torch.cuda.current_stream(generator.device).wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        self._graph.register_generator_state(generator)
        with torch.cuda.graph(self._graph):
            self._loss = step(self._rows)

    def __call__(self, rows: Tensor) -> Tensor:
        """Take the step for these examples."""
        self._rows.copy_(rows)
        self._graph.replay()
        return self._loss.clone()


# Batches taken a stretch at a time: a GPU is asked for its losses after each stretch, not after each batch.

_BATCHES = 64


def in_chunks(
    order: NDArray[np.int64], batch_size: int, advance: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The loss of each batch, up to the first that is not finite; ``advance`` takes the batches of one stretch."""
    losses = [np.empty(0)]
    for first in range(0, len(order), _BATCHES * batch_size):
        losses.append(advance(order[first : first + _BATCHES * batch_size]))
        bad = np.flatnonzero(~np.isfinite(losses[-1]))
        if len(bad):
            losses[-1] = losses[-1][: bad[0] + 1]
            break
    return np.concatenate(losses)

"""Steps of learners in torch: Adam, steps recorded on a GPU, and the loop over batches that all such learners share.

    m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2,   x = x - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8)

Nothing is read back from the device within a chunk of batches: examples lie on the device, and losses stay there until
the chunk ends. A flag on the device stops the optimiser at the first loss or gradient that is not finite: the fused
Adam kernel then leaves parameters, moments and step count alone (``found_inf``, as in mixed-precision training), so
that the end of the chunk finds them as they were before that step.

A GPU would wait for the processor that launches its kernels, so a step is recorded once as a CUDA graph and replayed.
A step with vocabularies of 100,000 words and documents of 100 to 200 words, on an H200: 5.8 ms unrecorded and 1.35 ms
recorded with the CNN (batches of 128), 9.7 and 1.65 ms with the LSTM (of 64).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim.adam import adam

from isogloss.papers.learner import Learner, State
from isogloss.papers.torch_encoder import as_tensor, fill
from isogloss.papers.towers import Dropout
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.adam import ADAM_EPSILON, BETA1, BETA2

_WARM_UP = 3
_CHUNK = 64  # batches
PADDINGS = 8
"""To how many lengths the texts of recorded steps are padded."""
Lengths = tuple[int, int]
"""How far the queries and the documents of a batch are padded."""


class NamedAdam:
    """Moments and step count of some parameters; ``clip`` <= 0 clips nothing."""

    def __init__(
        self, parameters: Mapping[str, nn.Parameter], clip: float = 0.0, betas: tuple[float, float] = (BETA1, BETA2)
    ) -> None:
        self.parameters = list(parameters.values())
        self._clip, self._betas = clip if clip > 0 else torch.inf, betas
        self._first = {f"first.{name}": torch.zeros_like(each) for name, each in parameters.items()}
        self._second = {f"second.{name}": torch.zeros_like(each) for name, each in parameters.items()}
        self._steps = [torch.zeros((), device=each.device) for each in self.parameters]

    def step(self, loss: Tensor, rate: Tensor, stopped: Tensor) -> tuple[Tensor, Tensor]:
        """A step down the gradient of ``loss``; none where ``stopped`` is 1, which it becomes where that is not finite.

        Returns the loss and the norm of its gradient before clipping.
        """
        torch.autograd.backward(loss, inputs=self.parameters)
        for parameter in self.parameters:  # one that the loss does not depend on
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        norm = clip_grad_norm_(self.parameters, self._clip)
        loss = loss.detach()
        finite = norm.isfinite() & loss.isfinite()
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
        return loss, norm

    def moments(self) -> dict[str, Tensor]:
        """The moments by name."""
        return self._first | self._second

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return int(self._steps[0]) if self._steps else 0

    @steps.setter
    def steps(self, number: int) -> None:
        for step in self._steps:
            step.fill_(number)


class RecordedStep:
    """``step`` takes the numbers of a batch's examples and gives a loss; every batch has ``batch_size`` of them.

    Recording runs the step a few times; the caller makes sure that this changes nothing.
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


class TorchLearner(Learner):
    """Modules that are trained batch by batch with dense Adam, on the CPU or a GPU.

    ``clip`` <= 0 clips nothing; ``seed`` draws what dropout drops; ``recorded`` concerns GPUs only. ``parameters``
    names everything that a model saves, also what is not trained.
    """

    def __init__(
        self, modules: Sequence[nn.Module], parameters: Mapping[str, nn.Parameter], clip: float, seed: int,
        device: torch.device, recorded: bool,
    ) -> None:  # fmt: skip
        learned = {name: parameter for name, parameter in parameters.items() if parameter.requires_grad}
        if not learned:
            raise InputError("the model has nothing to learn: its word vectors are fixed; train the vectors too")
        self._device, self._named, self._modules = device, dict(parameters), modules
        self._recorded = recorded and device.type == "cuda"
        self._recordings: dict[tuple[int, Lengths], RecordedStep] = {}
        self._longest: Lengths | None = None
        self._is_recording = False
        self._adam = NamedAdam(learned, clip)
        self._rate, self._stopped = torch.zeros((), device=device), torch.zeros((), device=device)
        self._generator = torch.Generator(device).manual_seed(seed)
        for module in self._parts():
            if isinstance(module, Dropout):
                module.generator = self._generator

    def _parts(self) -> list[nn.Module]:
        return [part for module in self._modules for part in module.modules()]

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        for module in self._modules:
            module.train()
        self._rate.fill_(rate)
        losses = [np.empty(0)]
        for first in range(0, len(order), _CHUNK * batch_size):
            losses.append(self._advance_chunk(order[first : first + _CHUNK * batch_size], batch_size))
            bad = np.flatnonzero(~np.isfinite(losses[-1]))
            if len(bad):
                losses[-1] = losses[-1][: bad[0] + 1]
                break
        return np.concatenate(losses)

    def _advance_chunk(self, order: NDArray[np.int64], batch_size: int) -> NDArray[np.float64]:
        """The losses of a chunk of batches; after one that is not finite they mean nothing, and nothing changes."""
        batches = [slice(first, first + batch_size) for first in range(0, len(order), batch_size)]
        self.prepare_chunk([order[batch] for batch in batches])
        numbers, losses = as_tensor(order, self._device), []
        self._stopped.zero_()
        for batch in batches:
            if self._recorded and batch.stop <= len(order):
                losses.append(self._recording(batch_size, self.lengths(order[batch]))(numbers[batch]))
            else:
                losses.append(self.step(numbers[batch], self.lengths(order[batch])))
        return torch.stack(losses).double().cpu().numpy()

    def _recording(self, batch_size: int, lengths: Lengths) -> RecordedStep:
        """The step of a batch whose longest texts are so long; recording it changes nothing."""
        self._longest = self._longest or self.lengths(None)
        padded = padded_lengths(lengths, self._longest)
        if (batch_size, padded) not in self._recordings:
            before, stopped = self._generator.get_state(), self._stopped.clone()
            self._stopped.fill_(1)
            step = partial(self.step, lengths=padded)
            with self._recording_a_step():
                self._recordings[batch_size, padded] = RecordedStep(step, batch_size, self._generator)
            self._generator.set_state(before)
            self._stopped.copy_(stopped)
        return self._recordings[batch_size, padded]

    @contextmanager
    def _recording_a_step(self) -> Iterator[None]:
        """Matrix products are rounded as torch rounds those of convolutions and LSTMs on a GPU anyway (TF32)."""
        before, self._is_recording = torch.get_float32_matmul_precision(), True
        torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)
            self._is_recording = False

    def prepare_chunk(self, batches: Sequence[NDArray[np.int64]]) -> None:
        """Prepare the examples of some batches."""

    @abstractmethod
    def lengths(self, batch: NDArray[np.int64] | None) -> Lengths:
        """The lengths of the longest query and document of a batch, or of all batches (None)."""

    @abstractmethod
    def step(self, examples: Tensor, lengths: Lengths) -> Tensor:
        """Take one step, unless ``_stopped`` is 1 or becomes so here; the loss before it."""

    def parameters(self) -> State:
        return arrays(self._named)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a checkpoint holds and ``restore`` fills."""
        return {**self._named, **self._adam.moments()}

    def state(self) -> State:
        random = self._generator.get_state().numpy().copy()
        return arrays(self.tensors()) | {"step": np.asarray(self._adam.steps), "random": random}

    def restore(self, state: State) -> None:
        random = torch.from_numpy(np.array(state["random"]))
        if len(random) != len(self._generator.get_state()):
            raise InputError(
                f"this training began on another kind of device than {self._device.type}, which draws other random "
                f"numbers; resume it there"
            )
        fill(self.tensors(), state)
        self._adam.steps = int(state["step"])
        self._generator.set_state(random)


def padded_lengths(lengths: Lengths, longest: Lengths) -> Lengths:
    """How far a recorded step is padded: both sides to the same number of eighths of the longest text of all.

    So a batch is not padded to a text that is somewhere else, and there are at most eight recordings of a batch size.

    >>> padded_lengths((12, 100), (20, 200)), padded_lengths((20, 3), (20, 200)), padded_lengths((1, 1), (1, 1))
    ((13, 125), (20, 200), (1, 1))
    """
    part = max(-(-PADDINGS * own // max(1, most)) for own, most in zip(lengths, longest, strict=True))
    padded = [max(1, -(-max(1, part) * most // PADDINGS)) for most in longest]
    return padded[0], padded[1]


def arrays(tensors: Mapping[str, Tensor]) -> State:
    """Copies in the memory of the processor."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}

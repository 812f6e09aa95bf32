"""Learning two encoders from pairs, with torch: any towers, dense Adam, on the CPU or a GPU.

    L = mean over the batch of loss(r_eps(f_q(q), f_d(d)), grade)

A GPU would wait for the processor that feeds it, so a step is recorded there and replayed (``recorded_step.py``), and
nothing is asked of the GPU within a stretch of batches: texts and pairs lie on the device, losses stay there until the
stretch ends. From the first step whose loss or gradient is not finite, the fused Adam kernel is told to leave
parameters, moments and step counts alone (``found_inf``, as in mixed-precision training), so that the end of the
stretch finds them as they were before that step. Steps that are shared with other processes are not recorded.

Each pair's texts are encoded for themselves: in shuffled batches hardly any text occurs twice.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus
from torch.nn.utils import clip_grad_norm_
from torch.optim.adam import adam

from isogloss.nn.encoders.torch_encoder import as_tensor, fill, named_parameters
from isogloss.nn.encoders.towers import Dropout, TextEncoder, pad_texts
from isogloss.nn.losses import BAND, CompiledLoss, Loss
from isogloss.nn.similarity import smooth_cosine
from isogloss.storage.errors import InputError
from isogloss.text.ids import Ids, TextIds
from isogloss.training.average.reference import ADAM_EPSILON, BETA1, BETA2
from isogloss.training.distributed import Team
from isogloss.training.distributed_torch import SharedSteps
from isogloss.training.examples import Pairs
from isogloss.training.learner import PairLearner, State
from isogloss.training.torch_steps import RecordedStep, in_chunks

# A loss as tensors, kept where the scores are: making them anew at each step would have a GPU wait.


class TensorLoss:
    """The two closed forms of ``isogloss.nn.losses``, for torch to differentiate."""

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


_Lengths = tuple[int, int]


class _Side:
    """One side of the pairs, on the device; the length of each pair's text is known here as well."""

    def __init__(self, texts: TextIds, text_of: Ids, device: torch.device) -> None:
        self.ids, self.offsets = as_tensor(texts.ids, device), as_tensor(texts.offsets, device)
        self.text_of = as_tensor(text_of, device)
        self.lengths = texts.lengths[text_of]

    def longest(self, pairs: NDArray[np.int64] | slice) -> int:
        return max(1, int(self.lengths[pairs].max(initial=0)))

    def batch(self, pairs: Tensor, length: int) -> tuple[Tensor, Tensor]:
        return pad_texts(self.ids, self.offsets, self.text_of[pairs].long(), length)


class TorchPairs(PairLearner):
    """Two encoders and the pairs they learn from.

    ``clip`` <= 0 clips nothing; ``seed`` draws what dropout drops; ``recorded`` is about GPUs only.
    """

    def __init__(
        self,
        query_encoder: TextEncoder,
        document_encoder: TextEncoder,
        pairs: Pairs,
        loss: Loss | CompiledLoss,
        eps: float,
        clip: float,
        seed: int = 0,
        device: str = "cpu",
        recorded: bool = True,
    ) -> None:
        self._device = _usable(device)
        self._recorded = recorded and self._device.type == "cuda"
        self.encoders = query_encoder.to(self._device), document_encoder.to(self._device)
        self._loss, self._eps, self._clip = TensorLoss(loss, self._device), eps, clip if clip > 0 else torch.inf
        self._named: dict[str, torch.nn.Parameter] = self._names()
        self._learned = {name: parameter for name, parameter in self._named.items() if parameter.requires_grad}
        if not self._learned:
            raise InputError("the average with fixed word vectors has nothing to learn; train the vectors too")
        self._first = {f"first.{name}": torch.zeros_like(each) for name, each in self._learned.items()}
        self._second = {f"second.{name}": torch.zeros_like(each) for name, each in self._learned.items()}
        self._steps = [torch.zeros((), device=self._device) for _ in self._learned]
        self._rate, self._stopped = torch.zeros((), device=self._device), torch.zeros((), device=self._device)
        self._generator = torch.Generator(self._device).manual_seed(seed)
        for encoder in self.encoders:
            for module in encoder.modules():
                if isinstance(module, Dropout):
                    module.generator = self._generator
        self._shared: SharedSteps | None = None
        self.use(pairs)

    def _names(self) -> dict[str, torch.nn.Parameter]:
        return named_parameters(*self.encoders)

    def join(self, team: Team) -> None:
        self._shared = SharedSteps(team, (module for encoder in self.encoders for module in encoder.modules()))
        self._recorded = False

    def use(self, pairs: Pairs) -> None:
        if len(pairs) and int(pairs.grades.max()) >= self._loss.grades:
            raise InputError(
                f"a pair has grade {int(pairs.grades.max())}, but the loss knows grades 0 to {self._loss.grades - 1}; "
                f"give it one threshold fewer than there are grades"
            )
        self.pairs = pairs
        self._queries = _Side(pairs.queries, pairs.query_of, self._device)
        self._documents = _Side(pairs.documents, pairs.document_of, self._device)
        self._grades = as_tensor(pairs.grades, self._device)
        self._recordings: dict[int, RecordedStep] = {}

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        for encoder in self.encoders:
            encoder.train()
        self._rate.fill_(rate)
        return in_chunks(order, batch_size, partial(self._advance, batch_size))

    def _advance(self, batch_size: int, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """A stretch of batches; what follows a loss that is not finite is of no account and changes nothing."""
        recorded = self._recording(batch_size) if self._recorded and len(order) >= batch_size else None
        numbers, losses = as_tensor(order, self._device), []
        self._stopped.zero_()
        for first in range(0, len(order), batch_size):
            batch = slice(first, first + batch_size)
            if recorded and batch.stop <= len(order):
                losses.append(recorded(numbers[batch]))
            else:
                lengths = self._queries.longest(order[batch]), self._documents.longest(order[batch])
                losses.append(self._step(numbers[batch][self._share(order[batch])], lengths))
        return torch.stack(losses).double().cpu().numpy()

    def _share(self, batch: NDArray[np.int64]) -> slice:
        """Which pairs of a batch are this process's."""
        if self._shared is None:
            return slice(None)
        pairs, (query, document) = self.pairs, self.encoders
        touched = {
            query.table: pairs.queries.words_of(pairs.query_of[batch]),
            document.table: pairs.documents.words_of(pairs.document_of[batch]),
        }
        return self._shared.begin(len(batch), touched)

    def _recording(self, batch_size: int) -> RecordedStep:
        """The step of a batch, padded to the longest text of all, with nothing changed by its recording."""
        if batch_size not in self._recordings:
            lengths = self._queries.longest(slice(None)), self._documents.longest(slice(None))
            before = self._generator.get_state()
            self._stopped.fill_(1)
            self._recordings[batch_size] = RecordedStep(
                partial(self._step, lengths=lengths), batch_size, self._generator
            )
            self._generator.set_state(before)
        return self._recordings[batch_size]

    def _step(self, pairs: Tensor, lengths: _Lengths) -> Tensor:
        """Take one step, unless ``_stopped`` is 1 or becomes so here; the loss before it."""
        loss, learned = self._mean_loss(pairs, lengths), list(self._learned.values())
        if self._shared:
            loss = loss * self._shared.weight
        torch.autograd.backward(loss)
        if self._shared:
            loss = self._shared.add_up(learned, loss)
        norm = clip_grad_norm_(learned, self._clip)
        loss = torch.where(norm.isfinite(), loss.detach(), norm)
        self._stopped.copy_(torch.maximum(self._stopped, (~loss.isfinite()).float()))
        adam(
            cast("list[Tensor]", learned),
            cast("list[Tensor]", [parameter.grad for parameter in learned]),
            list(self._first.values()),
            list(self._second.values()),
            [],
            self._steps,
            fused=True,
            found_inf=self._stopped,
            amsgrad=False,
            beta1=BETA1,
            beta2=BETA2,
            lr=self._rate,
            weight_decay=0.0,
            eps=ADAM_EPSILON,
            maximize=False,
        )
        for parameter in learned:
            parameter.grad = None
        return loss

    def _mean_loss(self, pairs: Tensor, lengths: _Lengths) -> Tensor:
        """``lengths``: how far to pad queries and documents."""
        queries = self.encoders[0].encode(*self._queries.batch(pairs, lengths[0]))
        documents = self.encoders[1].encode(*self._documents.batch(pairs, lengths[1]))
        return self._loss.values(smooth_cosine(queries, documents, self._eps), self._grades[pairs].long()).mean()

    def parameters(self) -> State:
        return _arrays(self._named)

    def state(self) -> State:
        step = np.asarray(int(self._steps[0]))
        random = self._generator.get_state().numpy().copy()
        return self.parameters() | _arrays(self._first) | _arrays(self._second) | {"step": step, "random": random}

    def restore(self, state: State) -> None:
        random = torch.from_numpy(np.array(state["random"]))
        if len(random) != len(self._generator.get_state()):
            raise InputError(
                f"this training began on another kind of device than {self._device.type}, which draws other random "
                f"numbers; go on with it there"
            )
        fill(self._named | self._first | self._second, state)
        for step in self._steps:
            step.fill_(int(state["step"]))
        self._generator.set_state(random)


def _usable(device: str) -> torch.device:
    if device != "cpu" and not device.startswith("cuda"):
        raise InputError(f"unknown device '{device}'; use 'cpu' or 'cuda'")
    if device != "cpu" and not torch.cuda.is_available():
        raise InputError(f"device '{device}': torch sees no GPU here; use 'cpu'")
    return torch.device(device)


def _arrays(tensors: dict[str, Tensor] | dict[str, torch.nn.Parameter]) -> State:
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}

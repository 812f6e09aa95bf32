"""Adversaries, which make the encoder's features alike for both languages: critics on layers, and that of CLANN.

The layer-wise adversary has a critic on each layer, which the encoder fights or helps (eq. 8 and 10 of the paper):

    L = L_rank + beta sum_j alpha_j W_j,      W_j = max over D_j of  E[D_j(f^j of queries)] - E[D_j(f^j of documents)]

The encoder descends L: alpha_j > 0 makes layer j alike for both languages (it fights the critic), alpha_j < 0 makes it
differ (it helps), alpha_j = 0 only measures. That is the paper's text; its eq. 7 and 8 have the opposite sign. Before
each step of the encoder the critics take ``steps`` of their own, on the same texts. A critic (Arjovsky et al. 2017)
estimates the distance of two sets of vectors,

    W(P, Q) = max over 1-Lipschitz D of  E_P[D(x)] - E_Q[D(y)]          (eq. 5)

and is kept near 1-Lipschitz by a penalty on its gradient (Gulrajani et al. 2017), or Lipschitz for some constant by
clipping its weights.

The adversary of CLANN (Joty et al. 2017) is a classifier of languages whose gradient is reversed in the encoder:

    L = L_rank + L_language,  the encoder's share of the second with the sign changed and times lambda

lambda grows with the share p of the epochs that are over, strength (2 / (1 + e^(-10 p)) - 1) (Ganin and Lempitsky
2015), so that the encoder learns to rank first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.papers.layerwise.matchers.clann import Clann
from isogloss.papers.layerwise.matchers.scorer import Compared, Features
from isogloss.papers.layerwise.torch_triples import ExtraTerm
from isogloss.papers.learner import State
from isogloss.papers.torch_encoder import fill
from isogloss.papers.torch_steps import NamedAdam, arrays
from isogloss.papers.training_loop import TrainingStopped
from isogloss.storage.errors import InputError

_BETAS = (0.5, 0.9)  # the features that critics follow move: a long memory would mislead (Gulrajani et al. 2017)
_LEAK = 0.2
_FLAT = 1e-6
_EXPLODED = 10.0
_STEEPNESS = 10.0


class Critic(nn.Module):
    """D(x) = w . leaky(W x + b): input -> 64 -> 1. A constant more would change no difference."""

    def __init__(self, inputs: int, hidden: int = 64) -> None:
        super().__init__()
        self.hidden, self.output = nn.Linear(inputs, hidden), nn.Linear(hidden, 1, bias=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """One number a row."""
        values: Tensor = self.output(nn.functional.leaky_relu(self.hidden(vectors), _LEAK))
        return values[:, 0]

    def gradients(self, vectors: Tensor) -> Tensor:
        """dD/dx of each row:  sum_h w_h leaky'(W_h x + b_h) W_h.

        Written out, so that its own derivative by the weights needs no second pass backwards.
        """
        rising = (self.hidden(vectors).detach() > 0).to(vectors.dtype)
        gradients: Tensor = ((rising + _LEAK * (1 - rising)) * self.output.weight) @ self.hidden.weight
        return gradients

    def difference(self, left: Tensor, right: Tensor) -> Tensor:
        """E[D(left)] - E[D(right)], what the critic makes as large as it can."""
        difference: Tensor = self(left).mean() - self(right).mean()
        return difference

    def distance(self, left: Tensor, right: Tensor) -> Tensor:
        """The critic's estimate of W, which is never below 0 (D = 0 is a critic too).

        A negative estimate is of a critic that lags behind; its gradient would lead the wrong way, so it is cut off.
        """
        return self.difference(left, right).clamp(min=0)

    def clip(self, bound: float) -> None:
        """Bring every weight into [-bound, bound]."""
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.clamp_(-bound, bound)


def between(left: Tensor, right: Tensor, generator: torch.Generator | None) -> Tensor:
    """A random point on the way from each row of ``left`` to some row of ``right``, which has as many or more.

    The rows of ``right`` are taken one further on, so that a query does not meet its own positive.
    """
    share = torch.empty_like(left[:, :1]).uniform_(generator=generator)
    return left + share * (right.roll(1, dims=0)[: len(left)] - left)


def gradient_penalty(gradients: Tensor) -> Tensor:
    """E[(|dD/dx| - 1)^2]."""
    lengths: Tensor = torch.linalg.vector_norm(gradients, dim=1)
    return (lengths - 1).square().mean()


@dataclass(frozen=True, slots=True)
class CriticSettings:
    """How critics are trained: by a gradient penalty, or where ``clip`` is above 0 by clipping their weights."""

    hidden: int = 64
    steps: int = 5
    rate: float = 0.001
    penalty: float = 10.0
    clip: float = 0.0


class LayerwiseAdversary(ExtraTerm):
    """Critics on layers whose vectors have these sizes; ``alphas`` has a number for each layer."""

    def __init__(
        self, sizes: Sequence[int], alphas: Sequence[float], beta: float, settings: CriticSettings, seed: int = 0
    ) -> None:
        if settings.steps < 1 or len(alphas) != len(sizes):
            raise InputError(f"critics: {len(sizes)} layers need as many alphas and at least one critic step")
        self._settings, self._sizes = settings, sizes
        self._weights = [beta * alpha for alpha in alphas]
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            self.critics = [Critic(size, settings.hidden) for size in sizes]

    def use(self, device: torch.device, generator: torch.Generator) -> None:
        self._named = dict(nn.ModuleList(self.critics).to(device).named_parameters())
        self._clip()
        self._generator = generator
        self._adam = NamedAdam(self._named, betas=_BETAS)
        self._rate = torch.tensor(self._settings.rate, device=device)
        layers = len(self._sizes)
        self._sums = {name: torch.zeros(layers, device=device) for name in ("distance", "gradient")}
        self._taken, self._worst = torch.zeros((), device=device), torch.zeros(layers, device=device)
        self._epoch = -1

    def prepare(self, compared: Compared, stopped: Tensor) -> None:
        features = tuple((query.detach(), document.detach()) for query, document in compared.features)
        for _ in range(self._settings.steps):
            losses: list[Tensor] = []
            gradients: list[Tensor] = []
            for critic, (query, document) in zip(self.critics, features, strict=True):
                gradients.append(critic.gradients(between(query, document, self._generator)))
                penalty = 0 if self._settings.clip > 0 else self._settings.penalty * gradient_penalty(gradients[-1])
                losses.append(penalty - critic.difference(query, document))
            self._adam.step(torch.stack(losses).sum(), self._rate, stopped)
            self._clip()
        self._gather(features, gradients, stopped)

    def value(self, compared: Compared) -> Tensor:
        total = compared.positive.new_zeros(())
        for weight, critic, pair in zip(self._weights, self.critics, compared.features, strict=True):
            if weight:
                total = total + weight * critic.distance(*pair)
        return total

    def _clip(self) -> None:
        if self._settings.clip > 0:
            for critic in self.critics:
                critic.clip(self._settings.clip)

    def _gather(self, features: Features, gradients: Sequence[Tensor], stopped: Tensor) -> None:
        """Add up what ``report`` returns, and remember the worst for ``check``."""
        with torch.no_grad():
            found = torch.stack([each.difference(*pair) for each, pair in zip(self.critics, features, strict=True)])
            slopes = torch.stack([each.norm(dim=1).mean() for each in gradients])
            usable = torch.stack([(query.isfinite().all() & document.isfinite().all()) for query, document in features])
            size = torch.where(usable, found.abs().nan_to_num(nan=torch.inf), 0)
            self._worst.copy_(torch.maximum(self._worst, size))
            self._taken += (stopped == 0).float()
            self._sums["distance"] += torch.where(stopped == 0, found.clamp(min=0), 0)
            self._sums["gradient"] += torch.where(stopped == 0, slopes, 0)

    def begin_epoch(self, epoch: int) -> None:
        if epoch != self._epoch:
            self._epoch = epoch
            for each in (*self._sums.values(), self._taken):
                each.zero_()

    def check(self) -> None:
        """A 1-Lipschitz critic estimates at most the distance of two vectors; with tanh that is at most 2 sqrt(d)."""
        worst = self._worst.cpu().tolist()
        self._worst.zero_()
        for layer, (found, size) in enumerate(zip(worst, self._sizes, strict=True), 1):
            widest = 2 * math.sqrt(size)
            if not math.isfinite(found) or (self._settings.clip <= 0 and found > _EXPLODED * widest):
                what = f"the critic of layer {layer} diverged: its estimate is {found:.3g}, the most is {widest:.3g}"
                advice = "lower critic_rate, raise critic_penalty, or use critic=clipping"
                raise TrainingStopped(f"training: {what}; {advice}")

    def report(self) -> dict[str, float]:
        """``W_j``: the distance on layer j, a mean over the epoch; ``slope_j``: the length of its critic's gradient.

        Nothing before the first step.
        """
        if not self._taken:
            return {}
        taken = self._taken.clamp(min=1)
        distances, slopes = ((self._sums[name] / taken).cpu().tolist() for name in ("distance", "gradient"))
        return {f"W_{j}": value for j, value in enumerate(distances, 1)} | {
            f"slope_{j}": value for j, value in enumerate(slopes, 1)
        }

    def state(self) -> State:
        return arrays(self._tensors()) | {"step": np.asarray(self._adam.steps), "epoch": np.asarray(self._epoch)}

    def restore(self, state: State) -> None:
        fill(self._tensors(), state)
        self._adam.steps, self._epoch = int(state["step"]), int(state["epoch"])

    def _tensors(self) -> dict[str, Tensor]:
        return {**self._named, **self._adam.moments(), **self._sums, "taken": self._taken}


def doubts(entry: Mapping[str, Any]) -> list[str]:
    """Warnings about an epoch by its entry in the history, each with advice."""
    found = [
        f"the critic of layer {name.removeprefix('slope_')} is flat (its gradients are zero) and teaches nothing; "
        f"raise critic_clip or critic_rate, or use critic=penalty"
        for name, value in entry.items()
        if name.startswith("slope_") and abs(value) < _FLAT
    ]
    if entry.get("idle", 0) == 1:
        found.append("all gradients are zero, so nothing is learned; lower rate or dropout, or raise margin")
    return found


class LanguageAdversary(ExtraTerm):
    """The classifier's loss; its parameters are the scorer's, and so are its steps."""

    def __init__(self, scorer: Clann, strength: float, epochs: int) -> None:
        self._scorer, self._strength, self._epochs = scorer, strength, epochs

    def use(self, device: torch.device, generator: torch.Generator) -> None:
        self._lambda = torch.zeros((), device=device)
        self._sums = torch.zeros(2, device=device)
        self._epoch = -1

    def prepare(self, compared: Compared, stopped: Tensor) -> None:
        """It has no steps of its own."""
        self._going = 1 - stopped

    def value(self, compared: Compared) -> Tensor:
        ((queries, documents),) = compared.features
        loss = self._scorer.language_loss(queries, documents, self._lambda)
        found = loss.detach()
        self._sums += self._going * torch.stack([found, torch.ones_like(found)])
        return loss

    def begin_epoch(self, epoch: int) -> None:
        over = epoch / max(1, self._epochs)
        self._lambda.fill_(self._strength * (2 / (1 + math.exp(-_STEEPNESS * over)) - 1))
        if epoch != self._epoch:
            self._epoch = epoch
            self._sums.zero_()

    def report(self) -> dict[str, float]:
        """``language_loss``: log 2 = .693 where the classifier knows nothing."""
        total, batches = self._sums.tolist()
        return {"language_loss": total / max(1.0, batches), "lambda": float(self._lambda)}

    def state(self) -> State:
        return {"sums": self._sums.cpu().numpy().copy(), "epoch": torch.tensor(self._epoch).numpy()}

    def restore(self, state: State) -> None:
        self._sums.copy_(torch.from_numpy(state["sums"].copy()))
        self._epoch = int(state["epoch"])

r"""The adversary of CLANN (Joty et al. 2017): a classifier of languages whose gradient is turned round in the encoder.

    L = L_rank + L_language,  the encoder's share of the second with the sign changed and times lambda

lambda grows with the share p of the epochs that are over, strength (2 / (1 + e^(-10 p)) - 1) (Ganin and Lempitsky
2015), so that the encoder learns to rank first.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from isogloss.models.matchers.clann import Clann
from isogloss.models.matchers.scorer import Compared
from isogloss.training.distributed_gradients import SharedSteps
from isogloss.training.extra_term import ExtraTerm
from isogloss.training.learner import State

_STEEPNESS = 10.0


class LanguageAdversary(ExtraTerm):
    """The classifier's loss; its parameters are the scorer's, and so are its steps."""

    def __init__(self, scorer: Clann, strength: float, epochs: int) -> None:
        self._scorer, self._strength, self._epochs = scorer, strength, epochs

    def use(self, device: torch.device, generator: torch.Generator) -> None:
        self._lambda = torch.zeros((), device=device)
        self._sums = torch.zeros(2, device=device)
        self._epoch = -1
        self._shared: SharedSteps | None = None

    def join(self, shared: SharedSteps) -> None:
        self._shared = shared

    def prepare(self, compared: Compared, stopped: Tensor) -> None:
        """It has no steps of its own."""
        self._going = 1 - stopped

    def value(self, compared: Compared) -> Tensor:
        ((queries, documents),) = compared.features
        loss = self._scorer.language_loss(queries, documents, self._lambda)
        said = self._shared.sum(loss) if self._shared else loss.detach()
        self._sums += self._going * torch.stack([said, torch.ones_like(said)])
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

"""A term beside the ranking loss, with parameters and steps of its own: an adversary."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from isogloss.models.matchers.scorer import Compared
from isogloss.training.distributed_gradients import SharedSteps
from isogloss.training.learner import State


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

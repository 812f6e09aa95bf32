"""The interface of learners: steps over batches, and a state that can be saved and restored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.examples import Pairs

State = dict[str, NDArray[Any]]


class Learner(ABC):
    """Holds parameters and the examples they are trained on; takes steps of an optimiser.

    The loop decides on order, batches, rates and when to stop. A learner that is restored from a state continues
    exactly as if it had never stopped.
    """

    @property
    @abstractmethod
    def examples(self) -> int:
        """How many examples (pairs, triples) an epoch has."""

    def begin_epoch(self, epoch: int) -> None:  # noqa: B027 - most have nothing to prepare
        """Prepare epoch ``epoch`` (from 0): draw new negatives, for example. Depends on the epoch and the seed only."""

    @abstractmethod
    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        """Step through the examples ``order`` names, a batch after the other (the last may be smaller).

        Gives the mean loss of each batch, measured before its step. A learner stops before the first step whose loss
        or gradient is not finite and leaves its parameters as they were before that step: the array then ends with
        what is not finite.
        """

    @abstractmethod
    def parameters(self) -> State:
        """The trained parameters by name: what a model directory holds."""

    @abstractmethod
    def state(self) -> State:
        """Everything that a checkpoint needs: parameters, moments, step count, random numbers."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Continue from a state."""


class PairLearner(Learner):
    """Trains on graded ``pairs``; ``renew`` returns those of an epoch where they change."""

    pairs: Pairs
    renew: Callable[[int], Pairs] | None = None

    @property
    def examples(self) -> int:
        return len(self.pairs)

    def begin_epoch(self, epoch: int) -> None:
        if self.renew:
            self.use(self.renew(epoch))

    @abstractmethod
    def use(self, pairs: Pairs) -> None:
        """Train on other pairs of the same vocabularies from now on."""

"""A learner of graded pairs, which may be drawn anew before each epoch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from isogloss.training.learner import Learner
from isogloss.training.pairs import Pairs


class PairLearner(Learner):
    """Learns from ``pairs``; ``renew`` gives those of an epoch where they change."""

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
        """Learn from other pairs of the same vocabularies from now on."""

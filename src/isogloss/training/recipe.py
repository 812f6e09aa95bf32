"""How long, how fast and in what order something is learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Recipe:
    """Epochs over all examples in batches, in a new order each; the rate falls by ``decay`` an epoch.

    With ``patience`` training stops after so many epochs without a better dev measure, and the best epoch is kept;
    without, it runs to its end and the last epoch is kept.
    """

    epochs: int = 30
    batch: int = 128
    rate: float = 0.01
    decay: float = 1.0
    shuffle: bool = True
    patience: int = 0
    measure: str = "NDCG@5"
    seed: int = 0

    def order(self, epoch: int, examples: int) -> NDArray[np.int64]:
        """The order of an epoch (from 0); depends on nothing but the seed and the epoch, so that it can be resumed."""
        if not self.shuffle:
            return np.arange(examples)
        return np.random.default_rng([self.seed, epoch]).permutation(examples)

    def rate_of(self, epoch: int) -> float:
        """The rate of an epoch (from 0)."""
        return self.rate * self.decay**epoch

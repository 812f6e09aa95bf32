"""Losses that are free inside a band of scores and grow with the square of the distance to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isogloss.models.losses.loss import BAND, CompiledLoss, Loss
from isogloss.models.namespace import Array, constants, floats


class BandLoss(Loss):
    """L(r, g) = max(r - upper_g, 0)^2 + max(lower_g - r, 0)^2.

    Its slope 2 max(r - upper_g, 0) - 2 max(lower_g - r, 0) is continuous: zero at both ends of the band. A band
    without an end on one side has an infinite one.
    """

    def __init__(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        self.lower = lower
        self.upper = upper
        self.grades = len(lower)

    def values(self, scores: Array, grades: Array) -> Any:
        above, below = self._outside(scores, grades)
        return above**2 + below**2

    def slopes(self, scores: ArrayLike, grades: ArrayLike) -> Any:
        above, below = self._outside(scores, grades)
        return 2 * (above - below)

    def _outside(self, scores: Array, grades: Array) -> tuple[Any, Any]:
        """How far each score lies above its band, and how far below it."""
        scores = floats(scores)
        above = (scores - constants(self.upper, scores)[grades]).clip(min=0)
        below = (constants(self.lower, scores)[grades] - scores).clip(min=0)
        return above, below

    def compiled(self) -> CompiledLoss:
        return CompiledLoss(BAND, self.lower.astype(np.float32), self.upper.astype(np.float32), 1.0)

"""Squared distance to the middle of the class's own segment."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.models.losses.band import BandLoss
from isogloss.models.losses.thresholds import check_thresholds, segments


class MeanSquaredError(BandLoss):
    """MSE(r, y) = (r - (theta_{y-1} + theta_y) / 2)^2.

    The paper names the loss and not its targets; the middles of SOSL's segments (theta_0 = -1, theta_K = 1) are
    ours. As a band it has both ends in the same place.

    >>> MeanSquaredError((0.0, 0.5)).values([0.25, 0.25, 0.25], [0, 1, 2])
    array([0.5625, 0.    , 0.25  ])
    """

    name = "mse"

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.7)) -> None:
        lower, upper = segments(check_thresholds(self.name, thresholds), end=1.0)
        middle = (lower + upper) / 2
        super().__init__(middle, middle)

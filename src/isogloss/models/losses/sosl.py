"""Smooth Ordinal Search Loss (Liu et al., Cross-Lingual Document Retrieval with Smooth Learning, eq. 2)."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.models.losses.band import BandLoss
from isogloss.models.losses.thresholds import check_thresholds, segments


class SmoothOrdinalSearchLoss(BandLoss):
    """SOSL(r, y) = (theta_y - r)^2 [r > theta_y] + (r - theta_{y-1})^2 [r < theta_{y-1}].

    Thresholds -1 = theta_0 < theta_1 < ... < theta_K = 1 cut the scores into one segment a class, for any K >= 2; a
    score in its own class's segment is free.

    >>> loss = SmoothOrdinalSearchLoss((0.2, 0.7))
    >>> loss.values([0.5, 0.5, 0.5], [0, 1, 2]).round(2)
    array([0.09, 0.  , 0.04])
    """

    name = "sosl"

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.7)) -> None:
        super().__init__(*segments(check_thresholds(self.name, thresholds), end=1.0))

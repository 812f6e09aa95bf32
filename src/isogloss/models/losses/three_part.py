"""The three-part squared hinge of Nigam et al., Semantic Product Search (2019)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isogloss.base.errors import InputError
from isogloss.models.losses.band import BandLoss
from isogloss.models.losses.thresholds import check_thresholds


class ThreePartSquaredHinge(BandLoss):
    """3Part_L2(r, y), for thresholds a < b < c, pays on one side only.

    - y = 1 (irrelevant):         max(r - a, 0)^2
    - y = 2 (partially relevant): max(r - b, 0)^2
    - y = 3 (relevant):           max(c - r, 0)^2

    So a partially relevant document may score as low as an irrelevant one for nothing: what SOSL changes.

    >>> ThreePartSquaredHinge().values([0.8, 0.8, 0.8], [0, 1, 2]).round(4)
    array([0.36  , 0.0625, 0.01  ])
    """

    name = "3part"

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.55, 0.9)) -> None:
        if len(thresholds) != 3:
            raise InputError(f"loss '3part': takes three thresholds such as 0.2,0.55,0.9, not {len(thresholds)}")
        irrelevant, partial, relevant = check_thresholds(self.name, thresholds)
        super().__init__(
            lower=np.array([-np.inf, -np.inf, relevant]),
            upper=np.array([irrelevant, partial, np.inf]),
        )

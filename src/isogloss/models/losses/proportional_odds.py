"""The proportional-odds likelihood with a sigmoid (McCullagh 1980), PO_S in the smooth paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isogloss.base.errors import InputError
from isogloss.models.losses.loss import ODDS, CompiledLoss, Loss
from isogloss.models.losses.thresholds import check_thresholds, segments
from isogloss.models.namespace import Array, constants, floats, namespace


class ProportionalOdds(Loss):
    """PO_S(r, y) = -log(s(k (theta_y - r)) - s(k (theta_{y-1} - r))), s the sigmoid, theta_0 = -inf, theta_K = +inf.

    The difference of two sigmoids near 0 or 1 cancels; the same loss without a difference of near numbers is, with
    a = k (theta_y - r), b = k (theta_{y-1} - r) and softplus(x) = log(1 + e^x),

        softplus(-a) + softplus(b) - log(1 - e^{-(a - b)}),

    where the last term does not depend on r, and its slope is k (s(-a) - s(b)).

    Scores lie in [-1, 1], where the sigmoid of slope k = 1 (the paper's letter) is nearly straight, so that every
    score gives every class about the same likelihood; k = 10 is its spirit.

    >>> loss = ProportionalOdds((0.2, 0.7), slope=10.0)
    >>> bool(np.isclose(np.exp(-loss.values([0.5, 0.5, 0.5], [0, 1, 2])).sum(), 1.0))
    True
    """

    name = "po"

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.7), slope: float = 1.0) -> None:
        if not 0 < slope < np.inf:
            raise InputError(f"loss 'po': slope {slope:g} is not a positive number; 1 is the paper's, 10 learns better")
        self.slope = float(slope)
        self.lower, self.upper = segments(check_thresholds(self.name, thresholds), end=np.inf)
        self.grades = len(self.lower)
        self._width_terms = -np.log(-np.expm1(-self.slope * (self.upper - self.lower)))

    def values(self, scores: Array, grades: Array) -> Any:
        to_upper, to_lower = self._distances(scores, grades)
        return _softplus(-to_upper) + _softplus(to_lower) + constants(self._width_terms, to_upper)[grades]

    def slopes(self, scores: ArrayLike, grades: ArrayLike) -> Any:
        to_upper, to_lower = self._distances(scores, grades)
        return self.slope * (_sigmoid(-to_upper) - _sigmoid(to_lower))

    def _distances(self, scores: Array, grades: Array) -> tuple[Any, Any]:
        """The a and b of each score."""
        scores = floats(scores)
        to_upper = self.slope * (constants(self.upper, scores)[grades] - scores)
        to_lower = self.slope * (constants(self.lower, scores)[grades] - scores)
        return to_upper, to_lower

    def compiled(self) -> CompiledLoss:
        return CompiledLoss(ODDS, self.lower.astype(np.float32), self.upper.astype(np.float32), self.slope)


def _softplus(x: Array) -> Any:
    module = namespace(x)
    return module.logaddexp(module.zeros_like(x), x)


def _sigmoid(x: Array) -> Any:
    return namespace(x).exp(-_softplus(-x))

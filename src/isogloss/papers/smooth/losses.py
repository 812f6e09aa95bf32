"""Losses of graded pairs: values and slopes for arrays, and two closed forms that compiled learners inline.

Thresholds cut the scores [-1, 1] into one segment a grade. :func:`make_loss` makes a loss by the name that options use.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isogloss.papers.similarity import Array, constants, floats, namespace
from isogloss.storage.errors import InputError

BAND = 0
"""``L = max(r - upper[g], 0)^2 + max(lower[g] - r, 0)^2``"""

ODDS = 1
"""``L = softplus(-k (upper[g] - r)) + softplus(k (lower[g] - r)) - log(1 - exp(-k (upper[g] - lower[g])))``"""


class CompiledLoss(NamedTuple):
    """A loss as numbers: what a compiled learner needs to compute it without calling back into Python.

    ``kind`` is ``BAND`` or ``ODDS``, ``lower`` and ``upper`` are the ends of each grade's segment (infinite where it
    has none), ``slope`` is the k of ``ODDS`` (1 for ``BAND``).
    """

    kind: int
    lower: NDArray[np.float32]
    upper: NDArray[np.float32]
    slope: float


class Loss(ABC):
    """The price of giving score r to a pair of grade g, whose segment ends at ``lower[g]`` and ``upper[g]``.

    Grades are gains 0 .. K - 1; the papers' ordered classes are y = g + 1.
    """

    name: ClassVar[str]
    kind: ClassVar[int]
    slope = 1.0

    def __init__(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        self.lower, self.upper, self.grades = lower, upper, len(lower)

    @abstractmethod
    def values(self, scores: Array, grades: Array) -> Any:
        """The loss of each score; of torch tensors as well, and torch can differentiate it."""

    @abstractmethod
    def slopes(self, scores: ArrayLike, grades: ArrayLike) -> Any:
        """The derivative of the loss with respect to each score."""

    def compiled(self) -> CompiledLoss:
        """The loss as numbers."""
        return CompiledLoss(self.kind, self.lower.astype(np.float32), self.upper.astype(np.float32), self.slope)


def check_thresholds(loss: str, thresholds: Sequence[float]) -> NDArray[np.float64]:
    """Thresholds as an array, or an error unless there is one and they rise strictly inside (-1, 1)."""
    ends = np.asarray([-1.0, *thresholds, 1.0], dtype=np.float64)
    if len(ends) == 2:
        raise InputError(f"loss '{loss}': there is no threshold; give one fewer than there are grades, such as 0.2,0.7")
    if not (np.diff(ends) > 0).all():  # also false where one is not a number
        shown = ",".join(f"{threshold:g}" for threshold in thresholds)
        raise InputError(
            f"loss '{loss}': thresholds {shown} do not rise strictly between -1 and 1; give them as in 0.2,0.7"
        )
    return ends[1:-1]


def segments(thresholds: NDArray[np.float64], end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end of each grade's segment, the outermost ends being -end and +end.

    >>> segments(np.array([0.2, 0.7]), end=1.0)
    (array([-1. ,  0.2,  0.7]), array([0.2, 0.7, 1. ]))
    """
    return np.append(-end, thresholds), np.append(thresholds, end)


class BandLoss(Loss):
    """L(r, g) = max(r - upper_g, 0)^2 + max(lower_g - r, 0)^2: free inside a band of scores.

    Its slope 2 max(r - upper_g, 0) - 2 max(lower_g - r, 0) is continuous: zero at both ends of the band. A band
    without an end on one side has an infinite one.
    """

    kind = BAND

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


class SmoothOrdinalSearchLoss(BandLoss):
    """SOSL(r, y) = (theta_y - r)^2 [r > theta_y] + (r - theta_{y-1})^2 [r < theta_{y-1}] (Liu et al., eq. 2).

    Thresholds -1 = theta_0 < theta_1 < ... < theta_K = 1 cut the scores into one segment a class, for any K >= 2; a
    score in its own class's segment is free.

    >>> loss = SmoothOrdinalSearchLoss((0.2, 0.7))
    >>> loss.values([0.5, 0.5, 0.5], [0, 1, 2]).round(2)
    array([0.09, 0.  , 0.04])
    """

    name = "sosl"

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.7)) -> None:
        super().__init__(*segments(check_thresholds(self.name, thresholds), end=1.0))


class MeanSquaredError(BandLoss):
    """MSE(r, y) = (r - (theta_{y-1} + theta_y) / 2)^2.

    The paper names the loss and not its targets; the middles of SOSL's segments (theta_0 = -1, theta_K = 1) are those
    of its released code. As a band it has both ends at the same score.

    >>> MeanSquaredError((0.0, 0.5)).values([0.25, 0.25, 0.25], [0, 1, 2])
    array([0.5625, 0.    , 0.25  ])
    """

    name = "mse"

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.7)) -> None:
        lower, upper = segments(check_thresholds(self.name, thresholds), end=1.0)
        middle = (lower + upper) / 2
        super().__init__(middle, middle)


class ThreePartSquaredHinge(BandLoss):
    """3Part_L2(r, y) of Nigam et al. (Semantic Product Search, 2019), for thresholds a < b < c: one side only.

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
        super().__init__(np.array([-np.inf, -np.inf, relevant]), np.array([irrelevant, partial, np.inf]))


class ProportionalOdds(Loss):
    """PO_S(r, y) = -log(s(k (theta_y - r)) - s(k (theta_{y-1} - r))), s the sigmoid, theta_0 = -1, theta_K = 1, k = 1.

    The proportional-odds likelihood (McCullagh 1980) with the paper's thresholds. The difference of two sigmoids near 0
    or 1 cancels; the same loss without it is, with a = k (theta_y - r), b = k (theta_{y-1} - r) and
    softplus(x) = log(1 + e^x),

        softplus(-a) + softplus(b) - log(1 - e^{-(a - b)}),

    where the last term does not depend on r. The paper's code has the first two, -log s(a) - log(1 - s(b)), so both
    train alike. The slope is k (s(-a) - s(b)).

    At k = 1 the loss is nearly a parabola around the middle of the class's segment: the paper's rows of PO_S and MSE
    are alike.

    >>> loss = ProportionalOdds((0.2, 0.7))
    >>> [float(loss.slopes(middle, grade).round(6)) + 0.0 for grade, middle in enumerate((-0.4, 0.45, 0.85))]
    [0.0, 0.0, 0.0]
    """

    name = "po"
    kind = ODDS
    end: ClassVar[float] = 1.0
    """theta_K; theta_0 is its negative."""

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.7), slope: float = 1.0) -> None:
        if not 0 < slope < np.inf:
            raise InputError(f"loss '{self.name}': slope {slope:g} is not a positive number; po has 1, po-open 10")
        super().__init__(*segments(check_thresholds(self.name, thresholds), end=self.end))
        self.slope = float(slope)
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


class OpenProportionalOdds(ProportionalOdds):
    """PO_S with theta_0 = -inf, theta_K = +inf and k = 10: ours, not the paper's.

    The likelihoods of all classes then sum to one, and no score is too high for the best class. Scores lie in [-1, 1],
    where a sigmoid of slope 1 is nearly straight: without ends it gives every score about the same likelihoods, so a
    steeper one is needed.

    >>> loss = OpenProportionalOdds((0.2, 0.7))
    >>> bool(np.isclose(np.exp(-loss.values([0.5, 0.5, 0.5], [0, 1, 2])).sum(), 1.0))
    True
    """

    name = "po-open"
    end = np.inf

    def __init__(self, thresholds: Sequence[float] = (0.2, 0.7), slope: float = 10.0) -> None:
        super().__init__(thresholds, slope)


def _softplus(x: Array) -> Any:
    module = namespace(x)
    return module.logaddexp(module.zeros_like(x), x)


def _sigmoid(x: Array) -> Any:
    return namespace(x).exp(-_softplus(-x))


_NAMED = (SmoothOrdinalSearchLoss, ThreePartSquaredHinge, MeanSquaredError, ProportionalOdds, OpenProportionalOdds)
_LOSSES: dict[str, Callable[..., Loss]] = {loss.name: loss for loss in _NAMED}
LOSSES = tuple(_LOSSES)


def make_loss(name: str, thresholds: Sequence[float] = (), slope: float = 0.0) -> Loss:
    """The loss of that name; without thresholds it takes the paper's (3part: those of the released code).

    ``slope`` is the k of ``po`` and ``po-open``, 0 being their own; others ignore it.

    >>> make_loss("sosl", (0.0,)).grades
    2
    """
    if name not in _LOSSES:
        raise InputError(f"unknown loss '{name}'; the losses are {', '.join(LOSSES)}")
    options: dict[str, Any] = {"thresholds": tuple(thresholds)} if len(thresholds) else {}
    if slope and name in (ProportionalOdds.name, OpenProportionalOdds.name):
        options["slope"] = slope
    return _LOSSES[name](**options)

"""What a loss is: values and slopes for arrays, and two closed forms that compiled learners inline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isogloss.models.namespace import Array

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
    """The price of giving score r to a pair of grade g.

    Grades are gains 0 .. K - 1; the papers' ordered classes are y = g + 1.
    """

    name: ClassVar[str]
    grades: int
    """K, how many grades there are."""

    @abstractmethod
    def values(self, scores: Array, grades: Array) -> Any:
        """The loss of each score; of torch tensors as well, and torch can differentiate it."""

    @abstractmethod
    def slopes(self, scores: ArrayLike, grades: ArrayLike) -> Any:
        """The derivative of the loss with respect to each score."""

    @abstractmethod
    def compiled(self) -> CompiledLoss:
        """The loss as numbers."""

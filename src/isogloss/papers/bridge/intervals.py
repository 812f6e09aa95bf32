"""How far a mean over queries may be off: the bootstrap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 2000
_AT_A_TIME = 100
_LEVEL = 0.95

Interval = tuple[float, float]


def bootstrap_interval(values: NDArray[np.floating], seed: int = 0) -> Interval:
    """The 95 % interval of a mean: between the quantiles of the means of as many values, drawn with replacement.

    >>> bootstrap_interval(np.asarray([0.25, 0.25, 0.25]))
    (0.25, 0.25)
    """
    if not len(values):
        return (float("nan"), float("nan"))
    rng = np.random.default_rng(seed)
    drawn = [
        np.asarray(values, float)[rng.integers(0, len(values), (_AT_A_TIME, len(values)))].mean(axis=1)
        for _ in range(_ROUNDS // _AT_A_TIME)
    ]
    low, high = np.quantile(np.concatenate(drawn), [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)

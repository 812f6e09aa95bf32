"""Does a chance mean what it says? Predicted chances in bins, beside the share that came true.

    ECE = sum_b n_b / n |mean of the chances of bin b - share of its outcomes that are true|

the expected calibration error over bins of equal width (Naeini, Cooper and Hauskrecht 2015).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 10


class Bin(NamedTuple):
    """Chances from ``low`` to ``high``: of how many documents, their mean, and the share that came true."""

    low: float
    high: float
    documents: int
    predicted: float
    observed: float


def reliability(chances: NDArray[np.floating], outcomes: NDArray[np.bool_], bins: int = BINS) -> list[Bin]:
    """The bins that hold any chance."""
    place = np.minimum((np.asarray(chances) * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    predicted, observed = (np.bincount(place, each, bins) / np.maximum(1, counts) for each in (chances, outcomes))
    return [
        Bin(b / bins, (b + 1) / bins, int(counts[b]), float(predicted[b]), float(observed[b]))
        for b in range(bins)
        if counts[b]
    ]


def calibration_error(bins: list[Bin]) -> float:
    """ECE.

    >>> calibration_error(reliability(np.asarray([0.1, 0.9]), np.asarray([False, True])))
    0.1
    """
    apart = sum(each.documents * abs(each.predicted - each.observed) for each in bins)
    return round(apart / max(1, sum(each.documents for each in bins)), 6)

"""Thresholds cut the scores [-1, 1] into one segment a grade."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.base.errors import InputError


def check_thresholds(loss: str, thresholds: Sequence[float]) -> NDArray[np.float64]:
    """Thresholds as an array, or an error unless there is one and they rise strictly inside (-1, 1)."""
    ends = np.asarray([-1.0, *thresholds, 1.0], dtype=np.float64)
    if len(ends) == 2:
        raise InputError(f"loss '{loss}': no threshold given; give one fewer than there are grades, such as 0.2,0.7")
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

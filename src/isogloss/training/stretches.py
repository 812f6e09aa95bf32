"""Batches taken a stretch at a time: a GPU is asked for its losses after each stretch, not after each batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_BATCHES = 64


def in_stretches(
    order: NDArray[np.int64], batch_size: int, advance: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The loss of each batch, up to the first that is not finite; ``advance`` takes the batches of one stretch."""
    losses = [np.empty(0)]
    for first in range(0, len(order), _BATCHES * batch_size):
        losses.append(advance(order[first : first + _BATCHES * batch_size]))
        bad = np.flatnonzero(~np.isfinite(losses[-1]))
        if len(bad):
            losses[-1] = losses[-1][: bad[0] + 1]
            break
    return np.concatenate(losses)

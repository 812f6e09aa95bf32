"""Lists of texts in stretches of about equal size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def stretches(texts: Sequence[str], characters: int) -> Iterator[Sequence[str]]:
    """Texts one after another in stretches of about so many characters.

    >>> list(stretches(["to", "be", "or not to be", "that"], 6))
    [['to', 'be'], ['or not to be'], ['that']]
    """
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + 1)
    first = 0
    while first < len(texts):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + characters, side="right")))
        yield texts[first:last]
        first = last


def running_sum(lengths: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where each of things of such lengths begins, and where the last one ends."""
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))

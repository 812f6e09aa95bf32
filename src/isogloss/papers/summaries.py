"""Several seeds in one number and an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isogloss.evaluation.significance import student_tails

_LEVEL = 0.05


@dataclass(frozen=True)
class Summary:
    """The mean of some seeds, and half the width of its 95% interval (NaN for one seed)."""

    mean: float
    half: float
    values: tuple[float, ...]

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return "—"
        return f"{self.mean:.3f}" + ("" if math.isnan(self.half) else f" ± {self.half:.3f}")

    def as_json(self) -> dict[str, Any]:
        """As plain values; None where there is no number."""
        return {"mean": _number(self.mean), "half_interval": _number(self.half), "seeds": list(self.values)}


def summarise(values: Sequence[float]) -> Summary:
    r"""mean(x) ± t_{.975, n-1} s / sqrt(n), s the standard deviation of the n seeds.

    >>> str(summarise([0.80, 0.81, 0.82])), str(summarise([0.8])), str(summarise([]))
    ('0.810 ± 0.025', '0.800', '—')
    """
    if not values:
        return Summary(math.nan, math.nan, ())
    half = math.nan
    if len(values) > 1:
        half = _student_quantile(len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Summary(float(np.mean(values)), half, tuple(map(float, values)))


def _student_quantile(degrees: int) -> float:
    """The t that |T| exceeds with probability 5%, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tails(middle, degrees) > _LEVEL else (low, middle)
    return high


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value

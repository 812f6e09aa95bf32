"""The generalisation gap as there is more to learn from, beside what Theorem 3 allows.

The gap is the mean SOSL of the pairs of unseen queries less that of the training pairs. Theorem 3 bounds it for plain
SGD with rates c/t; the trials use Adam with a fixed rate, as the paper does. So the bound stands beside the measured
gap for its size and shape; it was not proved for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isogloss.papers.figures import line_style, new_figure, save_figure
from isogloss.papers.smooth.theory import SOSL_MAXIMUM, generalisation_bound, model_regularity
from isogloss.papers.smooth.trial_store import Result
from isogloss.papers.summaries import Summary, summarise

DELTA = 0.05
GROWTH = 0.5
"""gamma c: below 1 the bound falls with n though the steps grow with it."""


class Point(NamedTuple):
    """What one share of the train queries gave; bounds at the steps it took, and at those of the largest share."""

    share: float
    queries: int
    pairs: int
    steps: int
    train: Summary
    unseen: Summary
    gap: Summary
    bound: float
    bound_same_steps: float

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        made = {name: each.as_json() if isinstance(each, Summary) else each for name, each in self._asdict().items()}
        return {name: None if each == math.inf else each for name, each in made.items()}


def sosl_bound(pairs: int, steps: int, eps: float, thresholds: Sequence[float]) -> float:
    """Theorem 3 for SOSL itself (4 times that of SOSL / 4), with c = .5 / gamma; without end for the plain cosine."""
    if eps == 0:
        return math.inf
    constants = model_regularity(eps, thresholds)
    rate = GROWTH / constants.smoothness
    return SOSL_MAXIMUM * generalisation_bound(pairs, steps, rate, constants.lipschitz, constants.smoothness, DELTA)


def gap_points(found: Mapping[float, Sequence[Result]]) -> list[Point]:
    """One point a share that has results, from the smallest."""
    known = {share: results for share, results in sorted(found.items()) if results}
    most = max((results[0].record["steps"] for results in known.values()), default=0)
    return [_point(share, results, most) for share, results in known.items()]


def _point(share: float, results: Sequence[Result], most_steps: int) -> Point:
    trial, record = results[0].trial, results[0].record
    train = [result.record["losses"]["train"] for result in results]
    unseen = [result.record["losses"][trial.split] for result in results]
    pairs, steps = record["pairs"], record["steps"]
    thresholds = [float(threshold) for threshold in trial.thresholds.split(",")]
    bounds = [sosl_bound(pairs, number, trial.options().eps, thresholds) for number in (steps, most_steps)]
    gaps = summarise([there - here for there, here in zip(unseen, train, strict=True)])
    return Point(share, record["queries"]["train"], pairs, steps, summarise(train), summarise(unseen), gaps, *bounds)


def fitted_power(points: Sequence[Point]) -> float:
    """The a of gap ~ n^a, by least squares of the logarithms; NaN unless two gaps are above 0."""
    known = [point for point in points if point.gap.mean > 0]
    if len(known) < 2:
        return math.nan
    sizes, gaps = np.log([point.pairs for point in known]), np.log([point.gap.mean for point in known])
    return float(np.polyfit(sizes, gaps, 1)[0])


def draw_gap(path: Path, points: Sequence[Point]) -> list[Path]:
    """The gap, the bounds and 1 / sqrt(n) through the gap's first point, on logarithmic axes."""
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    pairs = [point.pairs for point in points]
    first = points[0].gap.mean
    curves = {
        "measured gap": [point.gap.mean for point in points],
        "$1/\\sqrt{n}$ from the first point": [first * math.sqrt(pairs[0] / number) for number in pairs],
        "Theorem 3, steps as taken": [point.bound for point in points],
        "Theorem 3, steps of the largest n": [point.bound_same_steps for point in points],
    }
    for number, (name, values) in enumerate(curves.items()):
        shown = [value if 0 < value < math.inf else math.nan for value in values]
        bars = [0.0 if math.isnan(point.gap.half) else point.gap.half for point in points] if number == 0 else None
        axes.errorbar(pairs, shown, yerr=bars, label=name, capsize=3, markersize=5, **line_style(number, markers=True))
    axes.set(xscale="log", yscale="log", xlabel="training pairs n", ylabel="SOSL, unseen less training")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, handlelength=3.5)
    return save_figure(figure, path)

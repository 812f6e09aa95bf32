"""The item ``theory``: the paper's constants against samples, its bound in numbers, and the measured gap.

The generalisation gap is the mean SOSL of the pairs of unseen queries less that of the training pairs. Theorem 3 bounds
it for plain SGD with rates c/t; the trials use Adam with a fixed rate, as the paper does. So the bound and
the measured gap are compared in size and shape; the bound was not proved for these trials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isogloss.reproduce.figures import line_style, new_figure, save_figure
from isogloss.reproduce.pages import Page, Summary, markdown_table, summarise, write_csv
from isogloss.reproduce.smooth.plan import Experiment, Result, theory_trials
from isogloss.reproduce.smooth.tables import training_line
from isogloss.reproduce.smooth.theory import (
    SOSL_MAXIMUM,
    Check,
    check_constants,
    generalisation_bound,
    model_regularity,
)

DELTA = 0.05
GROWTH = 0.5
"""gamma c: below 1 the bound falls with n though the steps grow with it."""
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**9)
EPS = (0.25, 1.0)
THRESHOLDS = (0.2, 0.7)
_BATCH, _EPOCHS, _PAPER_STEPS = 128, 30, 310_000
_GAP_HEADER = (
    "share", "queries", "n (pairs)", "T (steps)", "SOSL, training", "SOSL, unseen", "gap", "bound", "bound / gap",
)  # fmt: skip


def theory(experiment: Experiment) -> Page:
    """Constants, bound, gap."""
    checks = check_constants()
    bounds = [
        (size, [sosl_bound(size, steps, eps, THRESHOLDS) for eps in EPS for steps in _steps(size)]) for size in SIZES
    ]
    found = {share: experiment.results(trials) for share, trials in theory_trials(experiment.setup).items()}
    points = gap_points(found)
    parts = ["# Theory", *_constants(checks), *_bounds(bounds)]
    if points:
        draw_gap(experiment.output / "theory", points)
        largest = [result for results in found.values() for result in results][-1:]
        parts += ["## The gap, measured", training_line(largest), *_gap(points)]
        write_csv(experiment.output / "theory.csv", _GAP_HEADER, _gap_rows(points))
    values = {
        "checks": [{**each._asdict(), "holds": each.holds} for each in checks],
        "bounds": [{"pairs": size, "values": found} for size, found in bounds],
        "gap": [point.as_json() for point in points],
    }
    return Page("\n\n".join(parts), {**experiment.setup.about(), **values})


def _constants(checks: Sequence[Check]) -> list[str]:
    rows = [
        (each.claim.replace("|", "\\|"), each.setting, f"{each.samples:,}", f"{each.bound:.4g}", f"{each.largest:.4g}",
         f"{each.share:.1%}", "yes" if each.holds else "**no**")
        for each in checks
    ]  # fmt: skip
    kept = sum(each.holds for each in checks)
    return [
        "## Constants",
        f"{kept} of {len(checks)} bounds hold on all samples.",
        markdown_table(("claim", "setting", "samples", "bound", "largest found", "share", "holds"), rows),
    ]


def _bounds(bounds: Sequence[tuple[int, Sequence[float]]]) -> list[str]:
    columns = [f"eps {eps:g}, {steps}" for eps in EPS for steps in ("T = 30 n / 128", "T = 310,000")]
    rows = [(f"{size:,}", *(f"{value:.3g}" for value in values)) for size, values in bounds]
    return [
        "## The bound",
        f"Theorem 3 for SOSL at thresholds .2 and .7, with probability {1 - DELTA:g}, n training pairs and T steps "
        f"of SGD with rates c/t, gamma c = {GROWTH:g}: 30 epochs in batches of 128, or the 310,000 steps of the "
        f"paper's French run. SOSL is never above {SOSL_MAXIMUM:g}: a bound above that is empty.",
        markdown_table(("n", *columns), rows),
    ]


def _steps(size: int) -> tuple[int, int]:
    return max(1, _EPOCHS * size // _BATCH), _PAPER_STEPS


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


def _gap_rows(points: Sequence[Point]) -> list[tuple[str, ...]]:
    return [
        (
            f"{point.share:g}", f"{point.queries:,}", f"{point.pairs:,}", f"{point.steps:,}", _fine(point.train.mean),
            _fine(point.unseen.mean), _fine(point.gap.mean, point.gap.half), f"{point.bound:.3g}", _ratio(point),
        )
        for point in points
    ]  # fmt: skip


def _gap(points: Sequence[Point]) -> list[str]:
    power = fitted_power(points)
    shape = "" if math.isnan(power) else f" It goes with n to the power {power:.2f}; 1/sqrt(n) would be -0.50."
    return [
        "![measured gap and bound](theory.png)",
        markdown_table(_GAP_HEADER, _gap_rows(points)),
        f"The gap is the mean SOSL of the pairs of unseen queries less that of the training pairs.{shape} At the most "
        f"data the bound is {_ratio(points[-1])} times the gap. It was proved for SGD with falling rates; the trials "
        "use Adam with a fixed one, as the paper does.",
    ]


def _ratio(point: Point) -> str:
    return f"{point.bound / point.gap.mean:,.0f}" if point.gap.mean > 0 and point.bound < math.inf else "—"


def _fine(mean: float, half: float = math.nan) -> str:
    return f"{mean:.4f}" + ("" if math.isnan(half) else f" ± {half:.4f}")

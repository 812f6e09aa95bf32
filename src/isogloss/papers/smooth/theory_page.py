"""The item ``theory``: the paper's constants held against samples, its bound in numbers, the gap measured beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from isogloss.papers.adhoc import write_csv
from isogloss.papers.pages import Page, markdown_table
from isogloss.papers.smooth.gap import DELTA, GROWTH, Point, draw_gap, fitted_power, gap_points, sosl_bound
from isogloss.papers.smooth.pages import Experiment, training_line
from isogloss.papers.smooth.plan import theory_trials
from isogloss.papers.smooth.theory import SOSL_MAXIMUM
from isogloss.papers.smooth.theory_checks import Check, check_constants

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**9)
EPS = (0.25, 1.0)
THRESHOLDS = (0.2, 0.7)
_BATCH, _EPOCHS, _PAPER_STEPS = 128, 30, 310_000


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
    return Page("\n\n".join(parts), {**experiment.about(), **values})


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
        f"paper's French run. SOSL is never above {SOSL_MAXIMUM:g}: a bound above that says nothing.",
        markdown_table(("n", *columns), rows),
    ]


def _steps(size: int) -> tuple[int, int]:
    return max(1, _EPOCHS * size // _BATCH), _PAPER_STEPS


_GAP_HEADER = (
    "share",
    "queries",
    "n (pairs)",
    "T (steps)",
    "SOSL, training",
    "SOSL, unseen",
    "gap",
    "bound",
    "bound / gap",
)


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

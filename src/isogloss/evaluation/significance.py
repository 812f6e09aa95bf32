"""Significance of differences between systems: paired tests over the queries.

The t-test's tail probability is computed here, by the continued fraction of the incomplete beta function, because
SciPy would double the size of the install for one number; the tests compare it with SciPy's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

PerQuery = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on one measure; the probabilities are those of seeing such a difference by chance."""

    measure: str
    left: str
    right: str
    difference: float
    wins: int
    ties: int
    losses: int
    t_test: float
    randomisation: float
    t_test_holm: float = math.nan
    randomisation_holm: float = math.nan


def compare_systems(
    results: Mapping[str, Mapping[str, PerQuery]], measures: Sequence[str], rounds: int = 10_000, seed: int = 0
) -> list[Comparison]:
    """All pairs of systems on the measures; Holm's correction runs over all the comparisons made.

    ``results`` maps a system's name to measure to one value a query, the queries in the same order for all.
    """
    found = [
        compare(left, right, measure, results[left][measure], results[right][measure], rounds, seed)
        for measure in measures
        for left, right in combinations(results, 2)
    ]
    t_tests = holm([comparison.t_test for comparison in found])
    randomisations = holm([comparison.randomisation for comparison in found])
    return [
        replace(comparison, t_test_holm=t_holm, randomisation_holm=r_holm)
        for comparison, t_holm, r_holm in zip(found, t_tests, randomisations, strict=True)
    ]


def compare(
    left: str, right: str, measure: str, left_values: PerQuery, right_values: PerQuery, rounds: int, seed: int
) -> Comparison:
    """Two systems on one measure, without correction."""
    differences = np.asarray(left_values, float) - np.asarray(right_values, float)
    return Comparison(
        measure, left, right, float(differences.mean()),
        int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences == 0)),
        int(np.count_nonzero(differences < 0)),
        paired_t_test(differences), randomisation_test(differences, rounds, seed),
    )  # fmt: skip


def paired_t_test(differences: PerQuery) -> float:
    r"""Two-sided p of Student's t = mean(d) sqrt(n) / sd(d) with n - 1 degrees of freedom."""
    count = len(differences)
    spread = float(differences.std(ddof=1)) if count > 1 else 0.0
    if spread == 0.0:
        return 1.0 if count < 2 or not differences.any() else 0.0
    t = float(differences.mean()) * math.sqrt(count) / spread
    return student_tails(t, count - 1)


def welch_t_test(left: PerQuery, right: PerQuery) -> float:
    r"""Two-sided p of Welch's t = (mean(x) - mean(y)) / sqrt(a + b),  a = var(x) / n,  b = var(y) / m.

    Its degrees of freedom are (a + b)^2 / (a^2 / (n - 1) + b^2 / (m - 1)). For values that are not paired; there must
    be two or more on either side.
    """
    apart = float(left.mean() - right.mean())
    own, other = (float(values.var(ddof=1)) / len(values) for values in (left, right))
    if own + other == 0.0:
        return 1.0 if apart == 0.0 else 0.0
    degrees = (own + other) ** 2 / (own**2 / (len(left) - 1) + other**2 / (len(right) - 1))
    return student_tails(apart / math.sqrt(own + other), degrees)


def randomisation_test(differences: PerQuery, rounds: int = 10_000, seed: int = 0) -> float:
    r"""Two-sided p of Fisher's randomisation: (1 + #{|mean of sign-flipped d| >= |mean(d)|}) / (1 + rounds)."""
    rng = np.random.default_rng(seed)
    moved = differences[differences != 0]  # flipping a zero changes nothing
    observed = abs(moved.sum()) - 1e-9 * np.abs(moved).sum()  # sums that are equal but for rounding are equal
    hits = 0
    for start in range(0, rounds, 1000):
        signs = rng.integers(0, 2, size=(min(1000, rounds - start), len(moved)), dtype=np.int8) * 2 - 1
        hits += int(np.count_nonzero(np.abs(signs @ moved) >= observed))
    return (1 + hits) / (1 + rounds)


def holm(probabilities: Sequence[float]) -> list[float]:
    r"""Holm's step-down correction: the i-th smallest of m becomes max over j <= i of min(1, (m - j + 1) p_j).

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(probabilities, kind="stable")
    corrected = [0.0] * len(probabilities)
    highest = 0.0
    for rank, index in enumerate(order.tolist()):
        highest = max(highest, min(1.0, (len(probabilities) - rank) * probabilities[index]))
        corrected[index] = highest
    return corrected


def student_tails(t: float, degrees: float) -> float:
    r"""P(|T| >= |t|) = I_x(v/2, 1/2) with x = v / (v + t^2), I the regularised incomplete beta function."""
    total = degrees + t * t
    return _incomplete_beta(degrees / 2, 0.5, degrees / total, t * t / total)


def _incomplete_beta(a: float, b: float, x: float, y: float) -> float:
    """I_x(a, b); ``y`` is 1 - x, a parameter because the subtraction would be inexact near x = 1."""
    if x == 0.0 or y == 0.0:
        return x
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on one side only
        return 1.0 - _incomplete_beta(b, a, y, x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y))
    return front * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Lentz's method for the continued fraction (Press et al., Numerical Recipes, section 6.4, the standard form)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + step * d, tiny)
            c = _away_from_zero(1.0 + step / c, tiny)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny

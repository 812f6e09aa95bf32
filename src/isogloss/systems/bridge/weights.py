"""Fitting the weights of the features, and calibrating scores to probabilities of relevance.

The score of a document is linear in its features, s(q, d) = w . x(q, d). The weights maximise the likelihood of the
relevant documents d+ of n train queries among the documents D(q) that were found for each, regularised towards default
weights u, the more the fewer the queries are:

    max over w of  sum_q ln [ exp s(q, d+) / sum_{d in D(q)} exp s(q, d) ] - (r + R / n) n |w - u|^2

x, w and u are in standard deviations of x. The objective is concave and has a handful of weights, so Newton's method
solves it.

Such scores rank the documents of one query, but are not comparable between queries. The calibration is an ordinal
model with one slope k, one slope m and a bias b_j for each grade j, fitted on the best documents of the same queries:

    c(q) = ln sum_{d in D(q)} exp s(q, d)
    P(g >= j | s, c) = sigma(k s - m c - b_j)

It minimises the sum of the logistic losses, which is convex too. A search returns the log odds of the highest grade,
k s - m c - b_{K-1}: they mean the same for every query and every language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_PENALTY = 1e-3  # r: on train queries of all sets a tenth or ten times as much is no different
_TRUST = 1.0  # R: weights of 20 train queries give an MRR of .809 on the mean of five sets, .798 without it
_STEPS = 50
_SEEN = 10  # documents of a query that the calibration is fitted on: those that a person sees
_ENOUGH = 1e-8
_FOLDS = 5
_LEAST_GAIN = 0.01  # of the mean log-likelihood of a query
_LEAST_ERRORS = 2.0  # the gain in standard errors


class JudgedList(NamedTuple):
    """The features of the documents found for a query, and the grade of each."""

    values: Values
    grades: NDArray[np.int64]


class Calibration(NamedTuple):
    """P(g >= j | s, c) = sigma(slope (s - context c) - biases[j - 1])."""

    slope: float
    context: float
    biases: tuple[float, ...]

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The log odds where P(g >= j) is 1/2, for each j, ascending; the last is 0."""
        return tuple(bias - self.biases[-1] for bias in self.biases)

    def log_odds(self, scores: Values, context: float) -> Values:
        """Ln P(g >= K - 1) / P(g < K - 1) of the scores of a query with c(q) = ``context``."""
        return self.slope * (scores - self.context * context) - self.biases[-1]

    def scores(self, log_odds: Values, context: float) -> Values:
        """The inverse of ``log_odds``."""
        return (log_odds + self.biases[-1]) / self.slope + self.context * context

    def chances(self, log_odds: Values) -> Values:
        """P(g >= j), one column a grade j from 1 up."""
        return _sigmoid(np.asarray(log_odds)[:, None] - np.asarray(self.thresholds))


def fit_weights(lists: Sequence[JudgedList], top_grade: int, used: NDArray[np.bool_], prior: Values) -> Values | None:
    """The weights of the features in use, 0 for the others; None where no list has a relevant document.

    The penalty per query is r + R / n: .043 with n = 24 queries, .003 with 500.
    """
    told = _informative(lists, top_grade)
    if not told:
        return None
    spread = np.concatenate([each.values for each in told]).std(axis=0)
    used = used & (spread > 1e-9)
    tables = [each.values[:, used] / spread[used] for each in told]
    relevant = [each.grades >= top_grade for each in told]
    wanted = [each / each.sum() for each in relevant]
    centre = prior[used] * spread[used]
    weights = centre.copy()
    penalty = _PENALTY * len(told) + _TRUST
    for _ in range(_STEPS):
        gradient = 2 * penalty * (centre - weights)
        curvature = 2 * penalty * np.eye(len(weights))
        for table, target in zip(tables, wanted, strict=True):
            raised = np.exp((scores := table @ weights) - scores.max())
            chances = raised / raised.sum()
            mean = chances @ table
            gradient += (target - chances) @ table
            curvature += (table * chances[:, None]).T @ table - np.outer(mean, mean)
        step = np.linalg.solve(curvature, gradient)
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))  # far from the maximum the curvature misleads
        weights += step
        if np.abs(step).max() < _ENOUGH:
            break
    result = np.zeros(len(used))
    result[used] = weights / spread[used]
    return result


def features_help(
    lists: Sequence[JudgedList], top_grade: int, used: NDArray[np.bool_], prior: Values, added: NDArray[np.bool_]
) -> bool:
    """Whether the ``added`` features make the relevant documents of held-out queries more likely.

    Cross-validation: for each fifth of the queries, the weights are fitted on the others, with these features and
    without. The mean gain in the log-likelihood of a query has to exceed .01, and two standard errors.
    """
    told = _informative(lists, top_grade)
    if len(told) < 2 * _FOLDS:
        return False
    fold = np.arange(len(told)) % _FOLDS
    gains = np.zeros(len(told))
    for held_out in range(_FOLDS):
        others = [each for each, number in zip(told, fold, strict=True) if number != held_out]
        for kept, sign in ((used, 1), (used & ~added, -1)):
            weights = fit_weights(others, top_grade, kept, prior)
            assert weights is not None, "each of the lists has a relevant document"
            for i in np.flatnonzero(fold == held_out).tolist():
                scores = told[i].values @ weights
                likelihood = float(scores[told[i].grades >= top_grade].mean()) - context_of(scores)
                gains[i] += sign * likelihood
    return bool(gains.mean() > max(_LEAST_GAIN, _LEAST_ERRORS * gains.std() / len(gains) ** 0.5))


def _informative(lists: Sequence[JudgedList], top_grade: int) -> list[JudgedList]:
    """The lists with a relevant document and another one."""
    return [each for each in lists if (each.grades >= top_grade).any() and len(each.grades) > 1]


def context_of(scores: Values) -> float:
    """c(q) of the scores of a query's documents; 0 where there are none."""
    return float(np.logaddexp.reduce(scores)) if len(scores) else 0.0


def calibrate(scores: Sequence[Values], grades: Sequence[NDArray[np.int64]]) -> Calibration | None:
    """Fit the ordinal model on some queries; None where scores do not separate the grades."""
    best = [np.argsort(-each, kind="stable")[:_SEEN] for each in scores]
    inputs = np.concatenate([np.zeros((0, 2)), *(
        np.stack([each[rows], np.full(len(rows), -context_of(each))], 1)
        for each, rows in zip(scores, best, strict=True)
    )])  # fmt: skip
    judged = np.concatenate([np.zeros(0, np.int64), *(each[rows] for each, rows in zip(grades, best, strict=True))])
    levels = [level for level in range(1, int(judged.max(initial=0)) + 1) if 0 < (judged >= level).sum() < len(judged)]
    if not levels or np.ptp(inputs[:, 0]) == 0:
        return None
    above = np.stack([judged >= level for level in levels], axis=1).astype(float)
    slopes, biases = _ordinal(inputs, above)
    if slopes[0] <= 0:
        return None
    free = slopes[1] / slopes[0]
    context = min(1.0, max(0.0, float(free)))
    if context != free:
        slopes, biases = _ordinal(inputs @ [[1.0], [context]], above)
        if slopes[0] <= 0:
            return None
    return Calibration(float(slopes[0]), context, tuple(np.maximum.accumulate(biases).tolist()))


def _ordinal(values: Values, above: Values) -> tuple[Values, Values]:
    """Slopes and biases of sigma(slopes . x - bias_j), the probability that column j of ``above`` is 1."""
    centre, spread = values.mean(axis=0), values.std(axis=0)
    spread = np.where(np.ptp(values, axis=0) > 0, spread, 1.0)
    inputs = (values - centre) / spread
    count, levels = inputs.shape[1], above.shape[1]
    found = np.concatenate([np.zeros(count), -np.log(above.mean(axis=0) / (1 - above.mean(axis=0)))])
    for _ in range(_STEPS):
        chances = _sigmoid((inputs @ found[:count])[:, None] - found[count:])
        missed, width = above - chances, chances * (1 - chances)
        gradient = np.concatenate([inputs.T @ missed.sum(axis=1), -missed.sum(axis=0)])
        curvature = 1e-6 * np.eye(count + levels)
        curvature[:count, :count] += (inputs * width.sum(axis=1)[:, None]).T @ inputs
        curvature[count:, count:] += np.diag(width.sum(axis=0))
        curvature[:count, count:] = -inputs.T @ width
        curvature[count:, :count] = curvature[:count, count:].T
        step = np.linalg.solve(curvature, gradient)
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        found += step
        if np.abs(step).max() < _ENOUGH:
            break
    slopes: Values = found[:count] / spread
    return slopes, found[count:] + slopes @ centre


def _sigmoid(values: Values) -> Values:
    shares: Values = 0.5 * (1 + np.tanh(values / 2))
    return shares

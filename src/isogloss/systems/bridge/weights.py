"""Fitting the weights of the features, and calibrating scores to probabilities of relevance.

The score of a document is linear in its features, s(q, d) = w . x(q, d). The weights maximise the likelihood of the
relevant documents d+ of n train queries among the documents D(q) that were found for each, regularised towards default
weights u, the more the fewer the queries are:

    max over w of  sum_q ln [ exp s(q, d+) / sum_{d in D(q)} exp s(q, d) ] - (r + R / n) n |w - u|^2

x, w and u are in standard deviations of x. The objective is concave and has a handful of weights, so Newton's method
solves it.

Short queries (titles, key words) and long ones (sentences) have weights of their own.

Such scores rank the documents of one query, but are not comparable between queries. The calibration is an ordinal
model with one slope k, slopes m_i of what is known of the query, and a bias b_j for each grade j, fitted on the best
documents of the same queries:

    P(g >= j | s, z) = sigma(k s - m . z - b_j),    z = (ln sum_{d in D(q)} exp s(q, d), information of q, ln |q|)

The information is the mean of ln(1 + (1 - lambda) / (lambda P(w))) over the query's words. It minimises the sum of the
logistic losses, which is convex too. A search returns the log odds of the highest grade, k s - m . z - b_{K-1}: they
mean the same for every query and every language. Where the log odds of the first hit are below those of nineteen of
twenty right first hits, the index probably has nothing relevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_PENALTY = 1e-3  # r: on train queries of all sets a tenth or ten times as much is no different
_TRUST = 1.0  # R: with 100 train queries MRR gains .028 over the defaults, with R = 3 .019 (mean of eight sets)
_SHORT, _LONG = 3, 8  # words of a query
_STEPS = 50
_SEEN = 10  # documents of a query that the calibration is fitted on: those that a person sees
_ENOUGH = 1e-8
_RIDGE = 1.0  # a weak prior: slopes of few queries stay small
_DOUBTFUL = 0.04  # the share of right first hits that may be called doubtful
_FOLDS = 5
_LEAST_GAIN = 0.01  # of the mean log-likelihood of a query
_LEAST_ERRORS = 2.0  # the gain in standard errors


class JudgedList(NamedTuple):
    """The features of the documents found for a query, the grade of each, and the last two entries of z."""

    values: Values
    grades: NDArray[np.int64]
    query: tuple[float, float] = (0.0, 0.0)

    @property
    def length(self) -> float:
        """The number of words of the query."""
        return float(np.exp(self.query[1]))


class Weights(NamedTuple):
    """The weights of the features for long queries (a sentence) and short ones (a title, key words).

    A query of three words or fewer has the short ones, of eight or more the long ones, between them a mixture.
    """

    long: Values
    short: Values

    def of(self, length: float) -> Values:
        """Those of a query with so many words."""
        share = min(1.0, max(0.0, (length - _SHORT) / (_LONG - _SHORT)))
        return share * self.long + (1 - share) * self.short


class Calibration(NamedTuple):
    """P(g >= j | s, z) = sigma(slope s - context . z - biases[j - 1]); ``doubt``: log odds that few right hits have."""

    slope: float
    context: tuple[float, ...]
    biases: tuple[float, ...]
    doubt: float

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The log odds that separate grades: where P(g >= j) is 1/2, for each j, ascending; the first is ``doubt``."""
        halves = [bias - self.biases[-1] for bias in self.biases]
        return (self.doubt, *(max(self.doubt, each) for each in halves[1:] or halves))

    def log_odds(self, scores: Values, context: Values) -> Values:
        """Ln P(g >= K - 1) / P(g < K - 1) of the scores of a query with z = ``context``."""
        return self.slope * scores - float(np.dot(self.context, context)) - self.biases[-1]

    def chances(self, log_odds: Values) -> Values:
        """P(g >= j), one column a grade j from 1 up."""
        return _sigmoid(np.asarray(log_odds)[:, None] + self.biases[-1] - np.asarray(self.biases))


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


def fit_by_length(lists: Sequence[JudgedList], top_grade: int, used: NDArray[np.bool_], prior: Weights) -> Weights:
    """The weights of long and of short queries, each fitted on its own queries; the prior where there are none."""
    middle = (_SHORT + _LONG) / 2
    parts = [[each for each in lists if (each.length > middle) == long] for long in (True, False)]
    fitted = [fit_weights(part, top_grade, used, of_part) for part, of_part in zip(parts, prior, strict=True)]
    return Weights(*(own * used if each is None else each for each, own in zip(fitted, prior, strict=True)))


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
                likelihood = float(scores[told[i].grades >= top_grade].mean()) - np.logaddexp.reduce(scores)
                gains[i] += sign * likelihood
    return bool(gains.mean() > max(_LEAST_GAIN, _LEAST_ERRORS * gains.std() / len(gains) ** 0.5))


def _informative(lists: Sequence[JudgedList], top_grade: int) -> list[JudgedList]:
    """The lists with a relevant document and another one."""
    return [each for each in lists if (each.grades >= top_grade).any() and len(each.grades) > 1]


def context_of(scores: Values, query: tuple[float, float]) -> Values:
    """The context z of a query, by the scores of its documents."""
    return np.asarray([np.logaddexp.reduce(scores) if len(scores) else 0.0, *query])


def calibrate(lists: Sequence[JudgedList], weights: Weights, default: Calibration) -> Calibration:
    """Fit the ordinal model on some queries; the default where scores do not separate the grades."""
    inputs, judged, first = [np.zeros((0, 4))], [np.zeros(0, np.int64)], []
    for each in lists:
        scores = each.values @ weights.of(each.length)
        best = np.argsort(-scores, kind="stable")[:_SEEN]
        context = context_of(scores, each.query)
        inputs.append(np.column_stack([scores[best], np.tile(-context, (len(best), 1))]))
        judged.append(each.grades[best])
        first.append(np.arange(len(best)) == 0)
    values, grades = np.concatenate(inputs), np.concatenate(judged)
    levels = [level for level in range(1, int(grades.max(initial=0)) + 1) if 0 < (grades >= level).sum() < len(grades)]
    if not levels or np.ptp(values[:, 0]) == 0:
        return default
    above = np.stack([grades >= level for level in levels], axis=1).astype(float)
    slopes, biases = _ordinal(values, above)
    if slopes[0] <= 0:
        return default
    found = Calibration(
        float(slopes[0]), tuple(slopes[1:].tolist()), tuple(np.maximum.accumulate(biases).tolist()), 0.0
    )
    right = np.concatenate(first) & (grades >= levels[-1])
    log_odds = values[right] @ slopes - found.biases[-1]
    return found._replace(doubt=float(np.quantile(log_odds, _DOUBTFUL))) if len(log_odds) else default


def _ordinal(values: Values, above: Values) -> tuple[Values, Values]:
    """Slopes and biases of sigma(slopes . x - bias_j), the probability that column j of ``above`` is 1."""
    centre, spread = values.mean(axis=0), values.std(axis=0)
    spread = np.where(np.ptp(values, axis=0) > 1e-9, spread, 1.0)
    inputs = (values - centre) / spread
    count, levels = inputs.shape[1], above.shape[1]
    found = np.concatenate([np.zeros(count), -np.log(above.mean(axis=0) / (1 - above.mean(axis=0)))])
    penalty = np.append(np.full(count, _RIDGE), np.full(levels, 1e-6))
    for _ in range(_STEPS):
        chances = _sigmoid((inputs @ found[:count])[:, None] - found[count:])
        missed, width = above - chances, chances * (1 - chances)
        gradient = np.concatenate([inputs.T @ missed.sum(axis=1), -missed.sum(axis=0)]) - penalty * found
        curvature = np.diag(penalty)
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

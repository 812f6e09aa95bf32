"""How much each kind of evidence counts, and which scores mean that a document is relevant.

A document's score is linear in its evidence, s(q, d) = w . x(q, d). The weights make the relevant documents of n
queries likely among the documents D(q) that were found for them, and stay near usual ones, u, the more the fewer these
queries are:

    max over w of  sum_q ln [ exp s(q, d+) / sum_{d in D(q)} exp s(q, d) ] - (r + R / n) n |w - u|^2

with x, w and u in standard deviations of x, by Newton's method: it is concave, and there are a handful of weights.
Such scores rank the documents of one query; of two queries they say nothing. So the thresholds see how well the query
does as a whole, too:

    c(q) = ln sum_{d in D(q)} exp s(q, d)
    P(g >= j | s, c) = sigma(k s - m c - b_j)

for the grades g of the best documents of the same queries, with one k and one m for all j (an ordinal model: the sum
of the logistic losses, concave too). What is shown are the log odds of the highest grade, k s - m c - b_{K-1}: they
mean the same for every query and every language.
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
_SEEN = 10  # documents of a query that a person sees: the chances are to hold for these
_ENOUGH = 1e-8
_FOLDS = 5
_PAYS = 0.01  # ln likelihood a query
_SURE = 2.0  # standard errors


class JudgedList(NamedTuple):
    """The evidence of the documents found for a query, and the grade of each."""

    values: Values
    grades: NDArray[np.int64]


class Calibration(NamedTuple):
    """P(g >= j | s, c) = sigma(slope (s - context c) - biases[j - 1])."""

    slope: float
    context: float
    biases: tuple[float, ...]

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The shown scores of an even chance, ascending; the last is 0."""
        return tuple(bias - self.biases[-1] for bias in self.biases)

    def shown(self, scores: Values, context: float) -> Values:
        """Ln P(g >= K - 1) / P(g < K - 1) of scores of a query, whose c(q) is ``context``."""
        return self.slope * (scores - self.context * context) - self.biases[-1]

    def unshown(self, shown: Values, context: float) -> Values:
        """The scores of what is shown."""
        return (shown + self.biases[-1]) / self.slope + self.context * context

    def chances(self, shown: Values) -> Values:
        """P(g >= j) of what is shown; a column a grade from 1 up."""
        return _sigmoid(np.asarray(shown)[:, None] - np.asarray(self.thresholds))


def fit_weights(lists: Sequence[JudgedList], top_grade: int, used: NDArray[np.bool_], usual: Values) -> Values | None:
    """The weights of the evidence that is used, 0 for the rest; None where no list has a relevant document.

    The penalty a query on what differs from the ``usual`` weights, squared and in standard deviations, is r + R / n:
    .043 with n = 24 queries, .003 with 500.
    """
    told = [each for each in lists if (each.grades >= top_grade).any() and len(each.grades) > 1]
    if not told:
        return None
    spread = np.concatenate([each.values for each in told]).std(axis=0)
    used = used & (spread > 1e-9)
    tables = [each.values[:, used] / spread[used] for each in told]
    wanted = [_shares(each.grades >= top_grade) for each in told]
    start = usual[used] * spread[used]
    weights = start.copy()
    penalty = _PENALTY * len(told) + _TRUST
    for _ in range(_STEPS):
        slope = 2 * penalty * (start - weights)
        bend = 2 * penalty * np.eye(len(weights))
        for table, target in zip(tables, wanted, strict=True):
            chances = _softmax(table @ weights)
            mean = chances @ table
            slope += (target - chances) @ table
            bend += (table * chances[:, None]).T @ table - np.outer(mean, mean)
        step = np.linalg.solve(bend, slope)
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))  # far from the top the bend misleads
        weights += step
        if np.abs(step).max() < _ENOUGH:
            break
    result = np.zeros(len(used))
    result[used] = weights / spread[used]
    return result


def pays(
    lists: Sequence[JudgedList], top_grade: int, used: NDArray[np.bool_], usual: Values, kinds: NDArray[np.bool_]
) -> bool:
    """Whether some ``kinds`` of evidence make the relevant documents of queries likelier that had no part in weights.

    By cross-validation: the weights are fitted without a fifth of the queries, with these kinds and without them, for
    each fifth. The mean gain of a query's ln likelihood has to be worth their work, and twice its standard error.
    """
    told = [each for each in lists if (each.grades >= top_grade).any() and len(each.grades) > 1]
    if len(told) < 2 * _FOLDS:
        return False
    fold = np.arange(len(told)) % _FOLDS
    gains = np.zeros(len(told))
    for part in range(_FOLDS):
        others = [each for each, number in zip(told, fold, strict=True) if number != part]
        for kept, sign in ((used, 1), (used & ~kinds, -1)):
            weights = fit_weights(others, top_grade, kept, usual)
            assert weights is not None, "each of the lists has a relevant document"
            for place in np.flatnonzero(fold == part).tolist():
                gains[place] += sign * _likelihood(told[place], top_grade, weights)
    return bool(gains.mean() > max(_PAYS, _SURE * gains.std() / len(gains) ** 0.5))


def _likelihood(found: JudgedList, top_grade: int, weights: Values) -> float:
    """Of its relevant documents, on the mean, in logarithms."""
    scores = found.values @ weights
    return float(scores[found.grades >= top_grade].mean()) - context_of(scores)


def context_of(scores: Values) -> float:
    """c(q) of the scores of a query's documents; 0 where there are none."""
    return float(np.logaddexp.reduce(scores)) if len(scores) else 0.0


def calibrate(scores: Sequence[Values], grades: Sequence[NDArray[np.int64]]) -> Calibration | None:
    """The ordinal model of the grades of some queries' documents; None where scores do not tell grades apart."""
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
    """Slopes and biases of sigma(slopes . x - bias_j), the chance that column j of ``above`` is 1."""
    centre, spread = values.mean(axis=0), values.std(axis=0)
    spread = np.where(np.ptp(values, axis=0) > 0, spread, 1.0)
    inputs = (values - centre) / spread
    count, levels = inputs.shape[1], above.shape[1]
    found = np.concatenate([np.zeros(count), -np.log(above.mean(axis=0) / (1 - above.mean(axis=0)))])
    for _ in range(_STEPS):
        chances = _sigmoid((inputs @ found[:count])[:, None] - found[count:])
        missed, width = above - chances, chances * (1 - chances)
        slope = np.concatenate([inputs.T @ missed.sum(axis=1), -missed.sum(axis=0)])
        bend = 1e-6 * np.eye(count + levels)
        bend[:count, :count] += (inputs * width.sum(axis=1)[:, None]).T @ inputs
        bend[count:, count:] += np.diag(width.sum(axis=0))
        bend[:count, count:] = -inputs.T @ width
        bend[count:, :count] = bend[:count, count:].T
        step = np.linalg.solve(bend, slope)
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        found += step
        if np.abs(step).max() < _ENOUGH:
            break
    slopes: Values = found[:count] / spread
    return slopes, found[count:] + slopes @ centre


def _shares(relevant: NDArray[np.bool_]) -> Values:
    shares: Values = relevant / relevant.sum()
    return shares


def _softmax(values: Values) -> Values:
    raised = np.exp(values - values.max())
    shares: Values = raised / raised.sum()
    return shares


def _sigmoid(values: Values) -> Values:
    shares: Values = 0.5 * (1 + np.tanh(values / 2))
    return shares

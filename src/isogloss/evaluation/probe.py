"""A probe: how well a plain classifier, trained afterwards, tells two kinds of vectors apart.

    p(left | x) = 1 / (1 + exp(-(w . x + b))),   w and b minimise  -sum log p(y | x) + |w|^2 / 2

A share of .5 right means that what tells the kinds apart is gone, as far as a plane can see. Logistic regression by
Newton's method: nothing is left to chance but the halves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError

Vectors = NDArray[np.floating]
_ITERATIONS = 30
_CLOSE = 1e-6
_FEWEST = 4


def probe_accuracy(left: Vectors, right: Vectors, seed: int = 0) -> float:
    """The share of right answers on one half of the rows by what was learned from the other, both ways round.

    As many rows are taken of either side; rows with the same number (mates, say) go into the same half.

    >>> rng = np.random.default_rng(0)
    >>> probe_accuracy(rng.normal(3, 1, (50, 2)), rng.normal(-3, 1, (50, 2)))
    1.0
    """
    number = min(len(left), len(right))
    if number < _FEWEST:
        raise InputError(f"probe: {number} texts of a side are too few to learn from and to test on")
    order = np.random.default_rng(seed).permutation(number)
    halves = [np.concatenate([left[rows], right[rows]]).astype(np.float64) for rows in np.array_split(order, 2)]
    shares = []
    for learned, tested in (halves, halves[::-1]):
        mean, spread = learned.mean(axis=0), learned.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        weights = fit_logistic((learned - mean) / scale, _first_half(learned))
        found = _with_one((tested - mean) / scale) @ weights > 0
        shares.append(np.mean(found == _first_half(tested)))
    return float(np.mean(shares))


def fit_logistic(rows: NDArray[np.float64], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The weights, that of a constant 1 last; it is not held back."""
    inputs = _with_one(rows)
    held = np.append(np.ones(rows.shape[1]), 1e-6)
    weights = np.zeros(inputs.shape[1])
    for _ in range(_ITERATIONS):
        chances = 0.5 * (1 + np.tanh(0.5 * (inputs @ weights)))
        gradient = inputs.T @ (chances - labels) + held * weights
        curvature = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + np.diag(held)
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < _CLOSE:
            break
    return weights


def _with_one(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([rows, np.ones(len(rows))])


def _first_half(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows are of the left side."""
    return np.arange(len(rows)) < len(rows) // 2

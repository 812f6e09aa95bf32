"""A probe: how well a linear classifier separates two sets of vectors.

    p(left | x) = 1 / (1 + exp(-(w . x + b))),   w and b minimise  -sum log p(y | x) + |w|^2 / 2

An accuracy of .5 means that no plane separates them. Logistic regression is fitted by Newton's method; only the halves
are random.
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
    """The accuracy on one half of the rows when trained on the other, the mean of both ways round.

    As many rows are used of either side; rows with the same number (such as mates) are in the same half.

    >>> rng = np.random.default_rng(0)
    >>> probe_accuracy(rng.normal(3, 1, (50, 2)), rng.normal(-3, 1, (50, 2)))
    1.0
    """
    number = min(len(left), len(right))
    if number < _FEWEST:
        raise InputError(f"probe: {number} texts of a side are too few to train on and to test on")
    order = np.random.default_rng(seed).permutation(number)
    halves = [np.concatenate([left[rows], right[rows]]).astype(np.float64) for rows in np.array_split(order, 2)]
    shares = []
    sides = [np.arange(len(half)) < len(half) // 2 for half in halves]
    for train, test in ((0, 1), (1, 0)):
        trained, tested = halves[train], halves[test]
        mean, spread = trained.mean(axis=0), trained.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        weights = fit_logistic((trained - mean) / scale, sides[train])
        found = np.column_stack([(tested - mean) / scale, np.ones(len(tested))]) @ weights > 0
        shares.append(np.mean(found == sides[test]))
    return float(np.mean(shares))


def fit_logistic(rows: NDArray[np.float64], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The weights, that of a constant 1 last; it is not regularised."""
    inputs = np.column_stack([rows, np.ones(len(rows))])
    penalty = np.append(np.ones(rows.shape[1]), 1e-6)
    weights = np.zeros(inputs.shape[1])
    for _ in range(_ITERATIONS):
        probabilities = 0.5 * (1 + np.tanh(0.5 * (inputs @ weights)))
        gradient = inputs.T @ (probabilities - labels) + penalty * weights
        curvature = (inputs * (probabilities * (1 - probabilities))[:, None]).T @ inputs + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < _CLOSE:
            break
    return weights

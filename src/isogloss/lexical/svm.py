"""A support vector machine on a kernel matrix, by coordinate descent in the dual (Hsieh et al. 2008).

    min_a  1/2 sum_ij a_i a_j y_i y_j K_ij - sum_i a_i,    0 <= a_i <= C_i

One a_i after the other is set to where the objective is lowest, given the rest, in an order shuffled anew each round,
until none would move by much. There is no bias: add a constant to the kernel, which is the bias as one more feature.
With differences of two examples as the examples and all y = 1 it is the ranking machine (Joachims 2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def train_svm(
    kernel: Floats, labels: Floats, costs: Floats, rounds: int = 1000, tolerance: float = 1e-3, seed: int = 0
) -> Floats:
    """The weights a_i y_i of the examples: f(x) = sum_i weights_i K(x_i, x).

    ``labels`` are +1 and -1, ``costs`` the C of each example. Stops when the largest violation of the optimality
    conditions in a round is below ``tolerance``.

    >>> train_svm(np.asarray([[2.0, 0.0], [0.0, 4.0]]), np.asarray([1.0, -1.0]), np.full(2, 10.0))
    array([ 0.5 , -0.25])
    """
    rng = np.random.default_rng(seed)
    signed = kernel * np.outer(labels, labels)
    curvature = np.maximum(signed.diagonal(), 1e-12)
    alphas, slopes = np.zeros(len(labels)), -np.ones(len(labels))
    for _ in range(rounds):
        worst = 0.0
        for i in rng.permutation(len(labels)).tolist():
            moved = min(max(alphas[i] - slopes[i] / curvature[i], 0.0), costs[i]) - alphas[i]
            worst = max(worst, abs(moved) * curvature[i])
            if moved:
                alphas[i] += moved
                slopes += moved * signed[i]
        if worst < tolerance:
            break
    return np.asarray(alphas * labels)

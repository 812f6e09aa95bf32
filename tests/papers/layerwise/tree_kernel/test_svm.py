"""The support vector machine: margins known in closed form, and the conditions every solution meets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.layerwise.tree_kernel.kernel import train_svm


def test_two_points_on_a_line_have_the_margin_between_them():
    """x = 0 and x = 3 with a bias: f(x) = 2 x / 3 - 1 would be the widest; the bias is penalised as a feature here."""
    points = np.asarray([[0.0, 1.0], [3.0, 1.0]])  # the second column is the bias
    weights = train_svm(points @ points.T, np.asarray([-1.0, 1.0]), np.full(2, 1e6), tolerance=1e-9)
    assert points @ (points.T @ weights) == pytest.approx([-1.0, 1.0], abs=1e-6)


def test_a_point_on_the_wrong_side_costs_no_more_than_its_cost():
    points = np.asarray([[1.0], [2.0], [-1.0]])
    weights = train_svm(points @ points.T, np.asarray([1.0, 1.0, 1.0]), np.asarray([0.1, 0.1, 0.02]), tolerance=1e-9)
    assert weights[2] == pytest.approx(0.02) and (weights <= [0.1 + 1e-12, 0.1 + 1e-12, 0.02 + 1e-12]).all()


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 12), st.integers(1, 4), st.sampled_from([0.05, 1.0, 10.0]), st.integers(0, 100))
def test_solutions_are_optimal(count, dimension, cost, seed):
    """Karush-Kuhn-Tucker: margin > 1 means no weight, margin < 1 all of it, weights between only at margin 1."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, dimension))
    labels = np.where(rng.random(count) < 0.5, -1.0, 1.0)
    kernel = points @ points.T + 0.1 * np.eye(count)
    alphas = train_svm(kernel, labels, np.full(count, cost), rounds=20_000, tolerance=1e-8) * labels
    margins = labels * (kernel @ (alphas * labels))
    assert (alphas >= 0).all() and (alphas <= cost + 1e-12).all()
    assert (margins[alphas < cost - 1e-6] >= 1 - 1e-4).all()
    assert (margins[alphas > 1e-6] <= 1 + 1e-4).all()


def test_the_same_seed_gives_the_same_weights():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 5))
    labels = np.sign(points[:, 0])
    first, again = (train_svm(points @ points.T, labels, np.ones(30), seed=4) for _ in range(2))
    assert np.array_equal(first, again)

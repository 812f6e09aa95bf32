"""The probe tells apart what a plane can tell apart, and nothing else."""

import numpy as np
import pytest

from isogloss.papers.layerwise.linear_probe import fit_logistic, probe_accuracy
from isogloss.storage.errors import InputError


def test_equal_clouds_cannot_be_told_apart_and_far_ones_can():
    rng = np.random.default_rng(0)
    found = [probe_accuracy(rng.normal(0, 1, (2000, 5)), rng.normal(gap, 1, (1500, 5))) for gap in (0, 0.3, 3)]
    assert abs(found[0] - 0.5) < 0.03 and 0.55 < found[1] < 0.75 and found[2] > 0.99


def test_two_shifted_gaussians_are_told_as_well_as_can_be():
    """The best share for a distance of 2 is Phi(1) = .841."""
    rng = np.random.default_rng(1)
    left, right = rng.normal(0, 1, (4000, 2)), rng.normal(0, 1, (4000, 2))
    right[:, 0] += 2
    assert probe_accuracy(left, right) == pytest.approx(0.841, abs=0.015)


def test_the_fit_is_where_the_gradient_is_zero():
    rng = np.random.default_rng(2)
    rows, labels = rng.normal(0, 1, (80, 3)), rng.random(80) < 0.4
    weights = fit_logistic(rows, labels)
    inputs = np.column_stack([rows, np.ones(80)])
    gradient = inputs.T @ (1 / (1 + np.exp(-inputs @ weights)) - labels) + np.append(weights[:3], 1e-6 * weights[3])
    np.testing.assert_allclose(gradient, 0, atol=1e-8)


def test_constant_columns_and_few_rows():
    rng = np.random.default_rng(3)
    left, right = rng.normal(0, 1, (40, 3)), rng.normal(0, 1, (40, 3))
    left[:, 1] = right[:, 1] = 7
    assert 0 <= probe_accuracy(left, right) <= 1
    with pytest.raises(InputError, match="too few"):
        probe_accuracy(left[:2], right)

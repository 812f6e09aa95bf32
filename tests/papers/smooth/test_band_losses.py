"""SOSL, 3Part_L2 and MSE: where they are free, and how they leave the places where they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.smooth.losses import MeanSquaredError, SmoothOrdinalSearchLoss, ThreePartSquaredHinge

THRESHOLDS = st.lists(st.integers(-99, 99), min_size=1, max_size=6, unique=True).map(
    lambda steps: tuple(np.sort(steps) / 100)
)


def paper_sosl(score, y, thresholds):
    """Equation 2, word for word."""
    theta = [-1.0, *thresholds, 1.0]
    return (theta[y] - score) ** 2 * (score > theta[y]) + (score - theta[y - 1]) ** 2 * (score < theta[y - 1])


@given(THRESHOLDS, st.floats(-1, 1), st.data())
def test_sosl_is_equation_2(thresholds, score, data):
    y = data.draw(st.integers(1, len(thresholds) + 1))
    value = SmoothOrdinalSearchLoss(thresholds).values(score, y - 1)
    assert value == pytest.approx(paper_sosl(score, y, thresholds), abs=1e-15)


@given(THRESHOLDS, st.floats(-1, 1))
def test_sosl_is_zero_inside_the_segment_of_the_class_and_nowhere_else(thresholds, score):
    loss = SmoothOrdinalSearchLoss(thresholds)
    ends = [-1.0, *thresholds, 1.0]
    for grade in range(loss.grades):
        inside = ends[grade] <= score <= ends[grade + 1]
        assert (loss.slopes(score, grade) == 0) == inside
        if inside:
            assert loss.values(score, grade) == 0
        elif min(abs(score - end) for end in ends) > 1e-100:  # where its square is still a number
            assert loss.values(score, grade) > 0


@given(THRESHOLDS, st.floats(1e-9, 1e-3))
def test_sosl_is_continuous_and_once_differentiable_at_the_thresholds(thresholds, step):
    loss = SmoothOrdinalSearchLoss(thresholds)
    for threshold in thresholds:
        for grade in range(loss.grades):
            around = np.array([threshold - step, threshold, threshold + step])
            assert np.ptp(loss.values(around, grade)) <= 4 * 2 * step  # the slope is at most 4
            assert np.ptp(loss.slopes(around, grade)) <= 2 * 2 * step * (1 + 1e-6)  # the curvature is at most 2


@given(THRESHOLDS)
def test_mse_is_the_squared_distance_to_the_middle_of_the_segment(thresholds):
    loss = MeanSquaredError(thresholds)
    ends = np.array([-1.0, *thresholds, 1.0])
    scores = np.linspace(-1, 1, 51)
    for grade in range(loss.grades):
        middle = ends[grade : grade + 2].mean()
        np.testing.assert_allclose(loss.values(scores, grade), (scores - middle) ** 2, atol=1e-15)


def test_three_part_pays_on_one_side_only():
    loss = ThreePartSquaredHinge((0.2, 0.55, 0.9))
    scores = np.array([-1.0, 0.1, 0.2, 0.3, 0.55, 0.65, 0.9, 1.0])
    np.testing.assert_allclose(loss.values(scores, 0), np.maximum(scores - 0.2, 0) ** 2)
    np.testing.assert_allclose(loss.values(scores, 1), np.maximum(scores - 0.55, 0) ** 2)
    np.testing.assert_allclose(loss.values(scores, 2), np.maximum(0.9 - scores, 0) ** 2)
    assert loss.grades == 3

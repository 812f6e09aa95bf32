"""Proportional odds: the paper's loss with ends -1 and 1, and ours without ends, where the plain formula breaks too."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.smooth.losses import OpenProportionalOdds, ProportionalOdds, make_loss

THRESHOLDS = st.lists(st.integers(-99, 99), min_size=1, max_size=6, unique=True).map(
    lambda steps: tuple(np.sort(steps) / 100)
)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def released_code(thresholds, score, grade):
    """-log s(theta_y - r) - log(1 - s(theta_{y-1} - r)), theta_0 = -1, theta_K = 1, as the paper's code has it."""
    ends = [-1.0, *thresholds, 1.0]
    return -math.log(sigmoid(ends[grade + 1] - score)) - math.log(1 - sigmoid(ends[grade] - score))


@given(THRESHOLDS, st.floats(-1, 1), st.floats(-1, 1))
def test_by_default_it_is_the_loss_of_the_paper_s_code_up_to_a_constant(thresholds, one, other):
    loss = make_loss("po", thresholds)
    for grade in range(loss.grades):
        expected = released_code(thresholds, one, grade) - released_code(thresholds, other, grade)
        assert loss.values(one, grade) - loss.values(other, grade) == pytest.approx(expected, abs=1e-9)


@given(THRESHOLDS)
def test_each_class_is_cheapest_in_the_middle_of_its_segment_as_with_mse(thresholds):
    odds, squares, step = make_loss("po", thresholds), make_loss("mse", thresholds), 1e-3
    for grade in range(odds.grades):
        middle = (odds.lower[grade] + odds.upper[grade]) / 2
        assert squares.values(middle, grade) == 0
        assert odds.slopes(middle, grade) == pytest.approx(0, abs=1e-12)
        assert odds.slopes(middle - step, grade) < 0 < odds.slopes(middle + step, grade)


def test_the_compiled_loss_has_the_paper_s_ends_and_ours_has_none():
    paper, ours = make_loss("po").compiled(), make_loss("po-open").compiled()
    assert (paper.lower[0], paper.upper[-1], paper.slope) == (-1, 1, 1)
    assert (ours.lower[0], ours.upper[-1], ours.slope) == (-np.inf, np.inf, 10)
    assert make_loss("po", slope=3.0).compiled().slope == make_loss("po-open", slope=3.0).compiled().slope == 3


@given(THRESHOLDS, st.floats(0.01, 1000), st.floats(-1, 1))
def test_without_ends_the_likelihoods_of_all_classes_sum_to_one(thresholds, slope, score):
    loss = OpenProportionalOdds(thresholds, slope)
    likelihoods = np.exp(-loss.values(np.full(loss.grades, score), np.arange(loss.grades)))
    assert likelihoods.sum() == pytest.approx(1)


@pytest.mark.parametrize(("kind", "end"), [(ProportionalOdds, 1.0), (OpenProportionalOdds, math.inf)])
@given(thresholds=THRESHOLDS, slope=st.floats(0.01, 5), score=st.floats(-1, 1))
def test_it_is_the_difference_of_two_sigmoids(kind, end, thresholds, slope, score):
    loss = kind(thresholds, slope)
    below = [
        0.0 if each == -math.inf else 1.0 if each == math.inf else sigmoid(slope * (each - score))
        for each in (-end, *thresholds, end)
    ]
    for grade in range(loss.grades):
        assert loss.values(score, grade) == pytest.approx(-math.log(below[grade + 1] - below[grade]), abs=1e-9)


@pytest.mark.parametrize("kind", [ProportionalOdds, OpenProportionalOdds])
@given(score=st.floats(-1, 1), grade=st.integers(0, 2))
def test_it_stays_finite_where_sigmoids_are_equal_in_double_precision(kind, score, grade):
    loss = kind((0.2, 0.7), slope=1e6)
    assert np.isfinite(loss.values(score, grade))
    assert np.isfinite(loss.slopes(score, grade))


@pytest.mark.parametrize("kind", [ProportionalOdds, OpenProportionalOdds])
def test_far_from_its_class_the_loss_grows_with_the_distance(kind):
    loss = kind((0.2, 0.7), slope=1000.0)
    assert loss.values(-1.0, 2) == pytest.approx(1000 * float(Fraction("1.7")))
    assert loss.slopes(-1.0, 2) == pytest.approx(-1000)


def test_without_ends_slope_1_tells_no_classes_apart():
    scores = np.linspace(-1, 1, 21)
    likely = np.exp(-np.stack([OpenProportionalOdds((0.2, 0.7), 1.0).values(scores, grade) for grade in range(3)]))
    assert (likely[1] < 0.13).all()  # the middle class never has a chance
    sharp = np.exp(-np.stack([OpenProportionalOdds((0.2, 0.7)).values(scores, grade) for grade in range(3)]))
    assert sharp[1].max() > 0.8

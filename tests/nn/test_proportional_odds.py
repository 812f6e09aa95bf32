"""Proportional odds: a likelihood over the classes, computed where the plain formula breaks down."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.nn.losses import ProportionalOdds

THRESHOLDS = st.lists(st.integers(-99, 99), min_size=1, max_size=6, unique=True).map(
    lambda steps: tuple(np.sort(steps) / 100)
)


@given(THRESHOLDS, st.floats(0.01, 1000), st.floats(-1, 1))
def test_the_likelihoods_of_all_classes_sum_to_one(thresholds, slope, score):
    loss = ProportionalOdds(thresholds, slope)
    likelihoods = np.exp(-loss.values(np.full(loss.grades, score), np.arange(loss.grades)))
    assert likelihoods.sum() == pytest.approx(1)


@given(THRESHOLDS, st.floats(0.01, 5), st.floats(-1, 1))
def test_it_is_the_difference_of_two_sigmoids(thresholds, slope, score):
    loss = ProportionalOdds(thresholds, slope)
    below = [0.0, *(1 / (1 + math.exp(-slope * (threshold - score))) for threshold in thresholds), 1.0]
    for grade in range(loss.grades):
        assert loss.values(score, grade) == pytest.approx(-math.log(below[grade + 1] - below[grade]), abs=1e-9)


@given(st.floats(-1, 1), st.integers(0, 2))
def test_it_stays_finite_where_sigmoids_are_equal_in_double_precision(score, grade):
    loss = ProportionalOdds((0.2, 0.7), slope=1e6)
    assert np.isfinite(loss.values(score, grade))
    assert np.isfinite(loss.slopes(score, grade))


def test_far_from_its_class_the_loss_grows_with_the_distance():
    loss = ProportionalOdds((0.2, 0.7), slope=1000.0)
    assert loss.values(-1.0, 2) == pytest.approx(1000 * float(Fraction("1.7")))
    assert loss.slopes(-1.0, 2) == pytest.approx(-1000)


def test_with_slope_1_no_score_tells_the_classes_apart():
    scores = np.linspace(-1, 1, 21)
    likely = np.exp(-np.stack([ProportionalOdds((0.2, 0.7)).values(scores, grade) for grade in range(3)]))
    assert (likely[1] < 0.13).all()  # the middle class never has a chance
    sharp = np.exp(-np.stack([ProportionalOdds((0.2, 0.7), 10.0).values(scores, grade) for grade in range(3)]))
    assert sharp[1].max() > 0.8

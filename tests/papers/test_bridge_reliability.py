"""The mathematics of intervals and of reliability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.bridge.intervals import bootstrap_interval
from isogloss.papers.bridge.reliability import calibration_error, reliability

CHANCES = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50)


@given(CHANCES)
def test_bins_hold_every_chance_once_and_their_means(pairs):
    chances, outcomes = (np.asarray(each) for each in zip(*pairs, strict=True))
    bins = reliability(chances, outcomes)
    assert sum(each.documents for each in bins) == len(pairs)
    assert sum(each.documents * each.predicted for each in bins) == pytest.approx(chances.sum())
    assert sum(each.documents * each.observed for each in bins) == pytest.approx(outcomes.sum())
    assert all(each.low <= each.predicted + 1e-9 and each.predicted <= each.high + 1e-9 for each in bins)
    assert 0 <= calibration_error(bins) <= 1


def test_chances_that_come_true_as_often_as_they_say_have_no_error():
    chances, outcomes = np.repeat([0.25, 0.75], 4), np.asarray([1, 0, 0, 0, 1, 1, 1, 0], bool)
    assert calibration_error(reliability(chances, outcomes)) == 0
    assert calibration_error(reliability(chances, ~outcomes)) == pytest.approx(0.5)


def test_the_interval_holds_the_mean_and_narrows_with_more_values():
    values = np.random.default_rng(0).random(1000)
    few, many = (bootstrap_interval(each) for each in (values[:50], values))
    assert few[0] < values[:50].mean() < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert many == pytest.approx((values.mean() - half, values.mean() + half), abs=0.004)


def test_nothing_has_no_interval():
    assert np.isnan(bootstrap_interval(np.zeros(0))).all()

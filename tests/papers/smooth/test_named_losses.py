"""Losses by name, and what is said about wrong ones."""

import numpy as np
import pytest

from isogloss.papers.smooth.losses import LOSSES, make_loss
from isogloss.storage.errors import InputError


def test_the_names():
    assert LOSSES == ("sosl", "3part", "mse", "po", "po-open")
    assert [make_loss(name).name for name in LOSSES] == list(LOSSES)


def test_without_thresholds_the_paper_s_are_taken():
    for name in ("sosl", "mse", "po", "po-open"):
        assert make_loss(name).values(0.5, 1) == make_loss(name, (0.2, 0.7)).values(0.5, 1)
    assert make_loss("3part").values(0.6, 1) == make_loss("3part", (0.2, 0.55, 0.9)).values(0.6, 1)


@pytest.mark.parametrize("name", ["sosl", "mse", "po", "po-open"])
@pytest.mark.parametrize("thresholds", [(0.0,), (-0.5, 0.0, 0.5), (-0.8, -0.2, 0.1, 0.4, 0.9)])
def test_any_number_of_grades_from_two(name, thresholds):
    loss = make_loss(name, thresholds)
    assert loss.grades == len(thresholds) + 1
    assert len(loss.compiled().lower) == loss.grades


def test_thresholds_may_be_an_array():
    assert make_loss("sosl", np.array([0.1, 0.6])).grades == 3


def test_the_slope_is_that_of_proportional_odds():
    assert make_loss("po", slope=10.0).compiled().slope == 10.0
    assert make_loss("sosl", slope=10.0).compiled().slope == 1.0


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match="unknown loss 'hinge'; the losses are sosl, 3part, mse, po, po-open"):
        make_loss("hinge")


@pytest.mark.parametrize("name", ["sosl", "mse", "po", "po-open"])
@pytest.mark.parametrize("thresholds", [(0.7, 0.2), (0.2, 0.2), (-1.0, 0.5), (0.5, 1.0), (0.2, 1.5), (float("nan"),)])
def test_thresholds_rise_strictly_inside_the_scores(name, thresholds):
    with pytest.raises(InputError, match=f"loss '{name}': thresholds .* do not rise strictly between -1 and 1"):
        make_loss(name, thresholds)


def test_the_thresholds_are_named():
    with pytest.raises(InputError, match=r"thresholds 0\.7,0\.2 do not rise"):
        make_loss("sosl", (0.7, 0.2))


@pytest.mark.parametrize("thresholds", [(0.2, 0.7), (0.1, 0.2, 0.3, 0.4)])
def test_three_part_takes_three_thresholds(thresholds):
    with pytest.raises(InputError, match=rf"takes three thresholds such as 0\.2,0\.55,0\.9, not {len(thresholds)}"):
        make_loss("3part", thresholds)
    with pytest.raises(InputError, match="do not rise"):
        make_loss("3part", (0.2, 0.9, 0.55))


@pytest.mark.parametrize("slope", [-1.0, float("inf"), float("nan")])
def test_the_slope_is_a_positive_number(slope):
    with pytest.raises(InputError, match=r"slope .* is not a positive number"):
        make_loss("po", slope=slope)

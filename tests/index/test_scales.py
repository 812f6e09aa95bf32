"""What the scores of a language are divided by."""

from types import SimpleNamespace

import pytest

from isogloss.index.scales import divisors


def systems(**bounds):
    return {
        name: SimpleNamespace(comparable=False, best_possible=lambda _, bound=bound: bound)
        for name, bound in bounds.items()
    }


def test_one_language_keeps_its_scores():
    assert divisors("sea", systems(fr=7.0), {"fr": 0.3}) == {"fr": 1.0}


def test_languages_that_are_alike_get_shares_of_the_most_they_could_reach():
    assert divisors("sea", systems(fr=7.0, it=7.0), {}) == pytest.approx({"fr": 7.0, "it": 7.0})
    assert divisors("sea", systems(fr=7.0, it=7.0), {"fr": 0.3, "it": 0.3}) == pytest.approx({"fr": 7.0, "it": 7.0})


def test_a_language_that_could_reach_more_is_divided_by_more_but_not_by_all_of_it():
    found = divisors("sea", systems(fr=9.0, it=4.0), {})
    assert found["fr"] / found["it"] == pytest.approx(1.5)


def test_a_language_whose_best_is_usually_better_is_held_back():
    found = divisors("sea", systems(fr=4.0, it=4.0, sw=4.0), {"fr": 16.0, "it": 1.0})
    assert found["fr"] / found["it"] == pytest.approx(2.0)
    assert found["it"] < found["sw"] < found["fr"]  # of sw nothing is known


def test_a_query_that_can_reach_nothing_anywhere_divides_by_something():
    assert all(value > 0 for value in divisors("", systems(fr=1.0, it=1.0), {}).values())

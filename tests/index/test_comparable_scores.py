"""Scores that mean the same in every language are left as they are."""

from types import SimpleNamespace

from isogloss.index.scales import divisors


def _system(comparable, bound):
    return SimpleNamespace(comparable=comparable, best_possible=lambda query: bound)


def test_comparable_scores_have_no_scale():
    systems = {"fr": _system(True, 4.0), "it": _system(True, 1.0)}
    assert divisors("q", systems, {"fr": 2.0, "it": 1.0}) == {"fr": 1.0, "it": 1.0}


def test_one_that_is_not_gives_all_a_scale():
    systems = {"fr": _system(True, 4.0), "it": _system(False, 1.0)}
    found = divisors("q", systems, {})
    assert found["fr"] > found["it"]

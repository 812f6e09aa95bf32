"""Paired tests against SciPy and against exact enumeration; Holm's correction against a hand-worked case."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from isogloss.evaluation.significance import (
    compare_systems,
    holm,
    paired_t_test,
    randomisation_test,
    student_tails,
    welch_t_test,
)

probabilities = st.lists(st.floats(0, 1), max_size=12)
differences = st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 0.1, 0.5, 1.0]), min_size=1, max_size=40)


@pytest.mark.parametrize("shift", [0.0, 1e-6, 0.05, 0.5, 3.0])
@pytest.mark.parametrize("count", [2, 3, 5, 10, 100, 1234, 30_000])
def test_the_t_test_is_scipy_s(count, shift):
    rng = np.random.default_rng(count)
    for _ in range(5):
        left, right = rng.random(count) + shift, rng.random(count)
        expected = stats.ttest_rel(left, right).pvalue
        assert paired_t_test(left - right) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("degrees", [1, 2, 7, 60, 5000])
@pytest.mark.parametrize("t", [0.0, 1e-4, 0.3, 2.0, -2.0, 9.0, 35.0])
def test_the_tails_of_student_s_distribution_are_scipy_s_even_where_they_are_tiny(t, degrees):
    expected = 2 * stats.t.sf(abs(t), degrees)
    assert student_tails(t, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    assert student_tails(9.0, 5000) < 1e-18


def test_real_looking_measures_with_many_ties_agree_with_scipy():
    rng = np.random.default_rng(0)
    left, right = (1 / rng.integers(1, 20, size=800) for _ in range(2))
    right[::2] = left[::2]
    assert paired_t_test(left - right) == pytest.approx(stats.ttest_rel(left, right).pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], 1.0), ([0.0], 1.0), ([0.4], 1.0), ([0.0] * 50, 1.0), ([0.5] * 50, 0.0), ([0.5, -0.5], 1.0)],
)
def test_the_t_test_of_differences_without_spread_or_mean(values, expected):
    assert paired_t_test(np.asarray(values)) == expected


@settings(max_examples=33, deadline=None)
@given(differences, st.floats(1e-3, 1e3))
def test_both_tests_are_symmetric_and_blind_to_scale(values, scale):
    d = np.asarray(values)
    assert paired_t_test(-d) == pytest.approx(paired_t_test(d), abs=1e-12)
    assert paired_t_test(d * scale) == pytest.approx(paired_t_test(d), abs=1e-9)
    assert randomisation_test(-d, 200) == randomisation_test(d, 200) == randomisation_test(d * scale, 200)
    assert 0 <= paired_t_test(d) <= 1
    assert 1 / 201 <= randomisation_test(d, 200) <= 1


@pytest.mark.parametrize(
    "values",
    [[0.5], [0.1, 0.2], [1.0, 1.0, 1.0], [0.5, -0.25, 1 / 3, 0.1], [0.1, 0.2, 0.3, -0.6], [0.7, 0.3, -0.2, 0.5, 0.9],
     [1, 1, 1, -1, 1, 1], [0.9, 0.8, 0.95, 0.7, 0.6, 0.85, 0.9, 0.75], [0.3, 0.0, 0.1, 0.0, -0.2, 0.4, 0.0, 0.2],
     [1e-7, 2e-7, 3e-7, -1e-7]],
)  # fmt: skip
def test_the_randomisation_test_is_the_share_of_sign_flips_at_least_as_far(values):
    d = np.asarray(values, dtype=float)
    sums = [abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=len(d))]
    exact = np.mean(np.asarray(sums) >= abs(d.sum()) * (1 - 1e-9))
    rounds = 20_000
    assert randomisation_test(d, rounds) == pytest.approx(exact, abs=4 * (0.25 / rounds) ** 0.5)


def test_the_randomisation_test_is_fixed_by_its_seed_and_never_0():
    d = np.random.default_rng(1).normal(0.05, 1, 300)
    assert randomisation_test(d, seed=5) == randomisation_test(d, seed=5) != randomisation_test(d, seed=6)
    assert randomisation_test(np.ones(100), rounds=2500) == 1 / 2501
    assert randomisation_test(d) == pytest.approx(paired_t_test(d), abs=0.03)


def test_differences_that_are_all_zero_prove_nothing():
    assert randomisation_test(np.zeros(30)) == 1.0
    [comparison] = compare_systems({"a": {"MAP": np.ones(30)}, "b": {"MAP": np.ones(30)}}, ["MAP"])
    assert (comparison.wins, comparison.ties, comparison.losses, comparison.difference) == (0, 30, 0, 0.0)
    assert comparison.t_test == comparison.randomisation == comparison.t_test_holm == 1.0


def test_holm_s_correction_worked_out_by_hand():
    # sorted: .005 x 4 = .02, .01 x 3 = .03, .03 x 2 = .06, .04 x 1 = .04 but not below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.7, 0.6]) == pytest.approx([1.0, 1.0])


@settings(max_examples=33, deadline=None)
@given(probabilities)
def test_holm_s_correction_keeps_the_order_and_lies_between_none_and_bonferroni_s(values):
    corrected = holm(values)
    for before, after in zip(values, corrected, strict=True):
        assert before <= after <= min(1.0, before * len(values))
    by_before = [after for _, after in sorted(zip(values, corrected, strict=True))]
    assert by_before == sorted(corrected)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=4))
def test_holm_s_correction_does_not_depend_on_the_order(values):
    corrected = dict(zip(values, holm(values), strict=True))
    for turned in permutations(values):
        assert holm(turned) == [corrected[value] for value in turned]


def test_all_pairs_of_systems_are_compared_on_all_measures_with_wins_ties_and_losses():
    rng = np.random.default_rng(0)
    results = {
        "a": {"MAP": np.asarray([0.5, 0.5, 1.0, 0.0]), "RR": rng.random(4)},
        "b": {"MAP": np.asarray([0.5, 0.2, 0.5, 0.1]), "RR": rng.random(4)},
        "c": {"MAP": np.asarray([0.0, 0.0, 0.0, 0.0]), "RR": rng.random(4)},
    }
    found = compare_systems(results, ["MAP", "RR"], rounds=500)
    assert [(c.measure, c.left, c.right) for c in found] == [
        (measure, *pair) for measure in ("MAP", "RR") for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    first = found[0]
    assert (first.wins, first.ties, first.losses) == (2, 1, 1)
    assert first.difference == pytest.approx((0.3 + 0.5 - 0.1) / 4)
    assert first.t_test == pytest.approx(stats.ttest_rel(results["a"]["MAP"], results["b"]["MAP"]).pvalue)
    assert [c.t_test_holm for c in found] == holm([c.t_test for c in found])
    assert [c.randomisation_holm for c in found] == holm([c.randomisation for c in found])
    assert found == compare_systems(results, ["MAP", "RR"], rounds=500)


@pytest.mark.parametrize("sizes", [(3, 3), (2, 5), (40, 7)])
def test_welch_s_test_is_scipy_s(sizes):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    left, right = rng.normal(0.5, 0.1, sizes[0]), rng.normal(0.4, 0.3, sizes[1])
    expected = stats.ttest_ind(left, right, equal_var=False).pvalue
    assert welch_t_test(left, right) == pytest.approx(expected, rel=1e-9)
    assert welch_t_test(right, left) == pytest.approx(expected, rel=1e-9)


def test_welch_s_test_of_values_without_spread():
    assert welch_t_test(np.ones(3), np.ones(3)) == 1.0
    assert welch_t_test(np.ones(3), np.zeros(2)) == 0.0

"""Fitted weights and calibration: planted ones are recovered, and no others are better."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.systems.bridge.weights import (
    _PENALTY,
    _TRUST,
    Calibration,
    JudgedList,
    calibrate,
    context_of,
    fit_weights,
)

ALL = np.ones(3, bool)
NONE = np.zeros(3)
PRIOR = np.array([1.0, 0.2, 3.0])


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def planted_lists(rng, weights, queries, documents=12, top_grade=2):
    """Lists of which one document is relevant, drawn by the softmax of its score."""
    lists = []
    for _ in range(queries):
        values = rng.normal(size=(documents, len(weights))) * [1, 5, 0.2]
        scores = values @ weights
        chances = np.exp(scores - scores.max())
        grades = np.zeros(documents, np.int64)
        grades[rng.choice(documents, p=chances / chances.sum())] = top_grade
        lists.append(JudgedList(values, grades))
    return lists


def objective(weights, lists, top_grade):
    """A query's mean over its relevant documents of their log chance, added up; less the penalty of each query."""
    spread = np.concatenate([each.values for each in lists]).std(axis=0)
    penalty = _PENALTY + _TRUST / len(lists)
    total = -penalty * len(lists) * np.sum(((weights - PRIOR) * spread) ** 2)
    for values, grades in lists:
        scores = values @ weights
        logs = scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())
        total += logs[grades >= top_grade].mean()
    return total


def test_planted_weights_are_found():
    planted = np.array([2.0, -0.3, 4.0])
    found = fit_weights(planted_lists(np.random.default_rng(0), planted, 1500), 2, ALL, NONE)
    np.testing.assert_allclose(found, planted, rtol=0.1)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_no_other_weights_are_better(seed):
    rng = np.random.default_rng(seed)
    lists = planted_lists(rng, rng.normal(size=3) * [2, 0.5, 9], 15, documents=6)
    lists[0].grades[:2] = 2  # several may be relevant
    found = fit_weights(lists, 2, ALL, PRIOR)
    best = objective(found, lists, 2)
    for axis, step in enumerate([1e-3, 2e-4, 5e-3]):
        aside = np.eye(3)[axis] * step
        there, here = objective(found + aside, lists, 2), objective(found - aside, lists, 2)
        assert best >= max(there, here)
        assert there - here == pytest.approx(0, abs=1e-5)
    for _ in range(10):
        assert best > objective(found + rng.normal(size=3) * [0.5, 0.1, 2], lists, 2)


def test_weights_stay_finite_where_a_feature_tells_all():
    values = np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]])
    found = fit_weights([JudgedList(values, np.array([2, 0, 0]))] * 5, 2, ALL, PRIOR)
    assert 1 < found[0] < 1000
    assert found[1:].tolist() == [0, 0]  # what is the same everywhere tells nothing


def test_features_that_are_not_used_weigh_nothing():
    lists = planted_lists(np.random.default_rng(1), np.array([1.0, 1.0, 1.0]), 50)
    found = fit_weights(lists, 2, np.array([True, False, True]), PRIOR)
    assert found[1] == 0
    assert np.all(found[[0, 2]] > 0)
    without = [JudgedList(each.values * [1, 0, 1], each.grades) for each in lists]
    np.testing.assert_allclose(found, fit_weights(without, 2, ALL, PRIOR), rtol=1e-9)


def test_weights_adapt_to_the_scale_of_features():
    lists = planted_lists(np.random.default_rng(2), np.array([1.0, 0.2, 3.0]), 50)
    scale = np.array([10.0, 0.01, 3.0])
    scaled = [JudgedList(each.values * scale, each.grades) for each in lists]
    found, expected = fit_weights(scaled, 2, ALL, PRIOR / scale), fit_weights(lists, 2, ALL, PRIOR)
    np.testing.assert_allclose(found * scale, expected, rtol=1e-6)


def test_few_queries_stay_near_the_prior_weights_and_many_do_not():
    planted = np.array([2.0, -0.3, 4.0])
    lists = planted_lists(np.random.default_rng(5), planted, 2000)
    far = [np.abs(fit_weights(lists[:count], 2, ALL, PRIOR) - planted).sum() for count in (1, 10, 100, 2000)]
    assert far == sorted(far, reverse=True)
    np.testing.assert_allclose(fit_weights(lists[:1], 2, ALL, PRIOR), PRIOR, atol=1)
    assert far[-1] < 0.3


def test_few_queries_give_steadier_weights_than_without_a_prior(monkeypatch):
    """Of many draws of a few queries: how far the weights lie from each other."""
    drawn = [planted_lists(np.random.default_rng(seed), PRIOR * 1.5, 5) for seed in range(30)]
    steady = np.std([fit_weights(lists, 2, ALL, PRIOR) for lists in drawn], axis=0)
    monkeypatch.setattr("isogloss.systems.bridge.weights._TRUST", 0.0)
    erratic = np.std([fit_weights(lists, 2, ALL, PRIOR) for lists in drawn], axis=0)
    assert np.all(steady < erratic / 2)


@pytest.mark.parametrize(
    "lists",
    [
        [],
        [JudgedList(np.zeros((0, 3)), np.zeros(0, np.int64))],
        [JudgedList(np.ones((3, 3)), np.array([0, 1, 0]))],
        [JudgedList(np.ones((1, 3)), np.array([2]))],
    ],
    ids=["no list", "an empty list", "partially relevant only", "nothing to choose from"],
)
def test_lists_that_tell_nothing_give_no_weights(lists):
    assert fit_weights(lists, 2, ALL, PRIOR) is None


def test_lists_that_tell_nothing_do_not_disturb_others():
    lists = planted_lists(np.random.default_rng(3), np.array([1.0, 0.2, 3.0]), 30)
    silent = JudgedList(np.full((4, 3), 99.0), np.array([0, 1, 0, 0]))
    found = fit_weights([silent, *lists], 2, ALL, PRIOR)
    np.testing.assert_array_equal(found, fit_weights(lists, 2, ALL, PRIOR))


def planted_queries(rng, slope, context, biases, queries=2500, documents=8):
    """Scores and grades of queries of which some do better than others."""
    scores = [rng.normal(rng.normal(0, 3), 1.5, documents) for _ in range(queries)]
    drawn = [rng.random(documents)[:, None] for _ in scores]
    grades = [
        (chance < sigmoid(slope * (each - context * context_of(each))[:, None] - np.asarray(biases))).sum(axis=1)
        for each, chance in zip(scores, drawn, strict=True)
    ]
    return scores, grades


def likelihood(slope, context, biases, scores, grades):
    """Of the ordinal model: the log chances that grades reach each level or do not."""
    shown = np.concatenate([each - context * context_of(each) for each in scores])
    chances = sigmoid(slope * shown[:, None] - np.asarray(biases))
    reached = np.concatenate(grades)[:, None] > np.arange(len(biases))
    return np.log(np.where(reached, chances, 1 - chances)).sum()


@pytest.mark.parametrize(
    ("slope", "context", "biases"), [(0.7, 0.6, (-0.5, 1.5)), (2.0, 0.9, (-3.0, -1.0, 1.0)), (1.0, 0.2, (1.0,))]
)
def test_a_planted_ordinal_model_is_recovered(slope, context, biases):
    scores, grades = planted_queries(np.random.default_rng(0), slope, context, biases)
    found = calibrate(scores, grades)
    assert found.slope == pytest.approx(slope, rel=0.1)
    assert found.context == pytest.approx(context, abs=0.05)
    np.testing.assert_allclose(found.thresholds, np.asarray(biases) - biases[-1], atol=0.2)
    raw = np.linspace(-5, 5, 11)
    shown = found.log_odds(raw, 0.0)
    np.testing.assert_allclose(found.scores(shown, 0.0), raw)
    np.testing.assert_allclose(found.chances(shown), sigmoid(slope * raw[:, None] - np.asarray(biases)), atol=0.05)


@pytest.mark.parametrize(("planted", "end"), [(1.5, 1.0), (-0.5, 0.0)])
def test_how_well_a_query_does_counts_from_not_at_all_to_in_full(planted, end):
    """At either end the rest is the best there is."""
    scores, grades = planted_queries(np.random.default_rng(0), 1.2, planted, (-1.0, 1.0))
    found = calibrate(scores, grades)
    assert found.context == end
    best = likelihood(found.slope, end, found.biases, scores, grades)
    for aside in np.eye(3) * 1e-3:
        for sign in (1, -1):
            slope, *biases = np.array([found.slope, *found.biases]) + sign * aside
            assert best > likelihood(slope, end, biases, scores, grades)


def test_the_best_documents_of_a_query_are_what_counts():
    """Those far below, which nobody sees, may be of any grade."""
    scores, grades = planted_queries(np.random.default_rng(1), 1.0, 0.5, (0.0, 1.0), queries=200, documents=10)
    more = [np.concatenate([np.full(40, each.min() - 50), each]) for each in scores]
    wrong = [np.concatenate([np.full(40, 2), each]) for each in grades]
    np.testing.assert_allclose(calibrate(more, wrong).thresholds, calibrate(scores, grades).thresholds, rtol=1e-6)


@given(st.lists(st.lists(st.tuples(st.integers(-500, 500), st.integers(0, 3)), max_size=12), max_size=5))
@settings(max_examples=60, deadline=None)
def test_thresholds_rise_whatever_the_grades_are(judged):
    scores = [np.array([score / 10 for score, _ in each]) for each in judged]
    found = calibrate(scores, [np.array([grade for _, grade in each], np.int64) for each in judged])
    if found is not None:
        assert found.slope > 0
        assert 0 <= found.context <= 1
        assert np.all(np.isfinite(found.thresholds))
        assert list(found.thresholds) == sorted(found.thresholds)
        assert np.all(np.diff(found.chances(np.arange(-9.0, 9.0)), axis=1) <= 1e-12)
        np.testing.assert_allclose(np.diag(found.chances(np.asarray(found.thresholds))), 0.5, atol=1e-6)


@pytest.mark.parametrize(
    ("scores", "grades"),
    [
        ([], []),
        ([[], []], [[], []]),
        ([[1.0, 2.0], [3.0]], [[0, 0], [0]]),
        ([[1.0, 2.0], [3.0]], [[2, 2], [2]]),
        ([[5.0, 5.0], [5.0, 5.0]], [[0, 2], [0, 1]]),
        ([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]], [[2, 1, 0], [2, 1, 0]]),
    ],
    ids=["no query", "nothing found", "not relevant", "relevant", "one score", "falling"],
)
def test_what_cannot_be_told_is_not(scores, grades):
    found = calibrate([np.array(each) for each in scores], [np.array(each, np.int64) for each in grades])
    assert found is None


def test_scores_that_tell_all_give_thresholds_between_them():
    found = calibrate([np.arange(9.0)], [np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])])
    assert found.context == pytest.approx(0)  # of one query nothing is known of how others do
    low, high = found.scores(np.asarray(found.thresholds), 0.0)
    assert 2 < low < 3 < 5 < high < 6


def test_chances_of_few_scores():
    chances = Calibration(2.0, 0.5, (0.0, 4.0)).chances(np.array([-4.0, 0.0]))
    np.testing.assert_allclose(chances, [[0.5, sigmoid(-4.0)], [sigmoid(4.0), 0.5]])


def test_how_well_a_query_does_is_the_sum_of_all_its_documents():
    assert context_of(np.log([1.0, 2.0, 3.0])) == pytest.approx(np.log(6))
    assert context_of(np.array([1000.0, 1000.0])) == pytest.approx(1000 + np.log(2))
    assert context_of(np.zeros(0)) == 0

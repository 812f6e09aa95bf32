"""Fitted weights and calibration: planted ones are recovered, and no others are better."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.systems.bridge.weights import (
    _DOUBTFUL,
    _PENALTY,
    _TRUST,
    Calibration,
    JudgedList,
    Weights,
    calibrate,
    context_of,
    fit_by_length,
    fit_weights,
)

ALL = np.ones(3, bool)
NONE = np.zeros(3)
PRIOR = np.array([1.0, 0.2, 3.0])
DEFAULT = Calibration(1.0, (0.5, 0.0, 0.0), (0.0,), -2.0)
ONE = Weights(np.ones(1), np.ones(1))  # the weight of a feature that is the score


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
    for values, grades, _ in lists:
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


@pytest.mark.parametrize(
    ("length", "share"), [(0, 0.0), (1, 0.0), (3, 0.0), (4, 0.2), (5.5, 0.5), (7, 0.8), (8, 1.0), (30, 1.0)]
)
def test_queries_between_short_and_long_have_a_mixture_of_weights(length, share):
    weights = Weights(np.array([1.0, 0.0, 5.0]), np.array([0.0, 2.0, 5.0]))
    np.testing.assert_allclose(weights.of(length), [share, 2 - 2 * share, 5])


def with_length(lists, words):
    return [each._replace(query=(0.0, float(np.log(words)))) for each in lists]


def test_short_and_long_queries_are_fitted_apart():
    rng, planted = np.random.default_rng(4), (np.array([2.0, -0.3, 4.0]), np.array([-1.0, 0.4, 1.0]))
    long, short = (
        with_length(planted_lists(rng, planted[0], 300), 9),
        with_length(planted_lists(rng, planted[1], 300), 2),
    )
    prior = Weights(PRIOR, PRIOR / 2)
    used = np.array([True, True, False])
    found = fit_by_length([*short, *long], 2, used, prior)
    np.testing.assert_array_equal(found.long, fit_weights(long, 2, used, prior.long))
    np.testing.assert_array_equal(found.short, fit_weights(short, 2, used, prior.short))
    alone = fit_by_length(short, 2, used, prior)
    np.testing.assert_array_equal(alone.long, prior.long * used)  # no such query tells otherwise
    np.testing.assert_array_equal(alone.short, found.short)


def test_a_query_is_calibrated_with_the_weights_of_its_length():
    lists = planted_queries(np.random.default_rng(6), 1.2, (0.6, 0.3, 0.0), (-1.0, 1.0), queries=300)
    lists = [each._replace(query=(each.query[0], float(np.log(2 if i % 2 else 9)))) for i, each in enumerate(lists)]
    scaled = [each._replace(values=each.values / (2 if each.length > 8 else 4)) for each in lists]
    found = calibrate(scaled, Weights(np.array([2.0]), np.array([4.0])), DEFAULT)
    assert found.slope == pytest.approx(calibrate(lists, ONE, DEFAULT).slope)


def judged(scores, grades, query=(0.0, 0.0)):
    return JudgedList(np.asarray(scores, float)[:, None], np.asarray(grades, np.int64), query)


def planted_queries(rng, slope, context, biases, queries=2500, documents=8):
    """Judged scores of queries of which some do better than others, some tell more, and some are longer."""
    lists = []
    for _ in range(queries):
        scores, known = rng.normal(rng.normal(0, 3), 1.5, documents), tuple(rng.normal(0, 1, 2).tolist())
        log_odds = slope * scores - np.dot(context, context_of(scores, known))
        chances = sigmoid(log_odds[:, None] - np.asarray(biases))
        lists.append(judged(scores, (rng.random(documents)[:, None] < chances).sum(axis=1), known))
    return lists


def likelihood(model, lists):
    """Of the ordinal model: the log chances that grades reach each level or do not."""
    total = 0.0
    for each in lists:
        scores = each.values[:, 0]
        chances = model.chances(model.log_odds(scores, context_of(scores, each.query)))
        reached = each.grades[:, None] > np.arange(len(model.biases))
        total += np.log(np.where(reached, chances, 1 - chances)).sum()
    return total


PLANTED = [
    (0.7, (0.4, 0.5, -0.3), (-0.5, 1.5)),
    (2.0, (1.8, 0.0, 0.4), (-3.0, -1.0, 1.0)),
    (1.0, (0.2, 0.0, 0.0), (1.0,)),
]


@pytest.mark.parametrize(("slope", "context", "biases"), PLANTED)
def test_a_planted_ordinal_model_is_recovered(slope, context, biases):
    found = calibrate(planted_queries(np.random.default_rng(0), slope, context, biases), ONE, DEFAULT)
    assert found.slope == pytest.approx(slope, rel=0.1)
    np.testing.assert_allclose(found.context, context, atol=0.1)
    np.testing.assert_allclose(np.diff(found.biases), np.diff(biases), atol=0.2)
    raw = np.linspace(-3, 3, 11)
    log_odds = found.log_odds(raw, np.array([2.0, 1.0, -1.0]))
    expected = slope * raw - np.dot(context, [2.0, 1.0, -1.0])
    np.testing.assert_allclose(found.chances(log_odds), sigmoid(expected[:, None] - np.asarray(biases)), atol=0.06)


def test_no_other_ordinal_model_is_better():
    lists = planted_queries(np.random.default_rng(0), 1.2, (0.6, 0.3, -0.3), (-1.0, 1.0), queries=400)
    found = calibrate(lists, ONE, DEFAULT)
    best = likelihood(found, lists)
    for aside in np.eye(6) * 0.1:
        for sign in (1, -1):
            slope, *rest = np.array([found.slope, *found.context, *found.biases]) + sign * aside
            other = found._replace(slope=slope, context=tuple(rest[:3]), biases=tuple(rest[3:]))
            assert best > likelihood(other, lists)


def test_few_of_the_right_first_hits_are_doubted():
    lists = planted_queries(np.random.default_rng(2), 1.2, (0.6, 0.3, -0.3), (-1.0, 1.0), queries=800)
    found = calibrate(lists, ONE, DEFAULT)
    right, wrong = [], []
    for each in lists:
        scores = each.values[:, 0]
        first = int(np.argmax(scores))
        log_odds = found.log_odds(scores, context_of(scores, each.query))[first]
        (right if each.grades[first] == 2 else wrong).append(log_odds < found.doubt)
    assert np.mean(right) == pytest.approx(_DOUBTFUL, abs=0.005)
    assert np.mean(wrong) > 0.1
    assert found.thresholds[0] == found.doubt


def test_the_best_documents_of_a_query_are_what_counts():
    """Those far below, which nobody sees, may be of any grade."""
    lists = planted_queries(np.random.default_rng(1), 1.0, (0.5, 0, 0), (0.0, 1.0), queries=200, documents=10)
    more = []
    for each in lists:
        scores = np.append(np.full(40, each.values.min() - 50), each.values)
        more.append(judged(scores, np.append(np.full(40, 2), each.grades), each.query))
    np.testing.assert_allclose(
        calibrate(more, ONE, DEFAULT).thresholds, calibrate(lists, ONE, DEFAULT).thresholds, rtol=1e-6
    )


@given(st.lists(st.lists(st.tuples(st.integers(-500, 500), st.integers(0, 3)), max_size=12), max_size=5))
@settings(max_examples=60, deadline=None)
def test_thresholds_rise_whatever_the_grades_are(drawn):
    lists = [judged([score / 10 for score, _ in each], [grade for _, grade in each]) for each in drawn]
    found = calibrate(lists, ONE, DEFAULT)
    assert found.slope > 0
    assert np.all(np.isfinite([found.slope, *found.context, *found.biases, *found.thresholds]))
    assert list(found.thresholds) == sorted(found.thresholds)
    assert len(found.thresholds) >= 2
    assert np.all(np.diff(found.chances(np.arange(-9.0, 9.0)), axis=1) <= 1e-12)


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
def test_what_cannot_be_told_is_the_default(scores, grades):
    assert calibrate([judged(*each) for each in zip(scores, grades, strict=True)], ONE, DEFAULT) is DEFAULT


def test_scores_that_tell_all_give_thresholds_between_them():
    found = calibrate([judged(np.arange(9.0), [0, 0, 0, 1, 1, 1, 2, 2, 2])], ONE, DEFAULT)
    assert found.context == pytest.approx((0, 0, 0))  # of one query nothing is known of how others do
    low, high = np.asarray(found.biases) / found.slope
    assert 2 < low < 3 < 5 < high < 6


def test_chances_of_few_scores():
    chances = Calibration(2.0, (0.5, 0.0, 0.0), (0.0, 4.0), -1.0).chances(np.array([-4.0, 0.0]))
    np.testing.assert_allclose(chances, [[0.5, sigmoid(-4.0)], [sigmoid(4.0), 0.5]])


@pytest.mark.parametrize(
    ("biases", "doubt", "expected"),
    [
        ((1.0,), -2.0, (-2, 0)),
        ((1.0,), 3.0, (3, 3)),
        ((-1.0, 1.0), -2.0, (-2, 0)),
        ((-3.0, -1.0, 1.0), -3.0, (-3, -2, 0)),
        ((-3.0, -1.0, 1.0), -1.0, (-1, -1, 0)),
    ],
)
def test_the_first_threshold_is_that_of_doubt(biases, doubt, expected):
    assert Calibration(1.0, (0.0, 0.0, 0.0), biases, doubt).thresholds == expected


def test_the_context_of_a_query_is_the_sum_of_its_documents_and_what_is_known_of_it():
    np.testing.assert_allclose(context_of(np.log([1.0, 2.0, 3.0]), (0.5, 2.0)), [np.log(6), 0.5, 2])
    np.testing.assert_allclose(context_of(np.array([1000.0, 1000.0]), (0, 0)), [1000 + np.log(2), 0, 0])
    assert context_of(np.zeros(0), (0, 0)).tolist() == [0, 0, 0]

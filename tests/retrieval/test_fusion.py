"""Two rankings as one: shares of scores and of ranks, and the weight that suits best."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval.fusion import FUSIONS, Shared, best_weight, rank_shares, spread, spread_shares
from isogloss.retrieval.ranking import Ranking


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 30), unique=True, max_size=12), st.lists(st.integers(0, 30), max_size=12))
def test_a_rank_is_worth_its_reciprocal(listed, wanted):
    found = Ranking(np.array(listed, np.int64), np.arange(len(listed), 0, -1.0))
    shares = rank_shares(found, np.array(wanted, np.int64), np.zeros(len(wanted)))
    expected = [listed.index(row) + 1 if row in listed else len(listed) + 1 for row in wanted]
    assert (1 / shares).tolist() == pytest.approx([60 + rank for rank in expected])


scores = st.lists(st.integers(-1000, 1000), min_size=1, max_size=20)


@settings(max_examples=40, deadline=None)
@given(scores, st.floats(0.01, 100))
def test_shares_of_scores_do_not_depend_on_their_scale(values, factor):
    found = np.array(values, np.float64)
    rows = np.arange(len(found))
    shares = spread_shares(Ranking(rows, found), rows, found)
    again = spread_shares(Ranking(rows, factor * found), rows, factor * found)
    np.testing.assert_allclose(shares, again, rtol=1e-6, atol=1e-6)
    assert (np.sign(shares) == np.sign(found)).all()


def test_a_spread_is_never_nothing():
    assert spread(np.zeros(0)) == 1.0
    assert spread(np.zeros(3)) == 1.0
    assert spread(np.array([-2.0, -2.0])) == 2.0
    assert spread(np.array([0.0, 2.0])) == 1.0


def test_no_document_has_more_than_the_bound():
    found = Ranking(np.array([3, 1]), np.array([4.0, 2.0]))
    for fusion in FUSIONS.values():
        assert fusion.shares(found, found.rows, found.scores).max() <= fusion.bound(found, 4.0) + 1e-12


def query(first, second, relevant):
    return Shared(np.array(first), np.array(second), np.arange(len(first)), np.array(relevant, bool))


def test_the_weight_is_that_of_the_side_that_knows():
    first_knows = query([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1, 0, 0])
    second_knows = query([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0, 1, 0])
    assert best_weight([first_knows]) == 0.5
    assert best_weight([second_knows]) == 0.0
    assert best_weight([second_knows, second_knows, first_knows]) < 0.5
    assert best_weight([query([0.0, 1.0], [0.9, 1.0], [1, 0])]) == 0.0  # it helps nothing: the least


def test_ties_go_by_id_when_weights_are_compared():
    assert best_weight([query([0.0, 1.0], [1.0, 1.0], [0, 1])]) == 0.1

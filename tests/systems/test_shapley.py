"""Shapley's shares: they add up, treat equals alike, and are those of the definition."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.systems.shapley import shapley_shares


def game(players, seed):
    """A value for every group, drawn at random."""
    values = np.random.default_rng(seed).normal(size=2**players)
    return lambda groups: values[groups @ 2 ** np.arange(players)]


@given(players=st.integers(1, 9), most=st.sampled_from([1, 16, 64, 2000]), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_shares_add_up_however_few_groups_are_valued(players, most, seed):
    value = game(players, seed)
    shares = shapley_shares(players, value, most)
    both = np.asarray([[True] * players, [False] * players])
    whole, nothing = value(both)
    assert shares.sum() == pytest.approx(whole - nothing)


@pytest.mark.parametrize("players", [1, 2, 4])
def test_shares_of_few_players_are_those_of_all_orders(players):
    value = game(players, 3)
    wanted = np.zeros(players)
    orders = list(permutations(range(players)))
    for order in orders:
        group = np.zeros((1, players), dtype=bool)
        for player in order:
            before = value(group)[0]
            group[0, player] = True
            wanted[player] += (value(group)[0] - before) / len(orders)
    assert shapley_shares(players, value) == pytest.approx(wanted)


def test_what_is_made_by_players_and_pairs_is_shared_exactly_by_few_orders():
    rng = np.random.default_rng(0)
    alone, pairs = rng.normal(size=20), np.triu(rng.normal(size=(20, 20)), 1)

    def value(groups):
        return groups @ alone + np.einsum("gi,ij,gj->g", groups * 1.0, pairs, groups * 1.0)

    wanted = alone + (pairs.sum(axis=0) + pairs.sum(axis=1)) / 2
    assert shapley_shares(20, value, most=40) == pytest.approx(wanted)


def test_few_groups_are_valued_and_the_same_ones_each_time():
    seen = []

    def value(groups):
        seen.append(groups.tolist())
        return groups.sum(axis=1)

    assert shapley_shares(10, value, most=64).tolist() == shapley_shares(10, value, most=64).tolist() == [1.0] * 10
    assert len(seen[0]) <= 2 * 64
    assert seen[0] == seen[1]


def test_nobody_has_nothing():
    assert shapley_shares(0, lambda groups: groups.sum(axis=1)).tolist() == []

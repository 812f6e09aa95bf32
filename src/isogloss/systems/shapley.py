"""Shares of players in the value that they make together, whatever makes it.

Shapley's shares (1953):

    v(N) - v({}) = sum_i s_i,   s_i = mean over all orders of the players of  v(those up to i) - v(those before i)

Along any single order the differences already add up to v(N) - v({}), so the shares do so whichever orders they are the
mean of. With few players all subsets are evaluated; with many some orders are drawn, each together with its reverse,
which removes the error of whatever is made by pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Groups = NDArray[np.bool_]
Value = Callable[[Groups], Doubles]
"""Groups of players, a row each, to what each group makes."""


def shapley_shares(players: int, value: Value, most: int = 128, seed: int = 0) -> Doubles:
    """The share of each player, by about ``most`` values, or twice as many as there are players where that is more.

    >>> shapley_shares(3, lambda groups: np.where(groups[:, 0] & groups[:, 1], 6.0, 0.0) + groups[:, 2])
    array([3., 3., 1.])
    """
    if not players:
        return np.zeros(0)
    if players < most.bit_length():
        return _exact(players, value)
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(players) for _ in range(max(1, most // (2 * players)))]
    orders = np.asarray([order for each in drawn for order in (each, each[::-1])])
    groups = np.argsort(orders)[:, None, :] < np.arange(players + 1)[:, None]
    different, which = np.unique(groups.reshape(-1, players), axis=0, return_inverse=True)
    values = np.asarray(value(different), dtype=np.float64)[which.ravel()].reshape(len(orders), players + 1)
    shares = np.zeros(players)
    np.add.at(shares, orders, np.diff(values, axis=1))
    return shares / len(orders)


def _exact(players: int, value: Value) -> Doubles:
    """Over all subsets S without i:  s_i = sum_S (v(S and i) - v(S)) / (n binomial(n - 1, |S|))."""
    groups = (np.arange(2**players)[:, None] >> np.arange(players)) % 2 == 1
    values = np.asarray(value(groups), dtype=np.float64)
    shares = np.empty(players)
    for player in range(players):
        without = np.flatnonzero(~groups[:, player])
        weights = [players * comb(players - 1, size) for size in groups[without].sum(axis=1).tolist()]
        shares[player] = ((values[without + 2**player] - values[without]) / weights).sum()
    return shares

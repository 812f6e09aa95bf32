"""The spatial GRU along anti-diagonals is the one cell by cell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.matchers.match_srnn import SpatialGru

CHANNELS, HIDDEN = 3, 4


def made(seed=0):
    torch.manual_seed(seed)
    return SpatialGru(CHANNELS, HIDDEN).double()


def cell(gru, left, top, diagonal, given):
    """The equations of the paper, for one cell."""
    before = torch.cat([left, top, diagonal])
    reset_left, reset_top, reset_diagonal, *shares = gru.gates(torch.cat([before, given])).split(HIDDEN)
    resets = torch.cat([reset_left, reset_top, reset_diagonal]).sigmoid()
    new = gru.candidate(torch.cat([resets * before, given])).tanh()
    z_left, z_top, z_diagonal, z_new = torch.stack(shares).softmax(dim=0)
    return z_left * left + z_top * top + z_diagonal * diagonal + z_new * new


def by_cells(gru, grid):
    """The state of the last cell, in a plain loop."""
    zero = torch.zeros(HIDDEN, dtype=torch.float64)
    states = {}
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            neighbours = [states.get(place, zero) for place in ((i, j - 1), (i - 1, j), (i - 1, j - 1))]
            states[i, j] = cell(gru, *neighbours, grid[i, j])
    return states.get((grid.shape[0] - 1, grid.shape[1] - 1), zero)


def test_a_grid_of_two_by_two_is_the_plain_loop_forward_and_backward():
    gru = made()
    grid = torch.randn(1, 2, 2, CHANNELS, dtype=torch.float64, requires_grad=True)
    weights = torch.arange(1.0, HIDDEN + 1, dtype=torch.float64)
    state = gru(grid, torch.tensor([2]), torch.tensor([2]))[0]
    expected = by_cells(gru, grid[0])
    torch.testing.assert_close(state, expected)
    wanted = [grid, *gru.parameters()]
    found = torch.autograd.grad((state * weights).sum(), wanted)
    for one, other in zip(found, torch.autograd.grad((expected * weights).sum(), wanted), strict=True):
        torch.testing.assert_close(one, other)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(1, 7), st.data())
def test_ragged_grids_are_the_plain_loop(height, width, data):
    sizes = st.tuples(st.integers(0, height), st.integers(0, width))
    own = data.draw(st.lists(sizes, min_size=1, max_size=4))
    gru = made(1)
    grid = torch.randn(len(own), height, width, CHANNELS, dtype=torch.float64)
    rows, columns = torch.tensor(own).T
    expected = torch.stack([by_cells(gru, each[:m, :n]) for each, (m, n) in zip(grid, own, strict=True)])
    torch.testing.assert_close(gru(grid, rows, columns), expected)


def test_nothing_is_learned_from_what_lies_beyond_a_grid():
    gru = made()
    grid = torch.randn(2, 4, 5, CHANNELS, dtype=torch.float64, requires_grad=True)
    gru(grid, torch.tensor([2, 0]), torch.tensor([3, 5])).sum().backward()
    inside = torch.zeros(2, 4, 5, dtype=torch.bool)
    inside[0, :2, :3] = True
    assert (grid.grad[inside] != 0).all()
    assert (grid.grad[~inside] == 0).all()

"""Match-SRNN (Wan et al. 2016): the two texts as a grid of word pairs, read in two dimensions."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from isogloss.papers.layerwise.matchers.layers import TensorLayer, full_layer
from isogloss.papers.layerwise.matchers.scorer import Scorer, WordTables
from isogloss.papers.towers import Texts, start_glorot


class _Diagonal(NamedTuple):
    """The states of the grid's rows from ``first`` on, with a row of zeros before them and one after them."""

    first: int
    states: Tensor

    def rows(self, first: int, end: int) -> Tensor:
        """The states of some rows of the grid."""
        return self.states[:, first - self.first + 1 : end - self.first + 1]


class SpatialGru(nn.Module):
    r"""A gated recurrent unit over a grid: the state of a cell comes from its input and three neighbours before it.

        [r_l; r_t; r_d] = sigma(W_r [h_l; h_t; h_d; s] + b_r)
        [z_l; z_t; z_d; z_i] = softmax over the four of  W_z [h_l; h_t; h_d; s] + b_z,  unit by unit
        h' = tanh(W s + U [r_l * h_l; r_t * h_t; r_d * h_d] + b)
        h = z_l * h_l + z_t * h_t + z_d * h_d + z_i * h'

    with h_l = h(i, j - 1) on the left, h_t = h(i - 1, j) on top, h_d = h(i - 1, j - 1), zero outside the grid. Cells
    with the same i + j do not need each other: an m x n grid takes m + n - 1 steps, not m n.
    """

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.gates = nn.Linear(3 * hidden + channels, 7 * hidden)
        self.candidate = nn.Linear(3 * hidden + channels, hidden)
        for layer in (self.gates, self.candidate):
            start_glorot(layer)

    def forward(self, grid: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """The state of each grid's last cell; ``[grids, m, n, channels]``, of which its own are ``rows`` x ``columns``.

        What lies beyond a grid's own rows and columns comes after its last cell, and is never seen by it.
        """
        height, width = grid.shape[1:3]
        inputs, diagonals = _sheared(grid).unbind(dim=2), []
        nothing = _Diagonal(0, grid.new_zeros(len(grid), 2, self.hidden))
        before, last = nothing, nothing
        for number in range(height + width - 1):
            first, end = max(0, number - width + 1), min(height, number + 1)
            neighbours = last.rows(first, end), last.rows(first - 1, end - 1), before.rows(first - 1, end - 1)
            diagonals.append(self._cells(torch.cat(neighbours, dim=-1), inputs[number][:, first:end]))
            before, last = last, _Diagonal(first, nn.functional.pad(diagonals[-1], (0, 0, 1, 1)))
        return _last_cells(torch.cat(diagonals, dim=1), height, width, rows, columns)

    def _cells(self, states: Tensor, inputs: Tensor) -> Tensor:
        """The states of some cells, ``states`` being those of their neighbours one after the other."""
        gates = self.gates(torch.cat([states, inputs], dim=-1))
        resets, shares = gates.split([3 * self.hidden, 4 * self.hidden], dim=-1)
        new = self.candidate(torch.cat([resets.sigmoid() * states, inputs], dim=-1)).tanh()
        four = (*shares.shape[:-1], 4, self.hidden)
        mixed: Tensor = shares.view(four).softmax(dim=-2) * torch.cat([states, new], dim=-1).view(four)
        return mixed.sum(dim=-2)


def _sheared(grid: Tensor) -> Tensor:
    """Each row shifted by its number, so that anti-diagonals become columns: ``[grids, m, m + n - 1, channels]``."""
    grids, height, width, channels = grid.shape
    padded = nn.functional.pad(grid, (0, 0, 0, height)).reshape(grids, -1, channels)
    return padded[:, : height * (height + width - 1)].view(grids, height, height + width - 1, channels)


def _last_cells(states: Tensor, height: int, width: int, rows: Tensor, columns: Tensor) -> Tensor:
    """Of all cells by anti-diagonals, the one in row ``rows - 1`` and column ``columns - 1``; zero if there is none."""
    numbers = torch.arange(height + width - 1, device=states.device)
    firsts = (numbers - width + 1).clamp(min=0)
    sizes = (numbers + 1).clamp(max=height) - firsts
    begins = sizes.cumsum(0) - sizes - firsts
    cells = (begins[(rows + columns - 2).clamp(min=0)] + rows - 1).clamp(min=0)
    found = states.gather(1, cells[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)
    return found.masked_fill(((rows == 0) | (columns == 0))[:, None], 0)


class MatchSrnn(Scorer):
    r"""M(q, d) = w.h(m, n) + b,  h(m, n) the state of the last cell of a spatial GRU over the grid of word pairs.

        s_ij = max(0, u_i^T T^[1:c] v_j + W [u_i; v_j] + b),  u_i and v_j the words' vectors

    In both directions (the paper's Bi-Match-SRNN) a second GRU reads the grid from its
    last cell to its first, and w sees both last states.
    """

    def __init__(self, tables: WordTables, channels: int, hidden: int, both_directions: bool = False) -> None:
        super().__init__()
        self.tables = tables
        self.tensor = TensorLayer(tables.dimension, tables.dimension, channels)
        self.readers = nn.ModuleList(SpatialGru(channels, hidden) for _ in range(1 + both_directions))
        self.score = full_layer(hidden * len(self.readers), 1)

    def forward(self, queries: Texts, documents: Texts) -> Tensor:
        rows, columns = queries.lengths, documents.lengths
        grid = self.tensor.grid(self.tables.queries(queries), self.tables.documents(documents)).relu()
        grids = [grid] + [_turned(grid, rows, columns)] * (len(self.readers) - 1)
        states = [reader(each, rows, columns) for reader, each in zip(self.readers, grids, strict=True)]
        scores: Tensor = self.score(torch.cat(states, dim=1)).squeeze(1)
        return scores


def _turned(grid: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Each grid's own rows and columns in the opposite order."""
    height, width = grid.shape[1:3]
    row, column = (
        (lengths[:, None] - 1 - torch.arange(size, device=grid.device)).clamp(min=0)
        for lengths, size in ((rows, height), (columns, width))
    )
    cells = (row[:, :, None] * width + column[:, None]).flatten(1)
    flat = grid.flatten(1, 2)
    return flat.gather(1, cells[:, :, None].expand_as(flat)).view_as(grid)

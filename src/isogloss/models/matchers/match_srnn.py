"""Match-SRNN (Wan et al. 2016): the two texts as a grid of word pairs, read in two dimensions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from isogloss.models.matchers.full_layers import full_layer
from isogloss.models.matchers.scorer import Scorer, Texts
from isogloss.models.matchers.spatial_gru import SpatialGru
from isogloss.models.matchers.tensor_layer import TensorLayer
from isogloss.models.matchers.word_tables import WordTables


class MatchSrnn(Scorer):
    r"""M(q, d) = w.h(m, n) + b,  h(m, n) the state of the last cell of a spatial GRU over the grid of word pairs.

        s_ij = max(0, u_i^T T^[1:c] v_j + W [u_i; v_j] + b),  u_i and v_j the words' vectors

    For the GRU see ``spatial_gru``. In both directions (the paper's Bi-Match-SRNN) a second GRU reads the grid from its
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
    places = (row[:, :, None] * width + column[:, None]).flatten(1)
    flat = grid.flatten(1, 2)
    return flat.gather(1, places[:, :, None].expand_as(flat)).view_as(grid)

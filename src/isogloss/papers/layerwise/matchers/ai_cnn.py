"""AI-CNN, the attentive interactive network over convolutions (Zhang et al. 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from isogloss.papers.layerwise.matchers.layers import TensorLayer, WideConvolution, full_layer, voting_layer
from isogloss.papers.layerwise.matchers.scorer import Scorer, WordTables
from isogloss.papers.towers import Texts


class Attention(nn.Module):
    r"""a_i = softmax over i of  w.tanh(W r_i + b): how much each segment of a text counts."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner, self.outer = full_layer(size, size), full_layer(size, 1)

    def forward(self, segments: Tensor, lengths: Tensor) -> Tensor:
        """Of ``[texts, segments, size]``, the weights of each text's own: they add up to 1, or are 0 if it has none."""
        outside = torch.arange(segments.shape[1], device=segments.device) >= lengths[:, None]
        weights: Tensor = self.outer(self.inner(segments).tanh()).squeeze(-1).masked_fill(outside, -torch.inf)
        weights = weights.masked_fill((lengths == 0)[:, None], 0)  # the softmax of nothing is not a number
        return weights.softmax(dim=1).masked_fill(outside, 0)


class AiCnn(Scorer):
    r"""Segments of both texts by convolution; how each pair of them goes together; which of them count.

        t_ij = tanh(q_i^T M^[1:r] a_j + V [q_i; a_j] + b),  q_i and a_j the segments (tanh of a wide convolution)
        r_i = max_j t_ij,  c_j = max_i t_ij  (pooling by rows and by columns)
        v_q = sum_i alpha_i r_i,  v_a = sum_j beta_j c_j  (attention),  score = w.[v_q; v_a] + b

    The paper's interaction of two segments is read as a tensor layer: with a sum of both or with their product, element
    by element, the maximum over j would fall apart into one of q_i and one of all a_j, and no pair would count. w
    starts as ones: each interaction adds to the score.
    """

    def __init__(self, tables: WordTables, filters: int, window: int, slices: int, shared: bool = True) -> None:
        super().__init__()
        self.tables = tables
        self.query_segments = WideConvolution(tables.dimension, filters, window)
        self.document_segments = self.query_segments if shared else WideConvolution(tables.dimension, filters, window)
        self.tensor = TensorLayer(filters, filters, slices)
        self.query_attention, self.document_attention = Attention(slices), Attention(slices)
        self.score = voting_layer(2 * slices)

    def forward(self, queries: Texts, documents: Texts) -> Tensor:
        left, rows = self.query_segments(self.tables.queries(queries).transpose(1, 2), queries.lengths)
        right, columns = self.document_segments(self.tables.documents(documents).transpose(1, 2), documents.lengths)
        grid = self.tensor.grid(left.tanh().transpose(1, 2), right.tanh().transpose(1, 2)).tanh()
        by_rows = _largest(grid, columns, dim=2)
        by_columns = _largest(grid, rows, dim=1)
        both = [
            (attention(pooled, lengths)[:, :, None] * pooled).sum(dim=1)
            for attention, pooled, lengths in (
                (self.query_attention, by_rows, rows),
                (self.document_attention, by_columns, columns),
            )
        ]
        scores: Tensor = self.score(torch.cat(both, dim=1)).squeeze(1)
        return scores


def _largest(grid: Tensor, lengths: Tensor, dim: int) -> Tensor:
    """The maximum along one side of the grid, of its first ``lengths`` only; 0 where there are none."""
    outside = torch.arange(grid.shape[dim], device=grid.device) >= lengths[:, None]
    outside = outside[:, None, :, None] if dim == 2 else outside[:, :, None, None]
    largest = grid.masked_fill(outside, -1.0).max(dim=dim).values  # tanh is above -1
    return largest.masked_fill((lengths == 0)[:, None, None], 0)

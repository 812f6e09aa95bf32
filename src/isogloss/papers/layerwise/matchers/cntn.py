"""CNTN, the convolutional neural tensor network (Qiu and Huang 2015)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from isogloss.papers.layerwise.matchers.layers import (
    TensorLayer,
    WideConvolution,
    full_layer,
    keep_largest,
    voting_layer,
)
from isogloss.papers.layerwise.matchers.scorer import VectorScorer, WordTables
from isogloss.papers.towers import Texts, zero_where_empty


class DynamicCnn(nn.Module):
    r"""Texts to vectors as Kalchbrenner et al. (2014) do: wide convolutions, of which the k largest values are kept.

        k_l = max(k_top, ceil(length (L - l) / L)) in layer l of L;  tanh after each;  a full layer over the last k_top

    A filter sees all dimensions of the layer below, so there is nothing to fold.
    """

    def __init__(self, dimension: int, filters: int, window: int, layers: int, top: int, outputs: int) -> None:
        super().__init__()
        self.top = top
        sizes = [dimension] + [filters] * (layers - 1)
        self.convolutions = nn.ModuleList(WideConvolution(size, filters, window) for size in sizes)
        self.full = full_layer(top * filters, outputs)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """One row a text of ``[texts, length, dimension]``; zero where it has no words."""
        longest, number, left = vectors.shape[1], len(self.convolutions), lengths
        columns = vectors.transpose(1, 2)
        for layer, convolution in enumerate(self.convolutions, start=1):
            features, windows = convolution(columns, left)
            wanted = _rounded_up(lengths * (number - layer), number).clamp(min=self.top)
            most = max(self.top, -(-longest * (number - layer) // number))
            features, left = keep_largest(features, windows, wanted, most)
            columns = features.tanh()
        return zero_where_empty(self.full(columns.flatten(1)).tanh(), lengths)


class Cntn(VectorScorer):
    r"""s(q, a) = u^T tanh(v_q^T M^[1:r] v_a + V [v_q; v_a] + b),  v the vectors of a convolutional network.

    u starts as ones, since each slice of the tensor starts as the inner product, over the square root of the dimension:
    tanh of more could be so near 1 for all texts that nothing is learned.
    """

    def __init__(
        self,
        tables: WordTables,
        filters: int,
        window: int,
        layers: int,
        top: int,
        outputs: int,
        slices: int,
        shared: bool = True,
    ) -> None:
        super().__init__()
        sizes = (tables.dimension, filters, window, layers, top, outputs)
        self.tables = tables
        self.query_tower = DynamicCnn(*sizes)
        self.document_tower = self.query_tower if shared else DynamicCnn(*sizes)
        self.tensor = TensorLayer(outputs, outputs, slices, outputs**-0.5)
        self.score = voting_layer(slices)

    def encode_queries(self, queries: Texts) -> Tensor:
        vectors: Tensor = self.query_tower(self.tables.queries(queries), queries.lengths)
        return vectors

    def encode_documents(self, documents: Texts) -> Tensor:
        vectors: Tensor = self.document_tower(self.tables.documents(documents), documents.lengths)
        return vectors

    def match(self, queries: Tensor, documents: Tensor) -> Tensor:
        scores: Tensor = self.score(self.tensor.pairs(queries, documents).tanh()).squeeze(1)
        return scores


def _rounded_up(numbers: Tensor, divisor: int) -> Tensor:
    return torch.div(numbers + divisor - 1, divisor, rounding_mode="floor")

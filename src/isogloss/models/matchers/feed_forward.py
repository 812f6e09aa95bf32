"""The scorer NN_s of the layer-wise paper: a small network that looks at two vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class VectorPairNetwork(nn.Module):
    """s(u, v) = w . relu(W [u; v; |u - v|; u * v] + b) + c.

    The paper says "a feed-forward neural network" and no more; the differences and products are what lets so small a
    network see how alike two vectors are.
    """

    def __init__(self, inputs: int, hidden: int = 128) -> None:
        super().__init__()
        self.hidden, self.output = nn.Linear(4 * inputs, hidden), nn.Linear(hidden, 1)
        for layer in (self.hidden, self.output):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, queries: Tensor, documents: Tensor) -> Tensor:
        """The score of each row of ``queries`` with the same row of ``documents``."""
        seen = torch.cat([queries, documents, (queries - documents).abs(), queries * documents], dim=1)
        scores: Tensor = self.output(self.hidden(seen).relu())
        return scores[:, 0]

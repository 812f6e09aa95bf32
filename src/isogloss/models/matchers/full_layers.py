"""Full layers one after the other, as all these matchers have somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn


def full_layer(inputs: int, outputs: int) -> nn.Linear:
    """A full layer that starts as Glorot and Bengio (2010) have it, with no bias."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def voting_layer(inputs: int) -> nn.Linear:
    """A full layer with one output that starts as the sum of its inputs."""
    layer = nn.Linear(inputs, 1)
    nn.init.ones_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class FeedForward(nn.Module):
    """x -> tanh(W x + b), once a layer; ``sizes`` are those of the input and of each layer."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(full_layer(*both) for both in pairwise(sizes))

    def forward(self, vectors: Tensor) -> Tensor:
        """One row for each."""
        for layer in self.layers:
            vectors = layer(vectors).tanh()
        return vectors

"""Layers that several matchers share: full layers, the neural tensor layer, wide convolution, k-max pooling."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from isogloss.papers.towers import start_glorot

_NOISE = 0.1


def full_layer(inputs: int, outputs: int) -> nn.Linear:
    """A full layer that starts as Glorot and Bengio (2010) have it."""
    return start_glorot(nn.Linear(inputs, outputs))


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


class TensorLayer(nn.Module):
    r"""t(u, v) = u^T M^[1:r] v + V [u; v] + b, one number a slice (Socher et al. 2013).

    Each slice starts as ``scale`` times the identity, with some noise, the rest at zero: as an inner product. The
    papers are silent on that; a random form does not tell two equal vectors from two different ones, which is what a
    matcher has to do (``ai-cnn`` on 1,734 pairs of Chinese questions and answers, 6 epochs: MAP .21 from a
    random V, .57 this way).
    """

    def __init__(self, left: int, right: int, slices: int, scale: float = 1.0) -> None:
        super().__init__()
        noise = _NOISE * torch.randn(slices, left, right) / max(left, right) ** 0.5
        self.slices = nn.Parameter(scale * (torch.eye(left, right) + noise))
        self.left, self.right = nn.Linear(left, slices), nn.Linear(right, slices, bias=False)
        for layer in (self.left, self.right):
            nn.init.zeros_(layer.weight)
        nn.init.zeros_(self.left.bias)

    def pairs(self, left: Tensor, right: Tensor) -> Tensor:
        """Row ``i`` of the one with row ``i`` of the other: ``[rows, slices]``."""
        return self.grid(left[:, None], right[:, None])[:, 0, 0]

    def grid(self, left: Tensor, right: Tensor) -> Tensor:
        """Every row of ``[texts, m, left]`` with every row of ``[texts, n, right]``: ``[texts, m, n, slices]``."""
        texts, rows, _ = left.shape
        number = len(self.slices)
        bent = torch.einsum("bml,slr->bmsr", left, self.slices).reshape(texts, rows * number, -1)
        forms = torch.bmm(bent, right.transpose(1, 2)).view(texts, rows, number, right.shape[1]).transpose(2, 3)
        whole: Tensor = forms + self.left(left)[:, :, None] + self.right(right)[:, None]
        return whole


class WideConvolution(nn.Module):
    """c_i = W [x_i; ...; x_i+n-1] + b for all l + n - 1 windows that touch the text; zeros lie around it."""

    def __init__(self, inputs: int, filters: int, window: int) -> None:
        super().__init__()
        self.window = window
        self.convolution = start_glorot(nn.Conv1d(inputs, filters, window, padding=window - 1))

    def forward(self, columns: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The windows of ``[texts, inputs, length]``, zero beyond each text, and how many each has; 0 for no words."""
        return self.convolution(columns), torch.where(lengths > 0, lengths + self.window - 1, 0)


def keep_largest(features: Tensor, lengths: Tensor, numbers: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """k-max pooling: of each feature the ``numbers[i]`` largest values of text ``i``, in the order they have there.

    Of ``[texts, features, places]`` it makes ``[texts, features, most]``, and how many of each there are: fewer than
    ``numbers`` if the text has fewer. Zero beyond that. No number may be above ``most``.
    """
    size = features.shape[2]
    places = torch.arange(max(most, size), device=features.device)
    outside = (places[:size] >= lengths[:, None])[:, None]
    by_size = features.masked_fill(outside, -torch.inf).sort(dim=2, descending=True, stable=True).indices[:, :, :most]
    left_out = (places[: by_size.shape[2]] >= numbers[:, None])[:, None]
    chosen = by_size.masked_fill(left_out, size).sort(dim=2).values
    kept = nn.functional.pad(features.gather(2, chosen.clamp(max=size - 1)), (0, most - chosen.shape[2]))
    number = torch.minimum(numbers, lengths)
    return kept.masked_fill((places[:most] >= number[:, None])[:, None], 0), number

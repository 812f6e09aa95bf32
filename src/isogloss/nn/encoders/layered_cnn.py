"""The encoder of the layer-wise paper (section 3.2): m layers of wide convolution and pooling, a vector at each.

    C_n = tanh(W_n M + b_n)           wide convolution, kernels of width n: a text of l columns gives l + n - 1
    M'  = POOL(C_2) + POOL(C_3) + …   one map above the other: the input of the next layer
    f^j = max(C_2) + max(C_3) + …     the vector of layer j; that of the last layer stands for the text

POOL is k-max (the k largest of each row, in the order of the text: Kalchbrenner et al. 2014; a text with fewer columns
is filled up with zeros) or the average of n neighbouring columns, which gives back l (Yin et al. 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from isogloss.nn.encoders.towers import beyond, start_glorot, zero_where_empty
from isogloss.storage.errors import InputError

POOLINGS = ("k-max", "average")


class Layer(NamedTuple):
    """What a layer makes of some texts: ``vectors[text, kernel]`` is f^j, ``map[text, kernel, column]`` is M'.

    The last layer has no map.
    """

    vectors: Tensor
    map: Tensor | None


class _Convolutions(nn.Module):
    """Wide convolutions of several widths side by side, before tanh."""

    def __init__(self, rows: int, kernels: int, widths: Sequence[int]) -> None:
        super().__init__()
        made = [nn.Conv1d(rows, kernels, width, padding=width - 1) for width in widths]
        self.by_width = nn.ModuleList(map(start_glorot, made))

    def forward(self, columns: Tensor) -> list[Tensor]:
        """A map for each width, ``[texts, kernels, columns + width - 1]``."""
        return [convolution(columns) for convolution in self.by_width]


class LayeredCnn(nn.Module):
    """The layers. Empty columns of a batch leave no trace: a text has the same vectors alone and among others.

    tanh rises, so it is the same before a maximum and after it, where there are fewer numbers.
    """

    def __init__(
        self,
        dimension: int,
        layers: int = 2,
        widths: Sequence[int] = (2, 3, 4, 5),
        kernels: int = 100,
        k: int = 8,
        pooling: str = "k-max",
    ) -> None:
        super().__init__()
        if pooling not in POOLINGS:
            raise InputError(f"pooling: {pooling!r} is not one of {', '.join(POOLINGS)}")
        self.widths, self.kernels, self.k, self.pooling = tuple(widths), kernels, k, pooling
        self.outputs = kernels * len(self.widths)
        inputs = [dimension] + [self.outputs] * (layers - 1)
        self.layers = nn.ModuleList(_Convolutions(rows, kernels, self.widths) for rows in inputs)

    def forward(self, vectors: Tensor, lengths: Tensor) -> list[Layer]:
        """Every layer of texts ``[texts, length, dimension]``, zero beyond each; zero where a text has no words."""
        columns, counts = vectors.transpose(1, 2), lengths
        made: list[Layer] = []
        for number, layer in enumerate(self.layers, 1):
            maps = layer(columns)
            largest = zero_where_empty(self._largest(maps, counts).tanh(), lengths)
            if number == len(self.layers):
                made.append(Layer(largest, None))
                break
            columns = self._pooled(maps, counts).masked_fill((lengths == 0)[:, None, None], 0)
            counts = torch.full_like(counts, self.k) if self.pooling == "k-max" else counts
            made.append(Layer(largest, columns))
        return made

    def _largest(self, maps: Sequence[Tensor], counts: Tensor) -> Tensor:
        """The largest number of each row, wherever it is in the text."""
        return torch.cat([_inside(*each).max(dim=2).values for each in self._with_columns(maps, counts)], dim=1)

    def _pooled(self, maps: Sequence[Tensor], counts: Tensor) -> Tensor:
        if self.pooling == "k-max":
            return torch.cat([k_max(*each, self.k) for each in self._with_columns(maps, counts)], dim=1)
        means = [
            nn.functional.avg_pool1d(each.tanh(), width, stride=1)
            for each, width in zip(maps, self.widths, strict=True)
        ]
        return torch.cat(means, dim=1).masked_fill(beyond(means[0][:, 0], counts)[:, None], 0)

    def _with_columns(self, maps: Sequence[Tensor], counts: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Each map and how many columns each text has in it."""
        return [(each, counts + width - 1) for each, width in zip(maps, self.widths, strict=True)]


def k_max(values: Tensor, counts: Tensor, k: int) -> Tensor:
    """The ``k`` largest of the first ``counts[text]`` numbers of each row, in their order, then zeros; tanh of them.

    >>> values = torch.tensor([[[0.0, 3.0, 1.0, 2.0, 9.0]]])
    >>> k_max(values, torch.tensor([4]), 2).atanh()
    tensor([[[3.0000, 2.0000]]])
    >>> k_max(values, torch.tensor([1]), 2)
    tensor([[[0., 0.]]])
    """
    values = nn.functional.pad(values, (0, max(0, k - values.shape[2])), value=-torch.inf)
    columns = _inside(values, counts).topk(k, dim=2).indices.sort(dim=2).values
    outside = columns >= counts[:, None, None]
    return values.gather(2, columns).masked_fill(outside, 0).tanh()


def _inside(values: Tensor, counts: Tensor) -> Tensor:
    """The values, those beyond a text's columns lower than any other."""
    return values.masked_fill(beyond(values[:, 0], counts)[:, None], -torch.inf)

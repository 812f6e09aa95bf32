"""Convolution of padded texts that reaches over their margins, and the k largest of what it finds, in order."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class WideConvolution(nn.Module):
    """c_i = W [x_i; ...; x_i+n-1] + b for all l + n - 1 windows that touch the text; zeros lie around it."""

    def __init__(self, inputs: int, filters: int, window: int) -> None:
        super().__init__()
        self.window = window
        self.convolution = nn.Conv1d(inputs, filters, window, padding=window - 1)
        nn.init.xavier_uniform_(self.convolution.weight)
        nn.init.zeros_(self.convolution.get_parameter("bias"))

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

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

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The windows of ``[texts, length, inputs]``, zero beyond each text, and the number of each; 0 for no words."""
        features = self.convolution(vectors.transpose(1, 2)).transpose(1, 2)
        return features, torch.where(lengths > 0, lengths + self.window - 1, 0)


def keep_largest(features: Tensor, lengths: Tensor, numbers: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """k-max pooling: of each feature the ``numbers[i]`` largest values of text ``i``, in the order they have there.

    ``[texts, most, features]`` and how many of each row there are: fewer than ``numbers`` if the text has fewer. Zero
    beyond that. No number may be above ``most``.
    """
    places = torch.arange(max(most, features.shape[1]), device=features.device)
    outside = (places[: features.shape[1]] >= lengths[:, None])[:, :, None]
    by_size = features.masked_fill(outside, -torch.inf).sort(dim=1, descending=True, stable=True).indices[:, :most]
    left_out = (places[: by_size.shape[1]] >= numbers[:, None])[:, :, None]
    chosen = by_size.masked_fill(left_out, features.shape[1]).sort(dim=1).values
    kept = features.gather(1, chosen.clamp(max=features.shape[1] - 1))
    number = torch.minimum(numbers, lengths)
    kept = nn.functional.pad(kept, (0, 0, 0, most - kept.shape[1]))
    return kept.masked_fill((places[:most] >= number[:, None])[:, :, None], 0), number

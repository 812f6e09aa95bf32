"""DSSM-CNN (Shen et al. 2014), as section 5 of the smooth paper sets it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from isogloss.models.encoders.text_encoder import Dropout, Tower, word_vectors, zero_where_empty


class CnnTower(Tower):
    """v = tanh(V max_t tanh(W [e_t; e_t+1; e_t+2] + b) + c), the maximum of each filter over the text's word 3-grams.

    The smooth paper says: window 3, 300 filters, maximum pooling, 64 outputs, dropout .4 on the word vectors. It is
    silent on the activations (tanh, as Shen et al. have it), on the ends (a window lies within its text; a text shorter
    than the window has one, filled up with zeros) and on the start (Glorot's uniform, as in Huang et al. 2013).

    tanh rises, so it is the same before the maximum and after it, where there are fewer numbers.
    """

    def __init__(
        self, dimension: int, outputs: int = 64, filters: int = 300, window: int = 3, dropout: float = 0.4
    ) -> None:
        super().__init__()
        self.outputs, self.window = outputs, window
        self.dropout = Dropout(dropout)
        self.convolution = nn.Linear(window * dimension, filters)
        self.full = nn.Linear(filters, outputs)
        for layer in (self.convolution, self.full):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        features = self.convolution(self._windows(self.dropout(word_vectors(table, words, lengths))))
        windows = (lengths - self.window + 1).clamp(min=1)
        outside = torch.arange(features.shape[1], device=words.device) >= windows[:, None]
        strongest = features.masked_fill(outside[:, :, None], -torch.inf).max(dim=1).values
        return zero_where_empty(self.full(strongest.tanh()).tanh(), lengths)

    def _windows(self, vectors: Tensor) -> Tensor:
        """The vectors of each window's words, one after the other."""
        missing = max(0, self.window - vectors.shape[1])
        vectors = nn.functional.pad(vectors, (0, 0, 0, missing))
        number = vectors.shape[1] - self.window + 1
        return torch.cat([vectors[:, shift : shift + number] for shift in range(self.window)], dim=-1)

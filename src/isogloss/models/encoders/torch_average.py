"""The average model (smooth paper, section 3.2), for torch to differentiate."""

from __future__ import annotations

from torch import Tensor

from isogloss.models.encoders.text_encoder import Tower, word_vectors


class AverageTower(Tower):
    """v = tanh((1 / l) sum_i e(w_i)) over a text's l known words. It has nothing to learn but the table."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.outputs = dimension

    def forward(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        return (word_vectors(table, words, lengths).sum(dim=1) / lengths.clamp(min=1)[:, None]).tanh()

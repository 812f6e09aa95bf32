"""Texts to vectors in two parts: a table of word vectors, and a tower that makes one vector of a text's words.

Each encoder has its own table (each language its own words), but two of them may have one tower in common.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from isogloss.models.encoders.padding import beyond, longest_text, pad_texts


class Tower(nn.Module, ABC):
    """What comes after the word vectors."""

    outputs: int
    """The size of the vectors it gives."""

    @abstractmethod
    def forward(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """One row a text, made of the first ``lengths[i]`` words of row ``i``; zero where there are none."""


class TextEncoder(nn.Module):
    """A table and a tower; the table is trained with the tower or stays as it is."""

    def __init__(self, table: NDArray[np.floating[Any]], tower: Tower, trained: bool = True) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.tensor(table), requires_grad=trained)
        self.tower = tower

    @property
    def outputs(self) -> int:
        """The size of the vectors it gives."""
        return self.tower.outputs

    def forward(self, ids: Tensor, offsets: Tensor) -> Tensor:
        """``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``; its vector is row ``i``."""
        texts = torch.arange(len(offsets) - 1, device=offsets.device)
        return self.encode(*pad_texts(ids, offsets, texts, max(1, longest_text(offsets))))

    def encode(self, words: Tensor, lengths: Tensor) -> Tensor:
        """The same for texts that are padded already, as ``pad_texts`` gives them."""
        vectors: Tensor = self.tower(self.table, words, lengths)
        return vectors


class Dropout(nn.Module):
    """While training, each number is zero with probability ``rate``, otherwise divided by ``1 - rate``.

    ``torch.nn.Dropout`` draws from the one generator of the process; this draws from ``generator``, whose state a
    learner keeps to be able to go on later as if it had never stopped. Where the values are ``part`` of a batch (so
    many rows, and which of them), numbers are drawn for all of it, as whoever has all of it draws them; the values may
    be several such parts, one after the other.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.generator: torch.Generator | None = None
        self.part: tuple[int, slice] | None = None

    def forward(self, values: Tensor) -> Tensor:
        """The values, some of them dropped."""
        if not self.training or self.rate == 0:
            return values
        return values * self._kept(values).div_(1 - self.rate)

    def _kept(self, values: Tensor) -> Tensor:
        """1 where a number is kept, 0 where it is dropped."""
        if self.part is None:
            return torch.empty_like(values).bernoulli_(1 - self.rate, generator=self.generator)
        rows, own = self.part
        times = len(values) // (own.stop - own.start)
        whole = values.new_empty(times, rows, *values.shape[1:]).bernoulli_(1 - self.rate, generator=self.generator)
        return whole[:, own].reshape(values.shape)


def word_vectors(table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
    """The vectors of each text's words, ``[texts, length, dimension]``; zero where the text has ended."""
    return nn.functional.embedding(words, table).masked_fill(beyond(words, lengths)[:, :, None], 0)


def zero_where_empty(vectors: Tensor, lengths: Tensor) -> Tensor:
    """The vectors, those of texts without words replaced by zero."""
    return vectors.masked_fill((lengths == 0)[:, None], 0)

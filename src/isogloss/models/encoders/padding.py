"""Texts of different lengths as one rectangle of words."""

from __future__ import annotations

import torch
from torch import Tensor


def pad_texts(ids: Tensor, offsets: Tensor, texts: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """The words of the named texts, ``[texts, length]``, and how many of each row are its text's own.

    ``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``; none may be longer than ``length``. What follows a
    text in its row is some word or other, to be ignored.

    >>> words, lengths = pad_texts(torch.tensor([5, 6, 7]), torch.tensor([0, 1, 1, 3]), torch.tensor([2, 1, 0]), 2)
    >>> words.tolist(), lengths.tolist()
    ([[6, 7], [6, 7], [5, 6]], [2, 0, 1])
    """
    starts = offsets[texts]
    lengths = offsets[texts + 1] - starts
    if len(ids) == 0:
        return ids.new_zeros(len(texts), length), lengths
    places = starts[:, None] + torch.arange(length, device=ids.device)
    return ids[places.clamp_(max=len(ids) - 1)], lengths


def beyond(words: Tensor, lengths: Tensor) -> Tensor:
    """Where a row's text has ended."""
    return torch.arange(words.shape[1], device=words.device) >= lengths[:, None]


def longest_text(offsets: Tensor) -> int:
    """The length of the longest text."""
    return int(offsets.diff().max()) if len(offsets) > 1 else 0

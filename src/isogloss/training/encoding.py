"""Texts to rows of numbers with any torch module, in batches of about the same length."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.models.encoders.padding import pad_texts
from isogloss.models.encoders.torch_encoder import as_tensor
from isogloss.models.matchers.scorer import Texts
from isogloss.training.pairs import TextIds

_BATCH = 512
_BATCH_WORDS = 65_536  # padding counted: a batch of very long texts is a small one


def encode_texts(encode: Callable[[Texts], Tensor], texts: TextIds, device: torch.device) -> NDArray[np.float32]:
    """One row a text, what ``encode`` makes of it; texts without words take part."""
    ids, offsets = as_tensor(texts.ids, device), as_tensor(texts.offsets, device)
    encoded = np.zeros((0, 0), np.float32)
    with torch.inference_mode():
        for batch in _batches(texts.lengths):
            longest = max(1, int(texts.lengths[batch[0]]))
            rows = encode(Texts(*pad_texts(ids, offsets, as_tensor(batch, device), longest)))
            if not len(encoded):
                encoded = np.zeros((len(texts), rows.shape[1]), np.float32)
            encoded[batch] = rows.float().cpu().numpy()
    return encoded


def _batches(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """All numbers, those of the longest texts first."""
    order, first = np.argsort(-lengths, kind="stable"), 0
    while first < len(order):
        last = first + max(1, min(_BATCH, _BATCH_WORDS // max(1, int(lengths[order[first]]))))
        yield order[first:last]
        first = last

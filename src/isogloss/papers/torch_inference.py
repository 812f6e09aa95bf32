"""Encoding texts with trained torch modules, in batches of texts of similar length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.papers.torch_encoder import as_tensor, batches_by_length
from isogloss.papers.towers import Texts, pad_texts
from isogloss.storage.errors import InputError
from isogloss.text.ids import TextIds

_BATCH = 512
_BATCH_WORDS = 65_536  # padding counted: a batch of very long texts is a small one


class DeviceTexts:
    """Texts on a device; their lengths are known in the processor's memory as well."""

    def __init__(self, texts: TextIds, device: torch.device) -> None:
        self._ids, self._offsets = as_tensor(texts.ids, device), as_tensor(texts.offsets, device)
        self.lengths, self._device = texts.lengths, device

    def longest(self, *texts: NDArray[np.integer] | slice) -> int:
        """The length of the longest of these texts, at least 1."""
        return max(1, *(int(self.lengths[rows].max(initial=0)) for rows in texts))

    def batch(self, texts: Tensor, length: int) -> Texts:
        """These texts, padded to ``length``."""
        return Texts(*pad_texts(self._ids, self._offsets, texts.long(), length))

    def padded(self, texts: NDArray[np.integer]) -> Texts:
        """These texts, padded to the longest of them."""
        return self.batch(as_tensor(texts, self._device), self.longest(texts))


def encode_texts(encode: Callable[[Texts], Tensor], texts: TextIds, device: torch.device) -> NDArray[np.float32]:
    """One row a text, what ``encode`` makes of it; texts without words take part."""
    on_device, encoded = DeviceTexts(texts, device), np.zeros((0, 0), np.float32)
    with torch.inference_mode():
        for batch in batches_by_length(texts.lengths, _BATCH, _BATCH_WORDS):
            rows = encode(on_device.padded(batch))
            if not len(encoded):
                encoded = np.zeros((len(texts), rows.shape[1]), np.float32)
            encoded[batch] = rows.float().cpu().numpy()
    return encoded


def usable_device(device: str) -> torch.device:
    """The device of that name, ``auto`` being a GPU where there is one."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device != "cpu" and not device.startswith("cuda"):
        raise InputError(f"unknown device '{device}'; use 'cpu' or 'cuda'")
    if device != "cpu" and not torch.cuda.is_available():
        raise InputError(f"device '{device}': torch sees no GPU here; use 'cpu'")
    return torch.device(device)

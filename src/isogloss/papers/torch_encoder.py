"""Encoding with trained towers: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.papers.towers import TextEncoder, TowerSizes, make_encoders, pad_texts
from isogloss.storage.errors import InputError

Arrays = Mapping[str, NDArray[Any]]
_BATCH_WORDS = 65_536  # padding counted: a batch of very long texts is a small one


class TorchEncoder:
    """Encodes with a module, on the module's own device, ``batch`` texts of about the same length at a time."""

    def __init__(self, module: TextEncoder, batch: int = 256) -> None:
        self.module = module
        self.batch = batch

    def encode(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
        """One row a text; ``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``."""
        lengths = np.diff(offsets)
        device = self.module.table.device
        all_ids, all_offsets = as_tensor(ids, device), as_tensor(offsets, device)
        encoded = np.zeros((len(lengths), self.module.outputs), dtype=np.float32)
        self.module.eval()
        with torch.inference_mode():
            filled = np.flatnonzero(lengths)
            for batch in batches_by_length(lengths[filled], self.batch, _BATCH_WORDS):
                texts = filled[batch]
                padded = pad_texts(all_ids, all_offsets, as_tensor(texts, device), int(lengths[texts[0]]))
                encoded[texts] = self.module.encode(*padded).cpu().numpy()
        return encoded


def batches_by_length(lengths: NDArray[np.int64], texts: int, words: int) -> Iterator[NDArray[np.int64]]:
    """All texts by falling length, at most ``texts`` a batch, or so many that they have ``words`` when padded."""
    order, first = np.argsort(-lengths, kind="stable"), 0
    while first < len(order):
        last = first + max(1, min(texts, words // max(1, int(lengths[order[first]]))))
        yield order[first:last]
        first = last


def as_tensor(array: NDArray[Any], device: torch.device) -> Tensor:
    """An array as a tensor on a device; a copy only where it has to be."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"])).to(device)


def named_parameters(query: TextEncoder, document: TextEncoder) -> dict[str, torch.nn.Parameter]:
    """The parameters of two encoders: ``query.table``, ``query.tower.…`` and so on; ``tower.…`` of a shared tower."""
    if query.tower is not document.tower:
        return {
            f"{side}.{name}": parameter
            for side, encoder in (("query", query), ("document", document))
            for name, parameter in encoder.named_parameters()
        }
    tower = {f"tower.{name}": parameter for name, parameter in query.tower.named_parameters()}
    return {"query.table": query.table, "document.table": document.table} | tower


def load_encoders(
    kind: str, parameters: Arrays, sizes: TowerSizes, batch: int = 256
) -> tuple[TorchEncoder, TorchEncoder]:
    """Encoders of queries and of documents from arrays by name, as a learner's ``parameters()`` gives them."""
    tables = [_array(parameters, f"{side}.table") for side in ("query", "document")]
    shared = any(name.startswith("tower.") for name in parameters)
    query, document = make_encoders(kind, tables[0], tables[1], sizes, shared, trained=False)
    fill(named_parameters(query, document), parameters)
    return TorchEncoder(query, batch), TorchEncoder(document, batch)


def fill(tensors: Mapping[str, Tensor], arrays: Arrays) -> None:
    """Set each tensor to the array of the same name; one that is missing or has another shape is an error."""
    for name, tensor in tensors.items():
        array = _array(arrays, name)
        if array.shape != tuple(tensor.shape):
            raise InputError(
                f"'{name}' has the shape {_shown(array.shape)}, these settings need {_shown(tuple(tensor.shape))}; "
                f"use the settings it was trained with"
            )
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(np.array(arrays[name])))


def _array(arrays: Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise InputError(f"there is no '{name}' among what was saved; use the settings it was trained with")
    return arrays[name]


def _shown(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "of a single number"

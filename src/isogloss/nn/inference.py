"""Encoding texts and scoring pairs of texts with trained torch modules, in batches of texts of similar length."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.nn.encoders.torch_encoder import as_tensor, batches_by_length
from isogloss.nn.encoders.towers import pad_texts
from isogloss.nn.matchers.scorer import Scorer, Texts, VectorScorer
from isogloss.storage.errors import InputError
from isogloss.text.ids import Ids, TextIds

_BATCH = 512
_BATCH_WORDS = 65_536  # padding counted: a batch of very long texts is a small one
_PAIR_BATCH = 4096
_BATCH_CELLS = {"cpu": 500_000, "cuda": 16_000_000}  # of grids of words, padding counted: what one batch may have
Scores = NDArray[np.float32]


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


class PairScores:
    """A scorer and the documents that it scores, on the scorer's own device.

    Documents whose vectors do not depend on the query are encoded once, when first needed.
    """

    def __init__(self, scorer: Scorer, documents: TextIds) -> None:
        self.scorer, self.documents = scorer.eval(), documents
        self._device = next(scorer.parameters()).device
        self._encoded: Tensor | None = None

    def __call__(self, queries: TextIds, query_of: Ids, document_of: Ids) -> Scores:
        """The score of each pair."""
        with torch.inference_mode():
            if isinstance(self.scorer, VectorScorer):
                return self._compare(self.scorer, queries, query_of, document_of)
            return self._read(queries, query_of, document_of)

    def _compare(self, scorer: VectorScorer, queries: TextIds, query_of: Ids, document_of: Ids) -> Scores:
        if self._encoded is None:
            documents = encode_texts(scorer.encode_documents, self.documents, self._device)
            self._encoded = as_tensor(documents, self._device)
        encoded = as_tensor(encode_texts(scorer.encode_queries, queries, self._device), self._device)
        scores = np.empty(len(query_of), np.float32)
        for first in range(0, len(scores), _PAIR_BATCH):
            part = slice(first, first + _PAIR_BATCH)
            rows, columns = (as_tensor(numbers[part], self._device).long() for numbers in (query_of, document_of))
            scores[part] = scorer.match(encoded[rows], self._encoded[columns]).cpu().numpy()
        return scores

    def _read(self, queries: TextIds, query_of: Ids, document_of: Ids) -> Scores:
        left, right = DeviceTexts(queries, self._device), DeviceTexts(self.documents, self._device)
        rows, columns = queries.lengths[query_of], self.documents.lengths[document_of]
        scores = np.empty(len(query_of), np.float32)
        for batch in _grid_batches(rows, columns, _BATCH_CELLS[self._device.type]):
            found = self.scorer(left.padded(query_of[batch]), right.padded(document_of[batch]))
            scores[batch] = found.cpu().numpy()
        return scores


def _grid_batches(rows: NDArray[np.int64], columns: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """All numbers, those with most columns first; as many at a time as have ``most`` cells when they are padded."""
    order, first = np.argsort(-columns, kind="stable"), 0
    while first < len(order):
        cells = max(1, int(rows[order[first : first + _PAIR_BATCH]].max()) * int(columns[order[first]]))
        last = first + max(1, min(_PAIR_BATCH, most // cells))
        yield order[first:last]
        first = last


def usable_device(device: str) -> torch.device:
    """The device of that name, ``auto`` being a GPU where there is one."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device != "cpu" and not device.startswith("cuda"):
        raise InputError(f"unknown device '{device}'; use 'cpu' or 'cuda'")
    if device != "cpu" and not torch.cuda.is_available():
        raise InputError(f"device '{device}': torch sees no GPU here; use 'cpu'")
    return torch.device(device)

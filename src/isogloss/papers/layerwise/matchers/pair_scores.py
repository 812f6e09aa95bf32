"""Scoring pairs of texts with a trained scorer, in batches of pairs of similar length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isogloss.papers.layerwise.matchers.scorer import Scorer, VectorScorer
from isogloss.papers.torch_encoder import as_tensor
from isogloss.papers.torch_inference import DeviceTexts, encode_texts
from isogloss.text.ids import Ids, TextIds

_PAIR_BATCH = 4096
_BATCH_CELLS = {"cpu": 500_000, "cuda": 16_000_000}  # of grids of words, padding counted: what one batch may have
Scores = NDArray[np.float32]


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

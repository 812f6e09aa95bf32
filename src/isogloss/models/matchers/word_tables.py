"""The word vectors that a matcher learns: a table a side, or one for both where both are of one language."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from isogloss.models.encoders.text_encoder import Dropout, word_vectors
from isogloss.models.matchers.scorer import Texts

Table = NDArray[np.floating[Any]]


class WordTables(nn.Module):
    """Looks words up; without a table for documents there is one for both. ``dropout`` drops numbers of the vectors."""

    def __init__(self, query: Table, document: Table | None = None, dropout: float = 0.0, trained: bool = True) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.tensor(query), requires_grad=trained)
        self.document = self.query
        if document is not None:
            self.document = nn.Parameter(torch.tensor(document), requires_grad=trained)
        self.dropout = Dropout(dropout)

    @property
    def dimension(self) -> int:
        """The size of a vector."""
        return self.query.shape[1]

    def queries(self, texts: Texts) -> Tensor:
        """``[texts, length, dimension]``; zero where a text has ended."""
        vectors: Tensor = self.dropout(word_vectors(self.query, *texts))
        return vectors

    def documents(self, texts: Texts) -> Tensor:
        """The same for documents."""
        vectors: Tensor = self.dropout(word_vectors(self.document, *texts))
        return vectors

    def query_means(self, texts: Texts) -> Tensor:
        """The mean of each text's word vectors, of which numbers are dropped; zero where it has none."""
        return self._means(self.query, texts)

    def document_means(self, texts: Texts) -> Tensor:
        """The same for documents."""
        return self._means(self.document, texts)

    def _means(self, table: Tensor, texts: Texts) -> Tensor:
        sums = word_vectors(table, *texts).sum(dim=1)
        means: Tensor = self.dropout(sums / texts.lengths.clamp(min=1)[:, None])
        return means

"""The interface of matchers: modules that score queries and documents row by row, and their word vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from isogloss.papers.towers import Dropout, Texts, beyond, word_vectors

Table = NDArray[np.floating[Any]]
_LEAST = 1e-9


Features = tuple[tuple[Tensor, Tensor], ...]
"""A pair for each layer: the vectors of the texts in the queries' language, and of those in the documents'."""


class Compared(NamedTuple):
    """The scores of some queries with their positives and with their negatives, and what an adversary sees.

    Of several negatives a query, those of the first draw come first, then those of the second: ``[draws * queries]``.
    """

    positive: Tensor
    negative: Tensor
    features: Features = ()


class Scorer(nn.Module, ABC):
    """Scores row-aligned batches of queries and documents. Its parameters' names are those of a saved model."""

    @abstractmethod
    def forward(self, queries: Texts, documents: Texts) -> Tensor:
        """The score of each query with the document of the same row, ``[rows]``; a text may have no words."""

    def compare(self, queries: Texts, positives: Texts, negatives: Texts) -> Compared:
        """The scores of each query with its positive and its negatives, which are padded alike."""
        times, number = 1 + len(negatives.lengths) // len(queries.lengths), len(queries.lengths)
        repeated = Texts(queries.words.repeat(times, 1), queries.lengths.repeat(times))
        scores = self(repeated, positives.and_then(negatives))
        return Compared(scores[:number], scores[number:])


class VectorScorer(Scorer):
    """A scorer in two parts: each text becomes a vector for itself, and the vectors are compared.

    So documents can be encoded once and for all.
    """

    @abstractmethod
    def encode_queries(self, queries: Texts) -> Tensor:
        """One row a query."""

    @abstractmethod
    def encode_documents(self, documents: Texts) -> Tensor:
        """One row a document."""

    @abstractmethod
    def match(self, queries: Tensor, documents: Tensor) -> Tensor:
        """The scores of encoded queries and documents, row by row."""

    def forward(self, queries: Texts, documents: Texts) -> Tensor:
        return self.match(self.encode_queries(queries), self.encode_documents(documents))

    def compare(self, queries: Texts, positives: Texts, negatives: Texts) -> Compared:
        encoded, documents = self.encode_queries(queries), self.encode_documents(positives.and_then(negatives))
        return self.match_all(encoded, documents)

    def match_all(self, queries: Tensor, documents: Tensor, features: Features = ()) -> Compared:
        """Compare encoded queries with their encoded positives and then negatives."""
        scores = self.match(queries.repeat(len(documents) // len(queries), 1), documents)
        return Compared(scores[: len(queries)], scores[len(queries) :], features)


class WordTables(nn.Module):
    """The word vectors of a matcher: a table a side, or one for both where both are of one language.

    ``dropout`` drops numbers of the vectors. ``weights`` are those of the words of each side, which are not trained;
    without them all words weigh 1.
    """

    def __init__(
        self, query: Table, document: Table | None = None, dropout: float = 0.0, trained: bool = True,
        weights: tuple[Table | None, Table | None] = (None, None),
    ) -> None:  # fmt: skip
        super().__init__()
        self.query = nn.Parameter(torch.tensor(query), requires_grad=trained)
        self.document = self.query
        if document is not None:
            self.document = nn.Parameter(torch.tensor(document), requires_grad=trained)
        self.query_weights = _fixed(weights[0])
        self.document_weights = self.query_weights if document is None else _fixed(weights[1])
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

    def query_shares(self, texts: Texts) -> Tensor:
        """The share of each word in its text by its weight: ``[texts, length]``, 0 beyond the text, 1 in all."""
        return shares(self.query_weights, texts)

    def document_shares(self, texts: Texts) -> Tensor:
        """The same for documents."""
        return shares(self.document_weights, texts)

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


def shares(weights: Tensor | None, texts: Texts) -> Tensor:
    """w_i / sum_j w_j for each word of a text, all alike without weights."""
    within = ~beyond(texts.words, texts.lengths)
    own = within.float() if weights is None else weights[texts.words] * within
    return own / own.sum(dim=1, keepdim=True).clamp(min=_LEAST)


def _fixed(weights: Table | None) -> nn.Parameter | None:
    return None if weights is None else nn.Parameter(torch.tensor(weights), requires_grad=False)

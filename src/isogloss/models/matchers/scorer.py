"""What every matcher is: a module that scores queries and documents, row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Texts(NamedTuple):
    """Padded texts: ``words[i, :lengths[i]]`` are the words of text ``i``, the rest of its row is to be ignored.

    As ``pad_texts`` gives them: ``Texts(*pad_texts(ids, offsets, texts, length))``.
    """

    words: Tensor
    lengths: Tensor


Features = tuple[tuple[Tensor, Tensor], ...]
"""A pair for each layer: the vectors of the texts in the queries' language, and of those in the documents'."""


class Compared(NamedTuple):
    """The scores of some queries with their positives and with their negatives, and what an adversary looks at."""

    positive: Tensor
    negative: Tensor
    features: Features = ()


class Scorer(nn.Module, ABC):
    """Scores row-aligned batches of queries and documents. Its parameters' names are those of a saved model."""

    @abstractmethod
    def forward(self, queries: Texts, documents: Texts) -> Tensor:
        """The score of each query with the document of the same row, ``[rows]``; a text may have no words."""

    def compare(self, queries: Texts, positives: Texts, negatives: Texts) -> Compared:
        """The scores of each query with two documents, which are padded alike."""
        documents = Texts(*(torch.cat(both) for both in zip(positives, negatives, strict=True)))
        twice = Texts(*(torch.cat([each, each]) for each in queries))
        positive, negative = self(twice, documents).chunk(2)
        return Compared(positive, negative)


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
        documents = Texts(*(torch.cat(both) for both in zip(positives, negatives, strict=True)))
        encoded = self.encode_queries(queries)
        positive, negative = self.match(torch.cat([encoded, encoded]), self.encode_documents(documents)).chunk(2)
        return Compared(positive, negative)

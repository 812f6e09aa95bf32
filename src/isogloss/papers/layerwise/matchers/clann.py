"""CLANN (Joty et al. 2017): a feed-forward encoder of averaged word vectors, and an adversary on it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from isogloss.papers.layerwise.matchers.layers import FeedForward, full_layer
from isogloss.papers.layerwise.matchers.scorer import Compared, VectorScorer, WordTables
from isogloss.papers.similarity import smooth_cosine
from isogloss.papers.towers import Texts, zero_where_empty


class Clann(VectorScorer):
    r"""s(q, c) = w.[h; cos(f(q), f(c))],  h = tanh(V [f(q); f(c)] + b),  f(x) = tanh(U mean(x) + a) for both languages.

    The cosine is the pairwise feature that goes past the hidden layer; its weight starts at ``cosine``. The
    discriminator sees f and estimates

        P(x is in the documents' language) = sigma(w_d.tanh(W_d f(x) + b_d) + c_d);

    what it learns is turned against the encoder (``reverse_gradient``). It belongs to the scorer because both are
    learned in the same steps.
    """

    def __init__(self, tables: WordTables, hidden: int, outputs: int, discriminator: int, cosine: float = 5.0) -> None:
        super().__init__()
        self.tables = tables
        self.encoder = FeedForward([tables.dimension, outputs])
        self.inner, self.outer = FeedForward([2 * outputs, hidden]), full_layer(hidden + 1, 1)
        nn.init.constant_(self.outer.weight[:, -1], cosine)
        self.discriminator = nn.Sequential(full_layer(outputs, discriminator), nn.Tanh(), full_layer(discriminator, 1))

    def encode_queries(self, queries: Texts) -> Tensor:
        return zero_where_empty(self.encoder(self.tables.query_means(queries)), queries.lengths)

    def encode_documents(self, documents: Texts) -> Tensor:
        return zero_where_empty(self.encoder(self.tables.document_means(documents)), documents.lengths)

    def match(self, queries: Tensor, documents: Tensor) -> Tensor:
        hidden = self.inner(torch.cat([queries, documents], dim=1))
        cosine = smooth_cosine(queries, documents, 0.0)
        scores: Tensor = self.outer(torch.cat([hidden, cosine[:, None]], dim=1)).squeeze(1)
        return scores

    def compare(self, queries: Texts, positives: Texts, negatives: Texts) -> Compared:
        left, right = self.encode_queries(queries), self.encode_documents(positives.and_then(negatives))
        return self.match_all(left, right, ((left, right),))

    def language_loss(self, queries: Tensor, documents: Tensor, strength: Tensor | float) -> Tensor:
        """The cross entropy of the discriminator, each language counting half; the encoder's share has the other sign.

        ``strength`` multiplies that share.
        """
        loss = queries.new_zeros(())
        for vectors, language in ((queries, 0.0), (documents, 1.0)):
            logits = self.discriminator(reverse_gradient(vectors, strength)).squeeze(1)
            right = torch.full_like(logits, language)
            loss = loss + 0.5 * nn.functional.binary_cross_entropy_with_logits(logits, right)
        return loss


class _Reversed(torch.autograd.Function):
    """The value as it is; its gradient times minus the strength (Ganin and Lempitsky 2015)."""

    @staticmethod
    def forward(context: Any, values: Tensor, strength: Tensor) -> Tensor:
        context.save_for_backward(strength)
        return values.view_as(values)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (strength,) = context.saved_tensors
        return -strength * gradient, None


def reverse_gradient(values: Tensor, strength: Tensor | float) -> Tensor:
    """The values; whatever is learned from them moves what made them the opposite way, ``strength`` times as far."""
    size = torch.as_tensor(strength, dtype=values.dtype, device=values.device)
    reversed_values: Tensor = _Reversed.apply(values, size)  # type: ignore[no-untyped-call]
    return reversed_values

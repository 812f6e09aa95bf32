"""DSSM (Huang et al. 2013), over words."""

from __future__ import annotations

from torch import Tensor

from isogloss.papers.layerwise.matchers.layers import FeedForward
from isogloss.papers.layerwise.matchers.scorer import VectorScorer, WordTables
from isogloss.papers.similarity import smooth_cosine
from isogloss.papers.towers import Texts, zero_where_empty


class Dssm(VectorScorer):
    r"""R(q, d) = gamma cos(y_q, y_d),  l_1 = tanh(W_1 x),  l_i = tanh(W_i l_i-1 + b_i),  y the last of them.

    x are the shares of the words in the text, so W_1 x is the mean of its words' vectors. Huang et al. hash words into
    letter trigrams first, because their vocabulary has half a million words; ours have some ten thousand, and Chinese
    words have few letters to hash, so words are taken whole. gamma is their smoothing factor, and the loss
    is their softmax over the positive and four random negatives. Without a second tower both sides have one, as theirs
    do.
    """

    def __init__(self, tables: WordTables, hidden: int, outputs: int, gamma: float, shared: bool = True) -> None:
        super().__init__()
        self.tables, self.gamma = tables, gamma
        self.query_tower = FeedForward([tables.dimension, hidden, outputs])
        self.document_tower = self.query_tower if shared else FeedForward([tables.dimension, hidden, outputs])

    def encode_queries(self, queries: Texts) -> Tensor:
        return zero_where_empty(self.query_tower(self.tables.query_means(queries).tanh()), queries.lengths)

    def encode_documents(self, documents: Texts) -> Tensor:
        return zero_where_empty(self.document_tower(self.tables.document_means(documents).tanh()), documents.lengths)

    def match(self, queries: Tensor, documents: Tensor) -> Tensor:
        scores: Tensor = self.gamma * smooth_cosine(queries, documents, 0.0)
        return scores

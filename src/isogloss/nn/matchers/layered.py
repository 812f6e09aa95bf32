"""The layer-wise model: word vectors of each language, one layered CNN for both, a score of two vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from isogloss.nn.encoders.layered_cnn import Layer, LayeredCnn
from isogloss.nn.encoders.towers import start_glorot
from isogloss.nn.matchers.scorer import Compared, Features, Texts, VectorScorer, WordTables
from isogloss.nn.similarity import smooth_scale


class VectorPairNetwork(nn.Module):
    """NN_s of the layer-wise paper: s(u, v) = w . relu(W [u; v; |u - v|; u * v] + b) + c.

    The paper has "a feed-forward neural network" and no more; the differences and products let so small a network
    see how alike two vectors are.
    """

    def __init__(self, inputs: int, hidden: int = 128) -> None:
        super().__init__()
        self.hidden, self.output = nn.Linear(4 * inputs, hidden), nn.Linear(hidden, 1)
        for layer in (self.hidden, self.output):
            start_glorot(layer)

    def forward(self, queries: Tensor, documents: Tensor) -> Tensor:
        """The score of each row of ``queries`` with the same row of ``documents``."""
        seen = torch.cat([queries, documents, (queries - documents).abs(), queries * documents], dim=1)
        scores: Tensor = self.output(self.hidden(seen).relu())
        return scores[:, 0]


class LayeredScorer(VectorScorer):
    """Scores by the vectors of the last layer; shows the vectors of all layers to an adversary.

    ``network`` is NN_s, None the cosine; ``whole_maps`` shows the maps between the layers (ENC-P) instead of their
    largest numbers.
    """

    def __init__(
        self, tables: WordTables, tower: LayeredCnn, network: VectorPairNetwork | None, whole_maps: bool = False
    ) -> None:
        super().__init__()
        self.tables, self.tower, self.network, self.whole_maps = tables, tower, network, whole_maps

    @property
    def feature_sizes(self) -> list[int]:
        """The size of what an adversary sees of each layer."""
        below = self.tower.outputs * (self.tower.k if self.whole_maps else 1)
        return [below] * (len(self.tower.layers) - 1) + [self.tower.outputs]

    def encode_queries(self, queries: Texts) -> Tensor:
        return self._compared(self.query_layers(queries))

    def encode_documents(self, documents: Texts) -> Tensor:
        return self._compared(self.document_layers(documents))

    def query_layers(self, queries: Texts) -> list[Layer]:
        """Every layer of some queries."""
        layers: list[Layer] = self.tower(self.tables.queries(queries), queries.lengths)
        return layers

    def document_layers(self, documents: Texts) -> list[Layer]:
        """Every layer of some documents."""
        layers: list[Layer] = self.tower(self.tables.documents(documents), documents.lengths)
        return layers

    def match(self, queries: Tensor, documents: Tensor) -> Tensor:
        if self.network is None:
            return (queries * documents).sum(dim=1)
        scores: Tensor = self.network(queries, documents)
        return scores

    def compare(self, queries: Texts, positives: Texts, negatives: Texts) -> Compared:
        query_layers, document_layers = self.query_layers(queries), self.document_layers(positives.and_then(negatives))
        encoded = self._compared(query_layers)
        positive, negative = self.match(torch.cat([encoded, encoded]), self._compared(document_layers)).chunk(2)
        return Compared(positive, negative, self.features(query_layers, document_layers))

    def features(self, queries: Sequence[Layer], documents: Sequence[Layer]) -> Features:
        """What an adversary sees of each layer."""
        return tuple((self._seen(left), self._seen(right)) for left, right in zip(queries, documents, strict=True))

    def _compared(self, layers: Sequence[Layer]) -> Tensor:
        """The vectors that are compared; of length 1 for the cosine."""
        vectors = layers[-1].vectors
        scaled: Tensor = vectors if self.network else smooth_scale(vectors, 0.0)
        return scaled

    def _seen(self, layer: Layer) -> Tensor:
        return layer.map.flatten(1) if self.whole_maps and layer.map is not None else layer.vectors

"""The layer-wise model: word vectors of each language, one layered CNN for both, a score of two vectors.

The encoder (section 3.2 of the paper) has m layers of wide convolution and pooling, with a vector at each:

    C_n = tanh(W_n M + b_n)           wide convolution, kernels of width n: a text of l columns gives l + n - 1
    M'  = [POOL(C_2); POOL(C_3); …]   one map above the other: the input of the next layer
    f^j = [max(C_2); max(C_3); …]     the vector of layer j; that of the last layer stands for the text

POOL is k-max (the k largest of each row, in the order of the text: Kalchbrenner et al. 2014; a text with fewer columns
is filled up with zeros) or the average of n neighbouring columns, which gives back l (Yin et al. 2016).

Ours, not the paper's: the mean of the words' vectors, weighted by IDF, may stand beside the last layer:

    v = [x / |x| ; g f^m / |f^m|],   x = sum_i w_i e_i / sum_i w_i

So the cosine of two texts is (cos(x, x') + g^2 cos(f, f')) / (1 + g^2). g is learned and starts at 1/2: training starts
near the cosine of the means. Without a layer there is the mean alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from isogloss.papers.layerwise.matchers.scorer import Compared, Features, VectorScorer, WordTables
from isogloss.papers.similarity import smooth_scale
from isogloss.papers.towers import Texts, beyond, start_glorot, zero_where_empty
from isogloss.storage.errors import InputError

POOLINGS = ("k-max", "average")
_FIRST_GATE = 0.5


class Layer(NamedTuple):
    """What a layer makes of some texts: ``vectors[text, kernel]`` is f^j, ``map[text, kernel, column]`` is M'.

    The last layer has no map.
    """

    vectors: Tensor
    map: Tensor | None


class _Convolutions(nn.Module):
    """Wide convolutions of several widths side by side, before tanh."""

    def __init__(self, rows: int, kernels: int, widths: Sequence[int]) -> None:
        super().__init__()
        made = [nn.Conv1d(rows, kernels, width, padding=width - 1) for width in widths]
        self.by_width = nn.ModuleList(map(start_glorot, made))

    def forward(self, columns: Tensor) -> list[Tensor]:
        """A map for each width, ``[texts, kernels, columns + width - 1]``."""
        return [convolution(columns) for convolution in self.by_width]


class LayeredCnn(nn.Module):
    """The layers. Empty columns of a batch leave no trace: a text has the same vectors alone and among others.

    tanh rises, so it is the same before a maximum and after it, where there are fewer numbers.
    """

    def __init__(
        self,
        dimension: int,
        layers: int = 2,
        widths: Sequence[int] = (2, 3, 4, 5),
        kernels: int = 100,
        k: int = 8,
        pooling: str = "k-max",
    ) -> None:
        super().__init__()
        if pooling not in POOLINGS:
            raise InputError(f"pooling: {pooling!r} is not one of {', '.join(POOLINGS)}")
        self.widths, self.kernels, self.k, self.pooling = tuple(widths), kernels, k, pooling
        self.outputs = kernels * len(self.widths)
        inputs = [dimension, *[self.outputs] * (layers - 1)][:layers]
        self.layers = nn.ModuleList(_Convolutions(rows, kernels, self.widths) for rows in inputs)

    def forward(self, vectors: Tensor, lengths: Tensor) -> list[Layer]:
        """Every layer of texts ``[texts, length, dimension]``, zero beyond each; zero where a text has no words."""
        columns, counts = vectors.transpose(1, 2), lengths
        made: list[Layer] = []
        for number, layer in enumerate(self.layers, 1):
            maps = layer(columns)
            largest = zero_where_empty(self._largest(maps, counts).tanh(), lengths)
            if number == len(self.layers):
                made.append(Layer(largest, None))
                break
            columns = self._pooled(maps, counts).masked_fill((lengths == 0)[:, None, None], 0)
            counts = torch.full_like(counts, self.k) if self.pooling == "k-max" else counts
            made.append(Layer(largest, columns))
        return made

    def _largest(self, maps: Sequence[Tensor], counts: Tensor) -> Tensor:
        """The largest number of each row, wherever it is in the text."""
        return torch.cat([_inside(*each).max(dim=2).values for each in self._with_columns(maps, counts)], dim=1)

    def _pooled(self, maps: Sequence[Tensor], counts: Tensor) -> Tensor:
        if self.pooling == "k-max":
            return torch.cat([k_max(*each, self.k) for each in self._with_columns(maps, counts)], dim=1)
        means = [
            nn.functional.avg_pool1d(each.tanh(), width, stride=1)
            for each, width in zip(maps, self.widths, strict=True)
        ]
        return torch.cat(means, dim=1).masked_fill(beyond(means[0][:, 0], counts)[:, None], 0)

    def _with_columns(self, maps: Sequence[Tensor], counts: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Each map and how many columns each text has in it."""
        return [(each, counts + width - 1) for each, width in zip(maps, self.widths, strict=True)]


def k_max(values: Tensor, counts: Tensor, k: int) -> Tensor:
    """The ``k`` largest of the first ``counts[text]`` numbers of each row, in their order, then zeros; tanh of them.

    >>> values = torch.tensor([[[0.0, 3.0, 1.0, 2.0, 9.0]]])
    >>> k_max(values, torch.tensor([4]), 2).atanh()
    tensor([[[3.0000, 2.0000]]])
    >>> k_max(values, torch.tensor([1]), 2)
    tensor([[[0., 0.]]])
    """
    values = nn.functional.pad(values, (0, max(0, k - values.shape[2])), value=-torch.inf)
    columns = _inside(values, counts).topk(k, dim=2).indices.sort(dim=2).values
    outside = columns >= counts[:, None, None]
    return values.gather(2, columns).masked_fill(outside, 0).tanh()


def _inside(values: Tensor, counts: Tensor) -> Tensor:
    """The values, those beyond a text's columns lower than any other."""
    return values.masked_fill(beyond(values[:, 0], counts)[:, None], -torch.inf)


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


def outputs_of(tables: WordTables, tower: LayeredCnn, mean: bool) -> int:
    """The size of the vectors that are compared."""
    return mean * tables.dimension + (tower.outputs if len(tower.layers) else 0)


class LayeredScorer(VectorScorer):
    """Scores by the vectors of the last layer; shows the vectors of all layers to an adversary.

    ``network`` is NN_s, None the cosine; ``whole_maps`` shows the maps between the layers (ENC-P) instead of their
    largest numbers. ``mean``: the weighted mean of the words' vectors stands beside the last layer.
    """

    def __init__(
        self, tables: WordTables, tower: LayeredCnn, network: VectorPairNetwork | None, whole_maps: bool = False,
        mean: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.tables, self.tower, self.network, self.whole_maps = tables, tower, network, whole_maps
        self.outputs = outputs_of(tables, tower, mean)
        self.gate = nn.Parameter(torch.tensor(_FIRST_GATE)) if mean and len(tower.layers) else None
        self.mean = mean

    @property
    def feature_sizes(self) -> list[int]:
        """The size of what an adversary sees of each layer."""
        below = self.tower.outputs * (self.tower.k if self.whole_maps else 1)
        return [below] * (len(self.tower.layers) - 1) + [self.outputs]

    def encode_queries(self, queries: Texts) -> Tensor:
        return self._compared(self.query_layers(queries))

    def encode_documents(self, documents: Texts) -> Tensor:
        return self._compared(self.document_layers(documents))

    def query_layers(self, queries: Texts) -> list[Layer]:
        """Every layer of some queries."""
        return self.layers_of(self.tables.queries(queries), self.tables.query_shares(queries), queries.lengths)

    def document_layers(self, documents: Texts) -> list[Layer]:
        """Every layer of some documents."""
        vectors = self.tables.documents(documents)
        return self.layers_of(vectors, self.tables.document_shares(documents), documents.lengths)

    def layers_of(self, vectors: Tensor, shares: Tensor, lengths: Tensor) -> list[Layer]:
        """Every layer of texts ``[texts, length, dimension]``, whose words have these shares ``[texts, length]``."""
        layers: list[Layer] = self.tower(vectors, lengths)
        if not self.mean:
            return layers
        vector = smooth_scale((vectors * shares[:, :, None]).sum(dim=1), 0.0)
        if self.gate is not None:
            vector = torch.cat([vector, self.gate * smooth_scale(layers[-1].vectors, 0.0)], dim=1)
        return [*layers[:-1], Layer(vector, None)]

    def match(self, queries: Tensor, documents: Tensor) -> Tensor:
        if self.network is None:
            return (queries * documents).sum(dim=1)
        scores: Tensor = self.network(queries, documents)
        return scores

    def compare(self, queries: Texts, positives: Texts, negatives: Texts) -> Compared:
        query_layers, document_layers = self.query_layers(queries), self.document_layers(positives.and_then(negatives))
        features = self.features(query_layers, document_layers)
        return self.match_all(self._compared(query_layers), self._compared(document_layers), features)

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

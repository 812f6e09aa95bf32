"""``layerwise``: a layered CNN over both languages, with a critic on each layer (the layer-wise adversary paper).

    L = L_rank + beta sum_j alpha_j W_j

With the cosine scorer any vector index can rank. With the feed-forward scorer documents are encoded once, and the
network scores each with the query.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.papers.initial_vectors import SKIP_GRAM
from isogloss.papers.layerwise.matchers.matcher import START, Matcher, MatcherModel, MatcherOptions
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution, SystemOptions, numbers, option
from isogloss.systems.dense import DenseSystem
from isogloss.systems.explanations import Doubles, explain_pairs, read_words, sum_by_word
from isogloss.text.ids import TextIds

if TYPE_CHECKING:
    from torch import Tensor

    from isogloss.papers.layerwise.matchers.layered import Layer, LayeredScorer
    from isogloss.papers.layerwise.matchers.ranking_data import RankingData, Reading
    from isogloss.papers.layerwise.matchers.scorer import Scorer, WordTables
    from isogloss.papers.layerwise.torch_triples import ExtraTerm
    from isogloss.papers.learner import Learner, State
    from isogloss.papers.towers import Texts
    from isogloss.papers.training_loop import Evaluator, Recipe

POOLINGS = ("k-max", "average")
SCORERS = ("feed-forward", "cosine")
CRITICS = ("penalty", "clipping")
FEATURES = ("max", "map")
WEIGHTS = ("none", "idf")
VARIANTS = ("", "enc-k", "enc-k-wide", "enc-p", "adv-non", "adv-one", "adv-all", "adv-top")
PAPER_GRID = {
    "layers": ["1", "2", "3", "4", "5"],
    "widths": ["2,3", "2,4", "2,5", "3,4", "3,5", "4,5", "2,3,4,5"],
    "pooling": list(POOLINGS),
    "beta": ["0.001", "0.01", "0.1", "1", "10", "100", "1000"],
    "rate": ["0.1", "0.01", "0.001", "0.0001", "0.00001"],
}
"""The search space of the paper (section 4.2), as ``isogloss train --grid`` takes it.

The paper has two widths, n and n', and max or average pooling; all four widths and k-max are our readings.
"""
_WIDEST = 100
_KEPT = 16  # queries whose shares are cached: the hits of each are explained one by one


@dataclass(frozen=True)
class LayerwiseOptions(MatcherOptions):
    """Options of ``layerwise``; the paper's choices are those of its section 4.2."""

    dimension: int = option(300, "of word vectors (paper: 300)", 1, 4096)
    layers: int = option(1, "m, layers of convolution and pooling (paper: 1 to 5); 0: none, where mean=true", 0, 20)
    widths: str = option("2,3,4,5", "words that kernels see, side by side (paper: chosen from 2, 3, 4, 5)")
    kernels: int = option(100, "of each width (paper: 100)", 1, 10_000)
    k: int = option(8, "values of each kernel that k-max pooling passes to the next layer", 1, 1000)
    pooling: str = option(
        "average", f"between layers: {' or '.join(POOLINGS)} (paper: either); the last has the maximum"
    )
    mean: bool = option(
        True, "the weighted mean of a text's word vectors stands beside the last layer (paper: it does not)"
    )
    weights: str = option("idf", f"of the words in the mean: {' or '.join(WEIGHTS)}")
    scorer: str = option("cosine", f"{' or '.join(SCORERS)} (paper: feed-forward)")
    hidden: int = option(128, "units of the feed-forward scorer", 1, 10_000)
    dropout: float = option(0.4, "of word vectors", 0, 0.99)
    epochs: int = option(30, "passes over all pairs", 1, 100_000)
    margin: float = option(0.2, "by which a positive is to beat a negative (paper: 1)", 1e-6, 1000)
    mined: bool = option(True, "hard negatives are the nearest by the model, searched before each epoch but the first")
    beta: float = option(0.001, "of all critics (paper: 0.001 to 1000 by tens); 0: they only measure", 0, 1e6)
    alphas: str = option(
        "", "of the layers from the first, like -0.5 or -1,0.5: above 0 a layer becomes language-invariant, below 0 "
        "language-specific, 0 neither; the last is 1 unless there is a number for every layer; default: 1 for all",
    )  # fmt: skip
    features: str = option("max", "what critics see of the layers below the last: max, or map (all of k-max pooling)")
    critic: str = option("penalty", "kept Lipschitz by a gradient penalty, or by clipping its weights")
    critic_steps: int = option(5, "of the critics for each step of the encoder; 0: no critics (beta=0)", 0, 1000)
    critic_rate: float = option(0.001, "learning rate of the critics", 1e-9, 10)
    critic_hidden: int = option(64, "units of a critic (paper: 64)", 1, 10_000)
    critic_penalty: float = option(10.0, "weight of the gradient penalty", 1e-6, 1e6)
    critic_clip: float = option(0.01, "largest weight of a clipped critic", 1e-9, 1000)
    translated_pairs: str = option(
        "", "train on question-answer pairs of the documents' language with translated questions (as in the paper); "
        "the translator: lexicon:FILE, apertium or file:FILE; default: train on the pairs of both languages",
    )  # fmt: skip
    variant: str = option(
        "", "an ablation of the paper: enc-k (one kernel width, 3), enc-k-wide (the same with as many kernels in all), "
        "enc-p (features=map), adv-non (beta=0), adv-one (alphas=0,...,0,1), adv-all (all alphas above 0), adv-top "
        "(the last alpha below 0)",
    )  # fmt: skip

    def check(self, system: str) -> None:
        super().check(system)
        self.require(system, {
            "pooling": POOLINGS, "scorer": SCORERS, "critic": CRITICS, "features": FEATURES, "variant": VARIANTS,
            "weights": WEIGHTS,
        })  # fmt: skip
        if not self.layers and not self.mean:
            raise InputError(f"{system}.layers: 0 leaves nothing of the text; set mean=true")
        made = self.with_variant()
        made.all_alphas()
        made.all_widths()
        if made.features == "map" and made.pooling != "k-max":
            raise InputError(
                f"{system}.features: map needs pooling=k-max; the map of average has any number of columns"
            )
        if made.beta and not made.critic_steps:
            raise InputError(f"{system}.critic_steps: 0 leaves beta={made.beta:g} without critics; set beta=0 too")

    def with_variant(self) -> LayerwiseOptions:
        """The same options with those of the ablation."""
        below, last = self.all_alphas()[:-1], self.all_alphas()[-1]
        changes: dict[str, dict[str, str | float]] = {
            "": {},
            "enc-k": {"widths": "3"},
            "enc-k-wide": {"widths": "3", "kernels": self.kernels * len(self.all_widths())},
            "enc-p": {"features": "map"},
            "adv-non": {"beta": 0.0},
            "adv-one": {"alphas": _written([0.0] * len(below) + [last])},
            "adv-all": {"alphas": _written([abs(alpha) or 1.0 for alpha in (*below, last)])},
            "adv-top": {"alphas": _written([*below, -abs(last)])},
        }
        return replace(self, variant="", **changes[self.variant])  # type: ignore[arg-type]

    def all_alphas(self) -> list[float]:
        """A number for each layer; the last is 1 where there are only those below."""
        number = max(1, self.layers)  # without layers the mean has a critic
        alphas = numbers("layerwise.alphas", self.alphas, "1,2") or [1.0] * number
        if len(alphas) == number - 1:
            alphas.append(1.0)
        if len(alphas) != number:
            what = f"{self.alphas!r} has {len(alphas)} numbers, there are {self.layers} layers"
            raise InputError(f"layerwise.alphas: {what}; give {number - 1} (the last is 1) or {number}")
        return alphas

    def all_widths(self) -> list[int]:
        """The widths of the kernels."""
        widths = numbers("layerwise.widths", self.widths, "1,2")
        if not widths or any(width != int(width) or not 1 <= width <= _WIDEST for width in widths):
            raise InputError(f"layerwise.widths: {self.widths!r} is not a list of whole numbers like 2,3,4,5")
        return [int(width) for width in widths]


@dataclass(frozen=True)
class PaperOptions(LayerwiseOptions):
    """The paper's choices as defaults; m, widths, pooling, beta and rate are chosen from :data:`PAPER_GRID`.

    The paper is silent on k, the size of the scorer, dropout, the critics' steps and rate, and epochs.
    """

    layers: int = option(2, "m, layers of convolution and pooling (paper: 1 to 5)", 1, 20)
    pooling: str = option("k-max", "between layers: k-max or average; the last has the maximum")
    mean: bool = option(
        False, "the weighted mean of a text's word vectors stands beside the last layer (paper: it does not)"
    )
    weights: str = option("none", f"of the words in the mean: {' or '.join(WEIGHTS)}")
    scorer: str = option("feed-forward", "feed-forward (paper) or cosine")
    dropout: float = option(0.0, "of word vectors", 0, 0.99)
    margin: float = option(1.0, "by which a positive is to beat a negative (paper: 1)", 1e-6, 1000)
    negatives: str = option("random", "random, in-batch or hard (near the positive, by BM25); the paper does not say")
    mined: bool = option(False, "hard negatives are the nearest by the model, searched before each epoch but the first")
    query_vectors: str = option(SKIP_GRAM, f"word vectors of the query language to start from{START}")
    document_vectors: str = option(SKIP_GRAM, f"word vectors of the document language to start from{START}")


def alpha_grid(layers: int, sizes: Sequence[float] = (0.1, 1.0)) -> list[str]:
    """All signs and sizes of the layers below the last, as ``--grid 'alphas=...'`` takes them.

    >>> ";".join(alpha_grid(2, [0.5]))
    '-0.5;0;0.5'
    """
    values = [-size for size in sorted(sizes, reverse=True)] + [0.0] + sorted(sizes)
    return [_written(each) for each in itertools.product(values, repeat=max(1, layers) - 1)]


def _written(numbers: Sequence[float]) -> str:
    return ",".join(f"{number:g}" for number in numbers)


def _by_scorer(name: str) -> Any:
    """A method of ``DenseSystem`` where the scorer is the cosine, of ``Matcher`` where it is the network."""

    def method(self: Layerwise, *arguments: Any, **named: Any) -> Any:
        base = DenseSystem if self.ranks_by_product else Matcher
        return getattr(base, name)(self, *arguments, **named)

    return method


class Layerwise(Matcher, DenseSystem):
    """One encoder for both languages, and a critic of each layer that tells the languages apart."""

    name = "layerwise"
    paper = "Li, Du and Chen 2020, Cross-language question retrieval with multi-layer representation and layer-wise adversary"  # noqa: E501
    summary = "a layered CNN for both languages, with an adversary on each layer"
    options_type = LayerwiseOptions
    paper_grid = PAPER_GRID
    options: LayerwiseOptions
    _explainer: LayerwiseExplainer | None = None

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.settings = self.options.with_variant()
        self.ranks_by_product = self.explains_quickly = self.settings.scorer == "cosine"

    def build(self, tables: WordTables) -> LayeredScorer:
        from isogloss.papers.layerwise.matchers.layered import LayeredCnn, LayeredScorer, VectorPairNetwork, outputs_of

        s = self.settings
        tower = LayeredCnn(tables.dimension, s.layers, s.all_widths(), s.kernels, s.k, s.pooling)
        network = None if s.scorer == "cosine" else VectorPairNetwork(outputs_of(tables, tower, s.mean), s.hidden)
        return LayeredScorer(tables, tower, network, s.features == "map", s.mean)

    @property
    def reading(self) -> Reading:
        return replace(super().reading, weighted=self.settings.mean and self.settings.weights == "idf")

    @property
    def recipe(self) -> Recipe:
        recipe = super().recipe
        return replace(recipe, measures_start=self.settings.mean and recipe.patience > 0)

    def read(self, training: Dataset) -> RankingData:
        from isogloss.papers.layerwise.matchers.ranking_data import translated_pairs

        spec = self.options.translated_pairs
        return super().read(translated_pairs(training, spec) if spec else training)

    def extra_term(self, scorer: Scorer) -> ExtraTerm | None:
        from isogloss.papers.layerwise.adversary import CriticSettings, LayerwiseAdversary
        from isogloss.papers.layerwise.matchers.layered import LayeredScorer

        s = self.settings
        if not s.critic_steps:
            return None
        assert isinstance(scorer, LayeredScorer)
        clip = s.critic_clip if s.critic == "clipping" else 0.0
        critics = CriticSettings(s.critic_hidden, s.critic_steps, s.critic_rate, s.critic_penalty, clip)
        return LayerwiseAdversary(scorer.feature_sizes, s.all_alphas(), s.beta, critics, s.seed)

    def prepare_arrays(self, data: RankingData) -> tuple[Learner, Evaluator | None]:
        """The learner, and the evaluator on the dev lists, with the critics' distance of each layer."""
        learner, evaluate = super().prepare_arrays(data)
        from isogloss.papers.layerwise.adversary import doubts
        from isogloss.papers.layerwise.matchers.scorer import VectorScorer
        from isogloss.papers.layerwise.torch_triples import TorchTriples, nearest_documents
        from isogloss.papers.layerwise.triples import HardNegatives

        assert isinstance(learner, TorchTriples)
        scorer, negatives = learner.scorer, learner.negatives
        if self.settings.mined and isinstance(negatives, HardNegatives):
            assert isinstance(scorer, VectorScorer)
            negatives.mine = lambda: nearest_documents(scorer, learner.triples, self.settings.neighbours)
        logged: set[str] = set()

        def measure(parameters: State) -> dict[str, float]:
            report = learner.report()
            for doubt in doubts(report):
                if doubt not in logged:
                    logging.getLogger("isogloss").warning("layerwise: %s", doubt)
                    logged.add(doubt)
            return {**(evaluate(parameters) if evaluate else {}), **report, "doubts": float(len(doubts(report)))}

        return learner, measure

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        return self._encode(self._scorer.encode_queries, self.model.ids("query", texts))

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        label = f"encoding {len(texts):,} documents"
        return self._encode(self._scorer.encode_documents, self.model.ids("document", texts, label))

    def probe(self, queries: TextIds, documents: TextIds, seed: int = 0) -> list[float]:
        """The accuracy of a classifier of the language, on the vectors of each layer; use texts of no training data."""
        from isogloss.papers.layerwise.linear_probe import probe_accuracy

        left = self._all_layers(self._scorer.query_layers, queries)
        right = self._all_layers(self._scorer.document_layers, documents)
        return [probe_accuracy(*both, seed) for both in zip(left, right, strict=True)]

    def _all_layers(self, layers: Callable[[Texts], list[Layer]], texts: TextIds) -> list[Matrix]:
        """The vectors of each layer."""
        import torch

        vectors = self._encode(lambda batch: torch.cat([layer.vectors for layer in layers(batch)], dim=1), texts)
        tower = self._scorer.tower
        return np.split(vectors, tower.outputs * np.arange(1, max(1, len(tower.layers))), axis=1)

    def _encode(self, encode: Callable[[Texts], Tensor], texts: TextIds) -> Matrix:
        from isogloss.papers.torch_inference import encode_texts

        return encode_texts(encode, texts, self._scorer.tables.query.device)

    @property
    def _scorer(self) -> LayeredScorer:
        from isogloss.papers.layerwise.matchers.layered import LayeredScorer

        scorer = self.model.scorer.eval()
        assert isinstance(scorer, LayeredScorer)
        return scorer

    index_texts = _by_scorer("index_texts")
    scores, score, score_texts = _by_scorer("scores"), _by_scorer("score"), _by_scorer("score_texts")
    search, search_texts, search_all = _by_scorer("search"), _by_scorer("search_texts"), _by_scorer("search_all")
    explain, explain_text = _by_scorer("explain"), _by_scorer("explain_text")
    save_part, load_parts = _by_scorer("save_part"), _by_scorer("load_parts")

    def explain_vector(self, query: str, text: str, vector: Matrix, score: float) -> list[Contribution]:
        """Explain a cosine, by integrated gradients; a score of the network is explained by leaving words out."""
        if self._explainer is None or self._explainer.model is not self.model:
            self._explainer = LayerwiseExplainer(self.model, self._scorer)
        return self._explainer.by_pairs(query, text, vector, score)


class PaperLayerwise(Layerwise):
    """The model as the paper has it."""

    name = "layerwise-paper"
    summary = "the layer-wise adversary as the paper has it: scored by a network, random negatives, skip-gram vectors"
    options_type = PaperOptions
    options: PaperOptions


class LayerwiseExplainer:
    """Explains the scores of a model that compares vectors by their cosine, by pairs of words."""

    def __init__(self, model: MatcherModel, scorer: LayeredScorer) -> None:
        self.model, self._scorer = model, scorer.eval()
        self._shares_of = lru_cache(_KEPT)(self._query_shares)

    def by_pairs(self, query: str, text: str, document: Matrix, score: float) -> list[Contribution]:
        """The contributions of the words of a query to the cosine with a document vector."""
        words, shares = self._shares_of(query)
        if not words or not document.any():
            return []
        return explain_pairs(words, shares, document, score, lambda directions: self._products(text, directions))

    def _query_shares(self, query: str) -> tuple[list[str], Doubles]:
        """The known words of a query, each with its share in the vector of length 1."""
        words, vectors, encode = self._read("query", query)
        if not words:
            return [], np.zeros((0, 0))
        from isogloss.papers.integrated_gradients import word_shares

        found = word_shares(encode, vectors)
        length = float((found.words.sum(dim=0) + found.rest).norm()) or 1.0
        return sum_by_word(words, found.words.detach().double().cpu().numpy() / length)

    def _products(self, text: str, directions: Doubles) -> tuple[list[str], Doubles]:
        words, vectors, encode = self._read("document", text)
        if not words:
            return [], np.zeros((len(directions), 0))
        import torch

        from isogloss.papers.integrated_gradients import shares_along

        with torch.inference_mode():
            length = float(encode(vectors[None])[0].norm()) or 1.0
        found = shares_along(encode, vectors, vectors.new_tensor(directions))
        names, products = sum_by_word(words, found.words.detach().double().cpu().numpy() / length)
        return names, products.T

    def _read(self, side: str, text: str) -> tuple[list[str], Tensor, Callable[[Tensor], Tensor]]:
        """The known words of a text, their vectors, and what encodes copies of the vectors."""
        import torch

        from isogloss.papers.layerwise.matchers.scorer import shares
        from isogloss.papers.towers import Texts

        options, tables, is_query = self.model.options, self._scorer.tables, side == "query"
        longest = options.query_words if is_query else options.document_words
        words, rows = read_words(text, self.model.words[side], longest)
        table, weights = (
            (tables.query, tables.query_weights) if is_query else (tables.document, tables.document_weights)
        )
        vectors = table.detach()[rows]
        one = Texts(
            torch.as_tensor(rows, dtype=torch.int64, device=table.device)[None],
            torch.tensor([len(rows)], device=table.device),
        )
        own = shares(weights, one)

        def encode(copies: Tensor) -> Tensor:
            lengths = one.lengths.expand(len(copies))
            return self._scorer.layers_of(copies, own.expand(len(copies), -1), lengths)[-1].vectors

        return words, vectors, encode

"""The matching networks: ``dssm``, ``ai-cnn``, ``cntn``, ``match-srnn``, ``clann``, and ``cntn-mt``, ``match-srnn-mt``.

Each is a scorer of a module of its own beside this one, where its equations are, with its options. The two ``-mt``
systems translate the query first, and then match within the documents' language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.papers.layerwise.matchers.matcher import Matcher, MatcherOptions
from isogloss.papers.layerwise.translated_queries import TranslatedQueries, TranslatorOptions
from isogloss.papers.similarity import smooth_scale
from isogloss.storage.array_types import Matrix
from isogloss.systems.base import Contribution, SystemOptions, option
from isogloss.systems.dense import DenseSystem

if TYPE_CHECKING:
    from isogloss.papers.layerwise.matchers.ranking_data import RankingData
    from isogloss.papers.layerwise.matchers.scorer import Scorer, WordTables
    from isogloss.papers.layerwise.torch_triples import ExtraTerm


@dataclass(frozen=True)
class TranslatingOptions(MatcherOptions, TranslatorOptions):
    """Options of every matcher that translates."""

    trained_on: str = option(
        "translated",
        "translated: train queries; monolingual: train queries of the documents' language (as in the paper)",
    )

    def check(self, system: str) -> None:
        super().check(system)
        self.require(system, {"trained_on": ("translated", "monolingual")})


class TranslatingMatcher(Matcher):
    """A matcher of one language; queries of the other are translated before it sees them."""

    options: TranslatingOptions

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.one_language = True
        self._translated = TranslatedQueries(self.name, self.options, query_language, document_language)

    def query_texts(self, texts: Sequence[str]) -> Sequence[str]:
        return self._translated(texts)

    def read(self, training: Dataset) -> RankingData:
        from isogloss.papers.layerwise.matchers.ranking_data import monolingual, read_lists, read_ranking_data

        self._translated.learn(training)
        if self.options.trained_on == "translated":
            return super().read(training)
        data = read_ranking_data(monolingual(training), replace(self.reading, dev_queries=0))
        if not self.reading.dev_queries or "dev" not in training.splits:
            return data
        return replace(data, dev=read_lists(training, "dev", data.words["query"], self.reading, self.query_texts))

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        return self._translated.translations(query)

    def explain_text(self, query: str, text: str, score: float) -> list[Contribution]:
        return self._translated.in_words_of(query, super().explain_text(query, text, score))

    def save_model(self, directory: Path) -> None:
        super().save_model(directory)
        self._translated.save(directory)

    def load_model(self, directory: Path) -> None:
        self._translated.load(directory)
        super().load_model(directory)


@dataclass(frozen=True)
class DssmOptions(MatcherOptions):
    """Options of ``dssm``."""

    dimension: int = option(300, "of word vectors, the first layer", 1, 4096)
    rate: float = option(0.0003, "learning rate of Adam", 1e-9, 10)
    hidden: int = option(300, "units of the second layer", 1, 10_000)
    outputs: int = option(128, "of the last layer", 1, 10_000)
    gamma: float = option(10.0, "the smoothing factor: the cosine is multiplied by this in training", 1e-6, 1e6)
    loss: str = option("softmax", "softmax (paper): -log of the positive's share beside its negatives; or hinge")
    sampled: int = option(4, "negatives of each pair (paper: 4)", 1, 1000)
    negatives: str = option("random", "random (paper), in-batch or hard (near the positive, by BM25)")
    shared: bool = option(True, "one tower for queries and documents")


class Dssm(DenseSystem, Matcher):
    """Two feed-forward towers and the cosine between them, which any vector index can rank by."""

    name = "dssm"
    paper = "Huang, He, Gao, Deng, Acero and Heck 2013, Learning Deep Structured Semantic Models for Web Search"
    summary = "feed-forward towers over averaged word vectors, their cosine trained on pairs"
    options_type = DssmOptions
    options: DssmOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.papers.layerwise.matchers import dssm

        o = self.options
        return dssm.Dssm(tables, o.hidden, o.outputs, o.gamma, o.shared)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        return self._encode("query", texts, "encoding")

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return self._encode("document", texts, f"encoding {len(texts):,} documents")

    def _encode(self, side: str, texts: Sequence[str], label: str) -> Matrix:
        from isogloss.papers.layerwise.matchers import dssm
        from isogloss.papers.torch_inference import encode_texts

        scorer = self.model.scorer.eval()
        assert isinstance(scorer, dssm.Dssm)
        encode = scorer.encode_queries if side == "query" else scorer.encode_documents
        vectors = encode_texts(encode, self.model.ids(side, texts, label), scorer.tables.query.device)
        return np.asarray(smooth_scale(vectors, 0.0), dtype=np.float32)

    explain, explain_text = Matcher.explain, Matcher.explain_text


@dataclass(frozen=True)
class AiCnnOptions(MatcherOptions):
    """Options of ``ai-cnn``."""

    filters: int = option(100, "of the convolution", 1, 100_000)
    window: int = option(3, "words a filter sees", 1, 100)
    slices: int = option(20, "of the tensor that compares two segments", 1, 1000)
    shared: bool = option(True, "one convolution for queries and documents")


class AiCnn(Matcher):
    """Interactions of all pairs of segments, weighted by attention."""

    name = "ai-cnn"
    paper = "Zhang, Li, Sha and Wang 2017, Attentive Interactive Neural Networks for Answer Selection"
    summary = "interactions of all pairs of segments, pooled by rows and columns, weighted by attention"
    options_type = AiCnnOptions
    options: AiCnnOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.papers.layerwise.matchers import ai_cnn

        o = self.options
        return ai_cnn.AiCnn(tables, o.filters, o.window, o.slices, o.shared)


@dataclass(frozen=True)
class CntnOptions(MatcherOptions):
    """Options of ``cntn``."""

    filters: int = option(100, "of each convolution", 1, 100_000)
    window: int = option(3, "words a filter sees", 1, 100)
    layers: int = option(2, "of convolution and k-max pooling", 1, 10)
    top: int = option(4, "values of a filter that the last layer keeps (k_top)", 1, 1000)
    outputs: int = option(64, "of the encoders", 1, 10_000)
    slices: int = option(5, "of the tensor", 1, 1000)
    shared: bool = option(True, "one encoder for queries and documents")


class Cntn(Matcher):
    """Convolutional encoders, compared by a tensor layer."""

    name = "cntn"
    paper = (
        "Qiu and Huang 2015, Convolutional Neural Tensor Network Architecture for Community-based Question Answering"
    )
    summary = "convolutional encoders whose vectors are compared by a neural tensor layer"
    options_type: ClassVar[type[SystemOptions]] = CntnOptions
    options: CntnOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.papers.layerwise.matchers import cntn

        o = self.options
        return cntn.Cntn(tables, o.filters, o.window, o.layers, o.top, o.outputs, o.slices, o.shared)


@dataclass(frozen=True)
class TranslatingCntnOptions(CntnOptions, TranslatingOptions):
    """Options of ``cntn-mt``."""


class TranslatingCntn(TranslatingMatcher, Cntn):
    """CNTN with the translation of the query."""

    name = "cntn-mt"
    paper = "Qiu and Huang 2015 for CNTN; Li, Du and Chen 2020 for translating first (the -MT rows)"
    summary = "cntn with the query translated first: by a lexicon word by word, by Apertium, or from a file"
    options_type = TranslatingCntnOptions
    options: TranslatingCntnOptions


@dataclass(frozen=True)
class MatchSrnnOptions(MatcherOptions):
    """Options of ``match-srnn``."""

    channels: int = option(10, "slices of the tensor that compares two words", 1, 1000)
    hidden: int = option(10, "units of the spatial GRU", 1, 1000)
    both_directions: bool = option(False, "a second GRU reads the grid from its end")


class MatchSrnn(Matcher):
    """A spatial GRU over a tensor of word interactions."""

    name = "match-srnn"
    paper = (
        "Wan, Lan, Xu, Guo, Pang and Cheng 2016, Match-SRNN: Modeling the Recursive Matching Structure with Spatial RNN"
    )
    summary = "a spatial GRU over the grid of all word pairs, each compared by a neural tensor layer"
    options_type: ClassVar[type[SystemOptions]] = MatchSrnnOptions
    options: MatchSrnnOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.papers.layerwise.matchers import match_srnn

        o = self.options
        return match_srnn.MatchSrnn(tables, o.channels, o.hidden, o.both_directions)


@dataclass(frozen=True)
class TranslatingMatchSrnnOptions(MatchSrnnOptions, TranslatingOptions):
    """Options of ``match-srnn-mt``."""


class TranslatingMatchSrnn(TranslatingMatcher, MatchSrnn):
    """Match-SRNN with the translation of the query."""

    name = "match-srnn-mt"
    paper = "Wan et al. 2016 for Match-SRNN; Li, Du and Chen 2020 for translating first (the -MT rows)"
    summary = "match-srnn with the query translated first: by a lexicon word by word, by Apertium, or from a file"
    options_type = TranslatingMatchSrnnOptions
    options: TranslatingMatchSrnnOptions


@dataclass(frozen=True)
class ClannOptions(MatcherOptions):
    """Options of ``clann``."""

    dimension: int = option(300, "of word vectors", 1, 4096)
    rate: float = option(0.0003, "learning rate of Adam", 1e-9, 10)
    outputs: int = option(100, "of the encoder", 1, 10_000)
    hidden: int = option(64, "units between both vectors and the score", 1, 10_000)
    discriminator: int = option(64, "hidden units of the language discriminator", 1, 10_000)
    cosine: float = option(5.0, "weight in the score that the cosine starts with", -1000, 1000)
    strength: float = option(0.1, "of the adversary at the end (lambda); 0: the encoder is left alone", 0, 1000)


class Clann(Matcher):
    """One encoder for both languages, and an adversary that makes their vectors indistinguishable."""

    name = "clann"
    paper = "Joty, Nakov, Màrquez and Jaradat 2017, Cross-language Learning with Adversarial Neural Networks"
    summary = "a feed-forward encoder of averaged word vectors, from which an adversary cannot tell the language"
    options_type = ClannOptions
    options: ClannOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.papers.layerwise.matchers import clann

        o = self.options
        return clann.Clann(tables, o.hidden, o.outputs, o.discriminator, o.cosine)

    def extra_term(self, scorer: Scorer) -> ExtraTerm | None:
        from isogloss.papers.layerwise.adversary import LanguageAdversary
        from isogloss.papers.layerwise.matchers import clann

        assert isinstance(scorer, clann.Clann)
        return LanguageAdversary(scorer, self.options.strength, self.options.epochs)

"""``dssm``: the deep structured semantic model over words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from isogloss.nn.similarity import smooth_scale
from isogloss.systems.base import Contribution, option
from isogloss.systems.dense import DenseSystem
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.matchers.options import MatcherOptions
from isogloss.translation.vectors.word_vectors import Matrix

if TYPE_CHECKING:
    from isogloss.nn.matchers.scorer import Scorer, WordTables


@dataclass(frozen=True)
class DssmOptions(MatcherOptions):
    """Options of ``dssm``."""

    dimension: int = option(300, "of word vectors, the first layer", 1, 4096)
    rate: float = option(0.0003, "learning rate of Adam", 1e-9, 10)
    hidden: int = option(300, "units of the second layer", 1, 10_000)
    outputs: int = option(128, "of the last layer", 1, 10_000)
    gamma: float = option(10.0, "the cosine is multiplied by this while it is learned", 1e-6, 1e6)
    shared: bool = option(True, "one tower for queries and documents")


class Dssm(DenseSystem, Matcher):
    """Two feed-forward towers and the cosine between them, which any index serves."""

    name = "dssm"
    paper = "Huang, He, Gao, Deng, Acero and Heck 2013, Learning Deep Structured Semantic Models for Web Search"
    summary = "feed-forward towers over averaged word vectors, their cosine learned from pairs"
    options_type = DssmOptions
    options: DssmOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.nn.matchers import dssm

        options = self.options
        return dssm.Dssm(tables, options.hidden, options.outputs, options.gamma, options.shared)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        return self._encode("query", texts, "encoding")

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return self._encode("document", texts, f"encoding {len(texts):,} documents")

    def _encode(self, side: str, texts: Sequence[str], label: str) -> Matrix:
        from isogloss.nn.inference import encode_texts
        from isogloss.nn.matchers import dssm

        scorer = self.model.scorer.eval()
        assert isinstance(scorer, dssm.Dssm)
        encode = scorer.encode_queries if side == "query" else scorer.encode_documents
        vectors = encode_texts(encode, self.model.ids(side, texts, label), scorer.tables.query.device)
        return np.asarray(smooth_scale(vectors, 0.0), dtype=np.float32)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        return Matcher.explain(self, query, row, text)

    def explain_text(self, query: str, text: str, score: float) -> list[Contribution]:
        return Matcher.explain_text(self, query, text, score)

    def save(self, directory: Path) -> None:
        self.save_model(directory)
        super().save(directory)

    def load(self, directory: Path) -> Self:
        self.load_model(directory)
        return super().load(directory)

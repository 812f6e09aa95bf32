"""``dssm``: the deep structured semantic model over words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogloss.systems.matcher import Matcher
from isogloss.systems.matcher_options import MatcherOptions, option

if TYPE_CHECKING:
    from isogloss.models.matchers.scorer import Scorer
    from isogloss.models.matchers.word_tables import WordTables


@dataclass(frozen=True)
class DssmOptions(MatcherOptions):
    """Options of ``dssm``."""

    dimension: int = option(300, "of word vectors, the first layer", 1, 4096)
    hidden: int = option(300, "units of the second layer", 1, 10_000)
    outputs: int = option(128, "of the last layer", 1, 10_000)
    gamma: float = option(10.0, "the cosine is multiplied by this", 1e-6, 1e6)
    shared: bool = option(True, "one tower for queries and documents")


class Dssm(Matcher):
    """Two feed-forward towers and the cosine between them."""

    name = "dssm"
    paper = "Huang, He, Gao, Deng, Acero and Heck 2013, Learning Deep Structured Semantic Models for Web Search"
    summary = "feed-forward towers over averaged word vectors, their cosine learned from pairs"
    options_type = DssmOptions
    options: DssmOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.models.matchers import dssm

        options = self.options
        return dssm.Dssm(tables, options.hidden, options.outputs, options.gamma, options.shared)

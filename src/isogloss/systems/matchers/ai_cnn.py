"""``ai-cnn``: the attentive interactive network over convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogloss.systems.base import option
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.matchers.options import MatcherOptions

if TYPE_CHECKING:
    from isogloss.nn.matchers.scorer import Scorer, WordTables


@dataclass(frozen=True)
class AiCnnOptions(MatcherOptions):
    """Options of ``ai-cnn``."""

    filters: int = option(100, "of the convolution", 1, 100_000)
    window: int = option(3, "words a filter sees", 1, 100)
    slices: int = option(20, "of the tensor that compares two segments", 1, 1000)
    shared: bool = option(True, "one convolution for queries and documents")


class AiCnn(Matcher):
    """Interactions of all segments, of which attention chooses."""

    name = "ai-cnn"
    paper = "Zhang, Li, Sha and Wang 2017, Attentive Interactive Neural Networks for Answer Selection"
    summary = "interactions of all pairs of segments, pooled by rows and columns, weighted by attention"
    options_type = AiCnnOptions
    options: AiCnnOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.nn.matchers import ai_cnn

        made = self.options
        return ai_cnn.AiCnn(tables, made.filters, made.window, made.slices, made.shared)

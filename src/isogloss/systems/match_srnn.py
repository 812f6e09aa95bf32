"""``match-srnn``: a recurrent network over the grid of word pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isogloss.evaluation.system import SystemOptions
from isogloss.systems.matcher import Matcher
from isogloss.systems.matcher_options import MatcherOptions, option

if TYPE_CHECKING:
    from isogloss.models.matchers.scorer import Scorer
    from isogloss.models.matchers.word_tables import WordTables


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
        from isogloss.models.matchers import match_srnn

        made = self.options
        return match_srnn.MatchSrnn(tables, made.channels, made.hidden, made.both_directions)

"""``match-srnn``: a recurrent network over the grid of word pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isogloss.systems.base import SystemOptions, option
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.matchers.options import MatcherOptions
from isogloss.systems.matchers.translating import TranslatingMatcher, TranslatingOptions

if TYPE_CHECKING:
    from isogloss.nn.matchers.scorer import Scorer, WordTables


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
        from isogloss.nn.matchers import match_srnn

        made = self.options
        return match_srnn.MatchSrnn(tables, made.channels, made.hidden, made.both_directions)


# ``match-srnn-mt``: the query is translated, then matched by ``match-srnn``.


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

"""``match-srnn-mt``: the query is translated, then matched by ``match-srnn``."""

from __future__ import annotations

from dataclasses import dataclass

from isogloss.systems.match_srnn import MatchSrnn, MatchSrnnOptions
from isogloss.systems.translating_matcher import TranslatingMatcher, TranslatingOptions


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

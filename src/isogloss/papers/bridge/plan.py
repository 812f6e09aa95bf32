"""Which trials the items of ``reproduce bridge`` need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from isogloss.data.source import Pair
from isogloss.papers.bridge.trial import Trial
from isogloss.papers.bridge.trial_data import PairData

WHOLE = "the whole system"
ABLATIONS = {
    "without=lexicon": "no dictionary",
    "without=pages": "no translated pages: the dictionary is all there is",
    "without=unknown": "rare words are left out, not taken for one word",
    "without=document": "passages only, not the whole document beside them",
    "without=reverse": "how well the query says the document, but not the other way round",
    "without=length": "nothing is known of lengths",
    "without=vectors": "no word vectors",
    "without=characters": "words only, where documents are written without spaces",
    "without=weights": "the usual weights, not those fitted on train queries",
    "passages=0": "whole documents, no passages",
    "stems=no": "words as they stand, no stems",
}
"""A setting, and what is gone with it."""
CHOSEN_BY_ITEMS = ("without", "lexicon", "pretrained")
"""Options that cannot be set for all trials."""

Trials = dict[str, Trial]
"""By what they are called in a table."""


@dataclass(frozen=True)
class Setup:
    """What all trials of a command have in common; ``pretrained``: an encoder to try as one more ingredient."""

    data: str
    pairs: tuple[Pair, ...]
    split: str = "dev"
    pretrained: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def whole(self, pair: Pair) -> Trials:
        """The whole system, and with the encoder where one is named."""
        made = {WHOLE: self._trial(pair, {}, reliability=True)}
        if self.pretrained:
            encoder = {"pretrained": self.pretrained}
            made[f"pretrained={self.pretrained}"] = self._trial(pair, encoder, reliability=True)
        return made

    def ablations(self, pair: Pair, data: PairData) -> Trials:
        """The whole system, then without each ingredient that the data have and that something can replace."""
        either = data.lexicon and data.has_pages
        left = [each for each in ABLATIONS if either or each not in ("without=lexicon", "without=pages")]
        whole = self.whole(pair)
        without = {each: self._trial(pair, dict([each.split("=")])) for each in left}
        return {WHOLE: whole.pop(WHOLE), **without, **whole}

    def _trial(self, pair: Pair, settings: Mapping[str, str], reliability: bool = False) -> Trial:
        return Trial(pair, {**self.settings, **settings}, self.split, reliability)

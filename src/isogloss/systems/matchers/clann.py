"""``clann``: the cross-language adversarial neural network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogloss.systems.base import option
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.matchers.options import MatcherOptions

if TYPE_CHECKING:
    from isogloss.nn.matchers.scorer import Scorer, WordTables
    from isogloss.training.torch_triples import ExtraTerm


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
    """One encoder for both languages, and an adversary that keeps them alike."""

    name = "clann"
    paper = "Joty, Nakov, Màrquez and Jaradat 2017, Cross-language Learning with Adversarial Neural Networks"
    summary = "a feed-forward encoder of averaged word vectors, from which an adversary cannot tell the language"
    options_type = ClannOptions
    options: ClannOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.nn.matchers import clann

        made = self.options
        return clann.Clann(tables, made.hidden, made.outputs, made.discriminator, made.cosine)

    def extra_term(self, scorer: Scorer) -> ExtraTerm | None:
        from isogloss.nn.matchers import clann
        from isogloss.training.adversary import LanguageAdversary

        assert isinstance(scorer, clann.Clann)
        return LanguageAdversary(scorer, self.options.strength, self.options.epochs)

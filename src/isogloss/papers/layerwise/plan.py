"""Which trials the items of ``reproduce layerwise`` need.

What the model's tables have in common depends on the alphas that are chosen on the lists to choose by: their trials are
known only when those of the grid were run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from isogloss.data.source import Pair
from isogloss.papers.layerwise.lists import Drawing
from isogloss.papers.layerwise.published import OURS
from isogloss.papers.layerwise.trial import Trial, has_seeds
from isogloss.papers.layerwise.trial_store import TrialStore
from isogloss.systems.layerwise.options import LayerwiseOptions, alpha_grid
from isogloss.systems.registry import parse_options

MODEL = "layerwise"
MONOLINGUAL = {
    "BM25": "bm25", "TRANS": "translation-lm", "TOPIC": "topic", "DSSM": "dssm", "AI-CNN": "ai-cnn", "CNTN": "cntn",
    "Match-SRNN": "match-srnn",
}  # fmt: skip
TRANSLATED = {"CNTN-MT": "cntn-mt", "Match-SRNN-MT": "match-srnn-mt"}
CROSS_LANGUAGE = {"CLANN": "clann", "CLTK": "tree-kernel"}
HOUSE = {"BM25-MT": "bm25-mt", "BM25 with a dictionary": "bm25-dict", "PSQ": "psq", "Smooth": "smooth"}
"""Rows that the paper has not."""
ENCODERS = {"ENC-K": "enc-k", "ENC-P": "enc-p"}
ADVERSARIES = {"ADV-NON": "adv-non", "ADV-ONE": "adv-one", "ADV-ALL": "adv-all", "ADV-TOP": "adv-top"}
_FIXED = ("adv-non", "adv-one", "adv-all")  # these say all alphas themselves
CHOSEN_BY_ITEMS = ("seed", "device", "variant", "alphas")
"""Options that cannot be set for all trials."""
ROWS = {**MONOLINGUAL, **TRANSLATED, **CROSS_LANGUAGE, OURS: MODEL, **HOUSE}

Groups = dict[str, list[Trial]]
"""Trials that differ in their seeds only, by what they are called in a table."""


@dataclass(frozen=True)
class Setup:
    """What all trials of a command have in common; ``settings``: by system; ``alphas``: those tried, () for a grid."""

    data: str = ""
    pairs: tuple[Pair, ...] = ()
    drawing: Drawing = field(default_factory=Drawing)
    seeds: int = 3
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alphas: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def trials(self, pair: Pair, system: str, **settings: str) -> list[Trial]:
        """One a seed, where chance has a part."""
        chosen = {**self.settings.get(system, {}), **settings}
        seeds = range(self.seeds if has_seeds(system) else 1)
        return [Trial(self.data, pair, system, chosen, seed, self.drawing) for seed in seeds]

    def cross_language(self) -> list[Pair]:
        """The pairs of two languages."""
        return [pair for pair in self.pairs if pair[0] != pair[1]]

    def grid(self) -> list[str]:
        """The alphas that are tried, those of all layers or of all but the last."""
        options = parse_options(MODEL, LayerwiseOptions, self.settings.get(MODEL, {}))
        assert isinstance(options, LayerwiseOptions)
        return list(self.alphas) or alpha_grid(options.layers)


def alpha_trials(setup: Setup, pair: Pair) -> Groups:
    """The model with each of the alphas."""
    return {alphas: setup.trials(pair, MODEL, alphas=alphas) for alphas in setup.grid()}


def chosen_alphas(setup: Setup, pair: Pair, store: TrialStore) -> str | None:
    """Those with the best MAP on the lists to choose by, averaged over the seeds; None while trials are missing."""
    groups = alpha_trials(setup, pair)
    if not all(store.is_settled(trial) for trials in groups.values() for trial in trials):
        return None
    found = {
        alphas: float(np.mean(values))
        for alphas, trials in groups.items()
        if (values := [result.mean("MAP", "validation") for trial in trials if (result := store.read(trial))])
    }
    return max(found, key=found.__getitem__) if found else None


def model_trials(setup: Setup, pair: Pair, store: TrialStore, variant: str = "") -> list[Trial] | None:
    """The model, or an ablation of it, with the chosen alphas; None while they are not known."""
    if variant in _FIXED:
        return setup.trials(pair, MODEL, variant=variant)
    alphas = chosen_alphas(setup, pair, store)
    return None if alphas is None else setup.trials(pair, MODEL, variant=variant, alphas=alphas)


def table1_trials(setup: Setup, pair: Pair, store: TrialStore) -> Groups:
    """Monolingual rows where the languages are the same, the others where they differ."""
    crossing = pair[0] != pair[1]
    rows = (
        {**TRANSLATED, **CROSS_LANGUAGE, OURS: MODEL, **HOUSE}
        if crossing
        else {**MONOLINGUAL, "Smooth, monolingual": "smooth"}
    )
    return {
        label: (model_trials(setup, pair, store) or []) if system == MODEL else setup.trials(pair, system)
        for label, system in rows.items()
        if system not in setup.left_out
    }


def table2_trials(setup: Setup, pair: Pair, store: TrialStore) -> Groups:
    """The encoder's ablations and the model."""
    return _variants(setup, pair, store, ENCODERS)


def table3_trials(setup: Setup, pair: Pair, store: TrialStore) -> Groups:
    """The adversary's ablations and the model."""
    return _variants(setup, pair, store, ADVERSARIES)


def watched_trials(setup: Setup, pair: Pair, store: TrialStore) -> Groups:
    """What the adversary is looked at in: the model without one, with one, with all, and with the chosen alphas."""
    return _variants(setup, pair, store, {name: ADVERSARIES[name] for name in ("ADV-NON", "ADV-ONE", "ADV-ALL")})


def _variants(setup: Setup, pair: Pair, store: TrialStore, variants: Mapping[str, str]) -> Groups:
    named: Iterable[tuple[str, str]] = [*variants.items(), (OURS, "")]
    return {label: model_trials(setup, pair, store, variant) or [] for label, variant in named}

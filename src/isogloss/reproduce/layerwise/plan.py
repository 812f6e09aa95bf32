"""Which trials the items of ``reproduce layerwise`` need.

The model's rows depend on the alphas that are chosen on the validation lists: their trials are known only when those of
the grid were run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from isogloss.data.source import Pair
from isogloss.reproduce import pages, trials
from isogloss.reproduce.layerwise.data import Drawing, Trial, TrialData, has_seeds
from isogloss.reproduce.layerwise.published import OURS
from isogloss.reproduce.pages import Item
from isogloss.systems.layerwise import LayerwiseOptions, alpha_grid
from isogloss.systems.registry import parse_options

MODEL = "layerwise"
MONOLINGUAL = {
    "BM25": "bm25", "TRANS": "translation-lm", "TOPIC": "topic", "DSSM": "dssm", "AI-CNN": "ai-cnn", "CNTN": "cntn",
    "Match-SRNN": "match-srnn",
}  # fmt: skip
TRANSLATED = {"CNTN-MT": "cntn-mt", "Match-SRNN-MT": "match-srnn-mt"}
CROSS_LANGUAGE = {"CLANN": "clann", "CLTK": "tree-kernel"}
OTHERS = {"BM25-MT": "bm25-mt", "BM25 with a dictionary": "bm25-dict", "PSQ": "psq", "Smooth": "smooth"}
"""Rows that the paper has not."""
ENCODERS = {"ENC-K": "enc-k", "ENC-P": "enc-p"}
ADVERSARIES = {"ADV-NON": "adv-non", "ADV-ONE": "adv-one", "ADV-ALL": "adv-all", "ADV-TOP": "adv-top"}
_FIXED = ("adv-non", "adv-one", "adv-all")  # these set all alphas themselves
CHOSEN_BY_ITEMS = ("seed", "device", "variant", "alphas")
"""Options that cannot be set for all trials."""
ROWS = {**MONOLINGUAL, **TRANSLATED, **CROSS_LANGUAGE, OURS: MODEL, **OTHERS}

Groups = dict[str, list[Trial]]
"""Trials that differ in their seeds only, by what they are called in a table."""


@dataclass(frozen=True)
class Setup(pages.Setup):
    """What all trials of a command have in common; ``settings``: by system; ``alphas``: those tried, () for a grid."""

    data: str = ""
    pairs: tuple[Pair, ...] = ()
    drawing: Drawing = field(default_factory=Drawing)
    seeds: int = 3
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alphas: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def trials(self, pair: Pair, system: str, **settings: str) -> list[Trial]:
        """One a seed, where the system has one."""
        chosen = {**self.settings.get(system, {}), **settings}
        seeds = range(self.seeds if has_seeds(system) else 1)
        return [Trial(self.data, pair, system, chosen, seed, self.drawing) for seed in seeds]

    def about(self) -> dict[str, Any]:
        return {
            "data": self.data, "pairs": ["-".join(pair) for pair in self.pairs], "split": self.drawing.split,
            "seeds": self.seeds, "settings": {name: dict(each) for name, each in self.settings.items()},
        }  # fmt: skip

    def settings_shown(self, item: Item) -> str:
        shown = {MODEL: self.settings.get(MODEL, {})} if item.cross_lingual else self.settings
        return ", ".join(f"{name}.{key} = {value}" for name, each in shown.items() for key, value in each.items())

    def cross_language(self) -> list[Pair]:
        """The pairs of two languages."""
        return [pair for pair in self.pairs if pair[0] != pair[1]]

    def grid(self) -> list[str]:
        """The alphas that are tried, those of all layers or of all but the last."""
        options = parse_options(MODEL, LayerwiseOptions, self.settings.get(MODEL, {}))
        assert isinstance(options, LayerwiseOptions)
        return list(self.alphas) or alpha_grid(options.layers)


class Experiment(pages.Experiment[Setup, Trial, TrialData]):
    """What the items of the layer-wise paper are made from."""

    def needed(self, items: Iterable[Item]) -> list[Trial]:
        """As far as they are known; seed by seed, so that all rows have the same seeds if time runs out."""
        return sorted(super().needed(items), key=lambda trial: trial.seed)


Result = trials.Result[Trial]


def alpha_trials(experiment: Experiment, pair: Pair) -> Groups:
    """The model with each of the alphas."""
    return {alphas: experiment.setup.trials(pair, MODEL, alphas=alphas) for alphas in experiment.setup.grid()}


def chosen_alphas(experiment: Experiment, pair: Pair) -> str | None:
    """Those with the best MAP on the validation lists, averaged over the seeds; None while trials are missing."""
    groups = alpha_trials(experiment, pair)
    if not all(experiment.trials.is_settled(trial) for trials in groups.values() for trial in trials):
        return None
    found = {
        alphas: float(np.mean([result.mean("MAP", "validation") for result in results]))
        for alphas, results in experiment.groups(groups).items()
        if results
    }
    return max(found, key=found.__getitem__) if found else None


def model_trials(experiment: Experiment, pair: Pair, variant: str = "") -> list[Trial] | None:
    """The model, or an ablation of it, with the chosen alphas; None while they are not known."""
    if variant in _FIXED:
        return experiment.setup.trials(pair, MODEL, variant=variant)
    alphas = chosen_alphas(experiment, pair)
    return None if alphas is None else experiment.setup.trials(pair, MODEL, variant=variant, alphas=alphas)


def table1_trials(experiment: Experiment, pair: Pair) -> Groups:
    """Monolingual rows where the languages are the same, the others where they differ."""
    rows = {**MONOLINGUAL, "Smooth, monolingual": "smooth"}
    if pair[0] != pair[1]:
        rows = {**TRANSLATED, **CROSS_LANGUAGE, OURS: MODEL, **OTHERS}
    return {
        label: (model_trials(experiment, pair) or []) if system == MODEL else experiment.setup.trials(pair, system)
        for label, system in rows.items()
        if system not in experiment.setup.left_out
    }


def ablation_trials(experiment: Experiment, pair: Pair, variants: Mapping[str, str]) -> Groups:
    """Ablations of the model by their labels, and the model."""
    named = {**variants, OURS: ""}
    return {label: model_trials(experiment, pair, variant) or [] for label, variant in named.items()}


table2_trials = partial(ablation_trials, variants=ENCODERS)
table3_trials = partial(ablation_trials, variants=ADVERSARIES)
adversary_trials = partial(ablation_trials, variants=dict(list(ADVERSARIES.items())[:3]))
"""What the adversary does: the model without one, with one, with all, and with the chosen alphas."""

"""Which trials the items of ``reproduce layerwise`` need.

The rows of the paper's model depend on the beta and the alphas that are chosen on the validation lists: their trials
are known only when those of the grid were run. ``layerwise`` with our defaults is a row beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from isogloss.data.source import Pair
from isogloss.papers.layerwise.experiments.data import Drawing, Trial, TrialData, has_seeds
from isogloss.papers.layerwise.experiments.published import MODEL_LABEL
from isogloss.papers.layerwise.system import LayerwiseOptions, PaperOptions, alpha_grid
from isogloss.papers.reproduction import pages, trials
from isogloss.papers.reproduction.pages import Item
from isogloss.systems.registry import parse_options

MODEL = "layerwise-paper"
"""The model as the paper has it."""
IMPROVED = {"layerwise, our defaults": "layerwise"}
"""What stands beside it in every table."""
TRANSLATED_PAIRS = f"{MODEL_LABEL}, trained on translated pairs"
MONOLINGUAL = {
    "BM25": "bm25", "TRANS": "translation-lm", "TOPIC": "topic", "DSSM": "dssm", "AI-CNN": "ai-cnn", "CNTN": "cntn",
    "Match-SRNN": "match-srnn",
}  # fmt: skip
TRANSLATED = {"CNTN-MT": "cntn-mt", "Match-SRNN-MT": "match-srnn-mt"}
CROSS_LANGUAGE = {"CLANN": "clann", "CLTK": "tree-kernel"}
OTHERS = {"BM25-MT": "bm25-mt", "BM25 with a dictionary": "bm25-dict", "PSQ": "psq", "Smooth": "smooth"}
"""Rows that the paper has not."""
ENCODERS = {"ENC-K": "enc-k", "ENC-K, as many kernels": "enc-k-wide", "ENC-P": "enc-p"}
ADVERSARIES = {"ADV-NON": "adv-non", "ADV-ONE": "adv-one", "ADV-ALL": "adv-all", "ADV-TOP": "adv-top"}
_FIXED = ("adv-one", "adv-all")  # these set all alphas themselves
CHOSEN_BY_ITEMS = ("seed", "device", "variant", "alphas", "translated_pairs")
"""Options that cannot be set for all trials."""
ROWS = {**MONOLINGUAL, **TRANSLATED, **CROSS_LANGUAGE, MODEL_LABEL: MODEL, **IMPROVED, **OTHERS}
TRIED = {
    "layers": ("1", "3"), "pooling": ("average",), "widths": ("2,3", "2,5", "4,5"), "rate": ("0.01", "0.0001"),
    "beta": ("0.01", "0.1", "1"),
}  # fmt: skip
"""Values of the paper's section 4.2 that the item ``settings`` tries, one at a time."""

Groups = dict[str, list[Trial]]
"""Trials that differ in their seeds only, by what they are called in a table."""


@dataclass(frozen=True)
class Setup(pages.Setup):
    """What all trials of a command have in common.

    ``settings``: by system; ``alphas`` and ``betas``: those tried, () for a grid and for the beta that is set;
    ``translator``: of the row that is trained on translated pairs.
    """

    data: str = ""
    pairs: tuple[Pair, ...] = ()
    drawing: Drawing = field(default_factory=Drawing)
    seeds: int = 3
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alphas: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    betas: tuple[str, ...] = ()
    translator: str = ""

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
        ablated = (MODEL, *IMPROVED.values())
        shown = {name: each for name, each in self.settings.items() if name in ablated or not item.cross_lingual}
        return ", ".join(f"{name}.{key} = {value}" for name, each in shown.items() for key, value in each.items())

    def cross_language(self) -> list[Pair]:
        """The pairs of two languages."""
        return [pair for pair in self.pairs if pair[0] != pair[1]]

    def grid(self) -> dict[str, dict[str, str]]:
        """The settings that are tried, by their labels: each beta with each alphas, of all layers but the last or all.

        >>> list(Setup(alphas=("-1", "1"), betas=("0.01", "0.1")).grid())
        ['0.01: -1', '0.01: 1', '0.1: -1', '0.1: 1']
        """
        options = parse_options(MODEL, PaperOptions, self.settings.get(MODEL, {}))
        assert isinstance(options, LayerwiseOptions)
        alphas, betas = self.alphas or alpha_grid(options.layers), self.betas or (f"{options.beta:g}",)
        return {
            (f"{beta}: " if len(betas) > 1 else "") + (each or "1"): {"beta": beta, "alphas": each}
            for beta in betas
            for each in alphas
        }


class Experiment(pages.Experiment[Setup, Trial, TrialData]):
    """What the items of the layer-wise paper are made from."""

    def needed(self, items: Iterable[Item]) -> list[Trial]:
        """As far as they are known; seed by seed, so that all rows have the same seeds if time runs out."""
        return sorted(super().needed(items), key=lambda trial: trial.seed)


Result = trials.Result[Trial]


def grid_trials(experiment: Experiment, pair: Pair) -> Groups:
    """The model with each beta and each of the alphas."""
    setup = experiment.setup
    return {label: setup.trials(pair, MODEL, **settings) for label, settings in setup.grid().items()}


def settings_trials(experiment: Experiment, pair: Pair) -> Groups:
    """The model as it is set, and with one other value of a setting at a time; the first seed alone."""
    setup, changes = experiment.setup, {"as it is set": dict[str, str]()}
    changes |= {f"{key} = {value}": {key: value} for key, values in TRIED.items() for value in values}
    return {label: setup.trials(pair, MODEL, **each)[:1] for label, each in changes.items()}


def chosen(experiment: Experiment, pair: Pair) -> str | None:
    """The label of the grid with the best validation MAP, averaged over seeds; None while trials are missing."""
    groups = grid_trials(experiment, pair)
    if not all(experiment.trials.is_settled(trial) for trials in groups.values() for trial in trials):
        return None
    found = {
        label: float(np.mean([result.mean("MAP", "validation") for result in results]))
        for label, results in experiment.groups(groups).items()
        if results
    }
    return max(found, key=found.__getitem__) if found else None


def model_trials(experiment: Experiment, pair: Pair, variant: str = "") -> list[Trial] | None:
    """The model, or an ablation of it, with the chosen beta and alphas; None while they are not known."""
    if variant == "adv-non":
        return experiment.setup.trials(pair, MODEL, variant=variant)
    label = chosen(experiment, pair)
    if label is None:
        return None
    settings = experiment.setup.grid()[label]
    if variant in _FIXED:
        settings = {**settings, "alphas": ""}
    return experiment.setup.trials(pair, MODEL, **settings, variant=variant)


def has_comparable_alphas(experiment: Experiment, pair: Pair) -> bool:
    """Whether the chosen model is none of those with adversaries alike on all layers: an alpha is below 0 or 0."""
    label = chosen(experiment, pair)
    if label is None:
        return False
    (trial, *_) = experiment.setup.trials(pair, MODEL, **experiment.setup.grid()[label])
    options = parse_options(MODEL, PaperOptions, trial.settings)
    assert isinstance(options, LayerwiseOptions)
    return any(alpha <= 0 for alpha in options.all_alphas())


def table1_trials(experiment: Experiment, pair: Pair) -> Groups:
    """Monolingual rows where the languages are the same, the others where they differ."""
    rows = {**MONOLINGUAL, "Smooth, monolingual": "smooth"}
    if pair[0] != pair[1]:
        rows = {**TRANSLATED, **CROSS_LANGUAGE, MODEL_LABEL: MODEL, **IMPROVED, **OTHERS}
    setup = experiment.setup
    found = {
        label: (model_trials(experiment, pair) or []) if system == MODEL else setup.trials(pair, system)
        for label, system in rows.items()
        if system not in setup.left_out
    }
    label = chosen(experiment, pair) if pair[0] != pair[1] and setup.translator else None
    if label is not None:
        found[TRANSLATED_PAIRS] = setup.trials(pair, MODEL, **setup.grid()[label], translated_pairs=setup.translator)
    return found


def ablation_trials(experiment: Experiment, pair: Pair, variants: Mapping[str, str]) -> Groups:
    """Ablations of the paper's model by their labels, the model, and ours beside them."""
    named = {**variants, MODEL_LABEL: ""}
    if experiment.setup.settings.get(MODEL, {}).get("pooling") == "average":
        named.pop("ENC-P", None)  # the map has any number of columns, which critics cannot see
    found = {label: model_trials(experiment, pair, variant) or [] for label, variant in named.items()}
    return found | {label: experiment.setup.trials(pair, system) for label, system in IMPROVED.items()}


table2_trials = partial(ablation_trials, variants=ENCODERS)
table3_trials = partial(ablation_trials, variants=ADVERSARIES)
adversary_trials = partial(ablation_trials, variants=dict(list(ADVERSARIES.items())[:3]))
"""What the adversary does: the model without one, with one, with all, with the chosen alphas; and ours."""

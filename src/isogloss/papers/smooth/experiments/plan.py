"""Which trials the tables and figures of the smooth paper need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from isogloss.data.source import Pair
from isogloss.papers.reproduction import pages, trials
from isogloss.papers.reproduction.pages import Item
from isogloss.papers.smooth.experiments.data import Trial, TrialData, settings_of
from isogloss.systems.base import FILE_OPTIONS

LOSSES: dict[str, dict[str, Any]] = {
    "SOSL": {"loss": "sosl"},
    "3Part_L2": {"loss": "3part"},
    "MSE": {"loss": "mse"},
    "PO_S": {"loss": "po"},
    "ours: PO_S without ends": {"loss": "po-open"},
}
"""The losses of Table 2, and one of ours: PO_S with infinite ends instead of -1 and 1."""
ENCODERS: dict[str, dict[str, Any]] = {
    "average": {},
    "cnn, separate towers": {"encoder": "cnn"},
    "lstm, separate towers": {"encoder": "lstm"},
    "ours: cnn, shared tower": {"encoder": "cnn", "shared": True},
    "ours: lstm, shared tower": {"encoder": "lstm", "shared": True},
    "ours: cnn, tanh at its end": {"encoder": "cnn", "squashed": True},
    "ours: lstm, both last states": {"encoder": "lstm", "both_last": True},
}
"""The encoders of Table 3: the paper's, those with one tower for both sides, and two of ours with separate ones."""
AS_PUBLISHED = {"average": "average", "cnn, separate towers": "cnn", "lstm, separate towers": "lstm"}
"""The rows of Table 3 that the paper has, by its names."""
EPS = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
FIRST_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)
SECOND_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
IRRELEVANT = tuple(range(20, 101, 10))
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)

Groups = dict[str, list[Trial]]
"""Trials that differ in their seeds only, by what they are called in a table."""


@dataclass(frozen=True)
class Grid:
    """What figure 4 tries: every eps with every pair of thresholds that rises."""

    eps: tuple[float, ...] = EPS
    theta1: tuple[float, ...] = FIRST_THRESHOLDS
    theta2: tuple[float, ...] = SECOND_THRESHOLDS

    def thresholds(self) -> list[tuple[float, float]]:
        """The pairs of thresholds."""
        return [(first, second) for first in self.theta1 for second in self.theta2 if first < second]


def edges(tried: Iterable[tuple[float, float]], thresholds: tuple[float, float]) -> list[str]:
    """The sides of the pairs that were tried that one of them lies on, in words.

    >>> edges([(0.1, 0.6), (0.2, 0.6), (0.3, 0.6), (0.1, 0.8), (0.2, 0.8), (0.3, 0.8)], (0.2, 0.8))
    ['theta2 0.8 is the highest']
    """
    found = []
    for name, values, value in zip(("theta1", "theta2"), zip(*tried, strict=True), thresholds, strict=True):
        ends = {"lowest": min(values), "highest": max(values)}
        found += [f"{name} {value:g} is the {end}" for end, extreme in ends.items() if value == extreme]
    return found


@dataclass(frozen=True)
class Setup(pages.Setup):
    """What all trials of a command have in common."""

    data: str = ""
    pairs: tuple[Pair, ...] = ()
    split: str = "dev"
    seeds: int = 3
    settings: Mapping[str, Any] = field(default_factory=dict)
    queries: int = 0
    grid: Grid = field(default_factory=Grid)

    def trial(self, pair: Pair, seed: int = 0, **how: Any) -> Trial:
        """A trial with the command's settings and some of its own; ``how`` may also set fields of the trial."""
        own = {name: how.pop(name) for name in ("ranked_negatives", "train_share", "start") if name in how}
        settings = {**self.settings, "loss": "sosl", **how, "seed": seed}
        return Trial(self.data, pair, settings, self.split, queries=self.queries, **own)

    def about(self) -> dict[str, Any]:
        pairs = ["-".join(pair) for pair in self.pairs]
        named = {"data": self.data, "pairs": pairs, "split": self.split, "seeds": self.seeds}
        limit = {"queries": self.queries} if self.queries else {}
        return {**named, **limit, "settings": dict(self.settings)}

    def settings_shown(self, item: Item) -> str:
        return ", ".join(f"{key} = {value}" for key, value in self.settings.items()) if item.needs_data else ""

    def seeded(self, pair: Pair, **how: Any) -> list[Trial]:
        """One trial a seed."""
        return [self.trial(pair, seed, **how) for seed in range(self.seeds)]


def fixed_by(setup: Setup, trials: Iterable[Trial]) -> set[str]:
    """The settings of the command that some of the trials have other values of."""
    return {
        key
        for trial in trials
        for key, value in setup.settings.items()
        if settings_of({**trial.settings, key: value}) != trial.settings
        or (key in FILE_OPTIONS and trial.start != "random")
    }


Experiment = pages.Experiment[Setup, Trial, TrialData]
Result = trials.Result[Trial]


def training_line(results: Sequence[Result]) -> str:
    """How some trials were trained and on what they were measured, in a sentence or two."""
    if not results:
        return "No trial of this was run."
    records, split = [result.record for result in results], results[0].trial.split

    def span(part: str, key: str) -> str:
        return _span([record[part][key] for record in records])

    return (
        f"{span('options', 'dimension')} dimensions, eps {span('options', 'eps')}, "
        f"{_span([record['pairs'] for record in records])} pairs of {span('queries', 'train')} queries, "
        f"batch {span('recipe', 'batch')}, rate {span('recipe', 'rate')}, "
        f"epochs {span('recipe', 'epochs')}, seeds {span('options', 'seed')}. "
        f"Measured on {split}: {records[0]['queries'][split]:,} queries, {records[0]['documents']:,} documents. "
        f"Trained on {'; '.join(sorted({record['device'] for record in records}))}."
    )


def _span(numbers: Sequence[float]) -> str:
    """From the smallest to the largest.

    >>> _span([40, 40]), _span([0.5, 0, 2])
    ('40', '0 to 2')
    """
    return " to ".join(f"{number:,.12g}" for number in dict.fromkeys((min(numbers), max(numbers))))


def table2_trials(setup: Setup, pair: Pair) -> Groups:
    """Every loss with the paper's thresholds, one trial a seed."""
    return {name: setup.seeded(pair, **{"thresholds": "", "slope": 0.0, **loss}) for name, loss in LOSSES.items()}


def figure3_trials(setup: Setup) -> Groups:
    """Every loss on the first pair, one seed."""
    return {name: trials[:1] for name, trials in table2_trials(setup, setup.pairs[0]).items()}


def table3_trials(setup: Setup, pair: Pair) -> Groups:
    """Every encoder, one trial a seed."""
    return {name: setup.seeded(pair, **encoder) for name, encoder in ENCODERS.items()}


def figure4_trials(setup: Setup) -> dict[float, dict[tuple[float, float], list[Trial]]]:
    """For every eps a grid of thresholds, one trial a seed."""
    return {
        eps: {
            (first, second): setup.seeded(
                setup.pairs[0], eps=eps, thresholds="" if (first, second) == (0.2, 0.7) else f"{first:g},{second:g}"
            )
            for first, second in setup.grid.thresholds()
        }
        for eps in setup.grid.eps
    }


def figure5_trials(setup: Setup) -> dict[int, Trial]:
    """As many irrelevant documents in training as in ranking, one seed."""
    return {number: setup.trial(setup.pairs[0], negatives=number, ranked_negatives=number) for number in IRRELEVANT}


def claims_trials(setup: Setup) -> dict[str, Groups]:
    """What the text claims in passing; the first of each group is what the paper does."""
    pair = setup.pairs[0]
    paper = setup.seeded(pair)
    return {
        "gradient clipping": {
            "smooth cosine (eps 1), clipping": setup.seeded(pair, eps=1.0, clip=1.0),
            "smooth cosine (eps 1) alone": setup.seeded(pair, eps=1.0, clip=0.0),
            "cosine (eps 0), clipping": setup.seeded(pair, eps=0.0, clip=1.0),
            "cosine (eps 0) alone": setup.seeded(pair, eps=0.0, clip=0.0),
        },
        "towers of the cnn": {
            "separate": setup.seeded(pair, encoder="cnn"),
            "shared": setup.seeded(pair, encoder="cnn", shared=True),
        },
        "order of the pairs": {"shuffled": paper, "as they stand": setup.seeded(pair, shuffle=False)},
        "first word vectors": {
            "trained on each language's documents": setup.seeded(pair, start="monolingual"),
            "random": paper,
        },
    }


def theory_trials(setup: Setup) -> dict[float, list[Trial]]:
    """The paper's model trained on more and more queries."""
    return {share: setup.seeded(setup.pairs[0], train_share=share) for share in SHARES}

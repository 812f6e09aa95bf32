"""The tables, figures and other items of ``isogloss reproduce smooth``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from isogloss.reproduce.pages import Item
from isogloss.reproduce.smooth import plan
from isogloss.reproduce.smooth.figures import figure1, figure2, figure3, figure4, figure5
from isogloss.reproduce.smooth.plan import Experiment
from isogloss.reproduce.smooth.tables import claims, table1, table2, table3
from isogloss.reproduce.smooth.theory_page import theory
from isogloss.reproduce.smooth.trial import Trial


def _all(groups: Mapping[Any, list[Trial]]) -> Iterable[Trial]:
    return (trial for trials in groups.values() for trial in trials)


def _table2(experiment: Experiment) -> Iterable[Trial]:
    """Seed by seed: if time runs out, all losses have had the same seeds."""
    for pair in experiment.setup.pairs:
        for trials in zip(*plan.table2_trials(experiment.setup, pair).values(), strict=True):
            yield from trials


def _table3(experiment: Experiment) -> Iterable[Trial]:
    return (trial for pair in experiment.setup.pairs for trial in _all(plan.table3_trials(experiment.setup, pair)))


def _figure3(experiment: Experiment) -> Iterable[Trial]:
    return (trials[0] for trials in plan.table2_trials(experiment.setup, experiment.setup.pairs[0]).values())


def _claims(experiment: Experiment) -> Iterable[Trial]:
    return (trial for groups in plan.claims_trials(experiment.setup).values() for trial in _all(groups))


ITEMS = {
    "table1": Item(lambda _: (), table1),
    "table2": Item(_table2, table2),
    "table3": Item(_table3, table3),
    "figure1": Item(lambda _: (), figure1, is_drawn=True, needs_data=False),
    "figure2": Item(lambda _: (), figure2, is_drawn=True, needs_data=False),
    "figure3": Item(_figure3, figure3, is_drawn=True),
    "figure4": Item(lambda experiment: _all(plan.figure4_trials(experiment.setup)), figure4, is_drawn=True),
    "figure5": Item(lambda experiment: plan.figure5_trials(experiment.setup).values(), figure5, is_drawn=True),
    "claims": Item(_claims, claims),
    "theory": Item(lambda experiment: _all(plan.theory_trials(experiment.setup)), theory, is_drawn=True),
}

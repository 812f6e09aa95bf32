"""The items of ``isogloss reproduce layerwise``: which trials each needs, and what makes its page of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from isogloss.data.source import Pair
from isogloss.papers.layerwise import plan
from isogloss.papers.layerwise.curves import figure_alphas, figure_distance, probe
from isogloss.papers.layerwise.experiment import Experiment
from isogloss.papers.layerwise.plan import MODEL, Groups, Setup
from isogloss.papers.layerwise.tables import table1, table2, table3
from isogloss.papers.layerwise.trial import Trial, distinct
from isogloss.papers.layerwise.trial_store import TrialStore
from isogloss.papers.pages import Page
from isogloss.storage.errors import InputError


class Item(NamedTuple):
    """The trials of an item for a pair, its page, whether it is drawn and whether it needs two languages."""

    trials: Callable[[Setup, Pair, TrialStore], Groups]
    page: Callable[[Experiment], Page]
    is_drawn: bool = False
    crosses: bool = True


def _alphas(setup: Setup, pair: Pair, store: TrialStore) -> Groups:
    return plan.alpha_trials(setup, pair)


ITEMS = {
    "table1": Item(plan.table1_trials, table1, crosses=False),
    "table2": Item(plan.table2_trials, table2),
    "table3": Item(plan.table3_trials, table3),
    "figure_distance": Item(plan.watched_trials, figure_distance, is_drawn=True),
    "figure_alphas": Item(_alphas, figure_alphas, is_drawn=True),
    "probe": Item(plan.watched_trials, probe),
}


def chosen_items(names: Sequence[str]) -> dict[str, Item]:
    """The named items, in the order of the paper; all without a name."""
    unknown = [name for name in names if name not in ITEMS]
    if unknown:
        raise InputError(f"reproduce: {unknown[0]!r} is not one of {', '.join(ITEMS)}")
    return {name: item for name, item in ITEMS.items() if name in names or not names}


def needed_trials(items: Iterable[Item], setup: Setup, store: TrialStore) -> list[Trial]:
    """Each trial that the items need, once, as far as it is known; seed by seed, so that all rows have the same."""
    groups: list[list[Trial]] = []
    for item in items:
        for pair in setup.pairs:
            crossing = pair[0] != pair[1]
            if crossing and MODEL not in setup.left_out:  # the alphas are chosen from these
                groups += plan.alpha_trials(setup, pair).values()
            if crossing or not item.crosses:
                groups += item.trials(setup, pair, store).values()
    return sorted(distinct(trial for trials in groups for trial in trials), key=lambda trial: trial.seed)


def page_of(item: Item, experiment: Experiment) -> Page:
    """The page of an item; what was set otherwise than by default stands at its end."""
    page, settings = item.page(experiment), experiment.setup.settings
    if item.crosses:
        settings = {name: said for name, said in settings.items() if name == MODEL}
    shown = ", ".join(f"{name}.{key} = {value}" for name, said in settings.items() for key, value in said.items())
    return Page(f"{page.text}\n\nSet for all trials: {shown}.", page.values) if shown else page

"""The items of ``isogloss reproduce smooth``: which trials each needs, and what makes its page of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from isogloss.papers.pages import Page
from isogloss.papers.smooth import plan
from isogloss.papers.smooth.claims import claims
from isogloss.papers.smooth.curves import figure3, figure4, figure5
from isogloss.papers.smooth.drawings import figure1, figure2
from isogloss.papers.smooth.pages import Experiment
from isogloss.papers.smooth.plan import Setup
from isogloss.papers.smooth.tables import table1, table2, table3
from isogloss.papers.smooth.theory_page import theory
from isogloss.papers.smooth.trial import Trial, distinct
from isogloss.storage.errors import InputError


class Item(NamedTuple):
    """The trials of an item, its page, whether it needs data and whether it is drawn."""

    trials: Callable[[Setup], Iterable[Trial]]
    page: Callable[[Experiment], Page]
    needs_data: bool = True
    is_drawn: bool = False


def _none(setup: Setup) -> list[Trial]:
    return []


def _table2(setup: Setup) -> Iterable[Trial]:
    """Seed by seed: if time runs out, all losses have had the same seeds."""
    for pair in setup.pairs:
        for trials in zip(*plan.table2_trials(setup, pair).values(), strict=True):
            yield from trials


def _table3(setup: Setup) -> Iterable[Trial]:
    return (trial for pair in setup.pairs for trials in plan.table3_trials(setup, pair).values() for trial in trials)


def _figure3(setup: Setup) -> Iterable[Trial]:
    return (trials[0] for trials in plan.table2_trials(setup, setup.pairs[0]).values())


def _figure4(setup: Setup) -> Iterable[Trial]:
    return (trial for trials in plan.figure4_trials(setup).values() for trial in trials)


def _figure5(setup: Setup) -> Iterable[Trial]:
    return plan.figure5_trials(setup).values()


def _claims(setup: Setup) -> Iterable[Trial]:
    return (trial for groups in plan.claims_trials(setup).values() for trials in groups.values() for trial in trials)


def _theory(setup: Setup) -> Iterable[Trial]:
    return (trial for trials in plan.theory_trials(setup).values() for trial in trials)


def _figure1_page(experiment: Experiment) -> Page:
    figure1(experiment.output / "figure1")
    said = "The derivative of the smooth cosine of (x1, x2) and (1, 1) with respect to x1."
    return Page(f"# Figure 1: the gradient of the smooth cosine\n\n![figure 1](figure1.png)\n\n{said}", {"said": said})


def _figure2_page(experiment: Experiment) -> Page:
    figure2(experiment.output / "figure2")
    said = "SOSL and MSE of a score, for each class, at thresholds 0 and 0.5."
    return Page(f"# Figure 2: SOSL against MSE\n\n![figure 2](figure2.png)\n\n{said}", {"said": said})


ITEMS = {
    "table1": Item(_none, table1),
    "table2": Item(_table2, table2),
    "table3": Item(_table3, table3),
    "figure1": Item(_none, _figure1_page, needs_data=False, is_drawn=True),
    "figure2": Item(_none, _figure2_page, needs_data=False, is_drawn=True),
    "figure3": Item(_figure3, figure3, is_drawn=True),
    "figure4": Item(_figure4, figure4, is_drawn=True),
    "figure5": Item(_figure5, figure5, is_drawn=True),
    "claims": Item(_claims, claims),
    "theory": Item(_theory, theory, is_drawn=True),
}


def chosen_items(names: Sequence[str]) -> dict[str, Item]:
    """The named items, in the order of the paper; all without a name."""
    unknown = [name for name in names if name not in ITEMS]
    if unknown:
        raise InputError(f"reproduce: {unknown[0]!r} is not one of {', '.join(ITEMS)}")
    return {name: item for name, item in ITEMS.items() if name in names or not names}


def page_of(item: Item, experiment: Experiment) -> Page:
    """The page of an item; what was set otherwise than in the paper stands at its end."""
    page, settings = item.page(experiment), experiment.setup.settings
    if not settings or not item.needs_data:
        return page
    shown = ", ".join(f"{key} = {value}" for key, value in settings.items())
    return Page(f"{page.text}\n\nSet for all trials: {shown}.", page.values)


def needed_trials(items: Iterable[Item], setup: Setup) -> list[Trial]:
    """Each trial that the items need, once."""
    return distinct(trial for item in items for trial in item.trials(setup))

"""The items of ``isogloss reproduce bridge``, and the trials that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from isogloss.data.source import Pair
from isogloss.papers.benches import Bench, Report, Worker, run_on
from isogloss.papers.bridge.ablation import ablation
from isogloss.papers.bridge.calibration import calibration
from isogloss.papers.bridge.experiment import Experiment
from isogloss.papers.bridge.plan import Trials
from isogloss.papers.bridge.trial import Trial
from isogloss.papers.bridge.trial_run import line, run_trial
from isogloss.papers.pages import Page
from isogloss.storage.errors import InputError


class Item(NamedTuple):
    """The trials of an item for a pair, its page, and whether it is drawn."""

    trials: Callable[[Experiment, Pair], Trials]
    page: Callable[[Experiment], Page]
    is_drawn: bool = False


ITEMS = {
    "ablation": Item(Experiment.ablations, ablation),
    "calibration": Item(lambda experiment, pair: experiment.setup.whole(pair), calibration, is_drawn=True),
}


def chosen_items(names: Sequence[str]) -> dict[str, Item]:
    """The named items; all without a name."""
    unknown = [name for name in names if name not in ITEMS]
    if unknown:
        raise InputError(f"reproduce: {unknown[0]!r} is not one of {', '.join(ITEMS)}")
    return {name: item for name, item in ITEMS.items() if name in names or not names}


def missing_trials(items: Iterable[Item], experiment: Experiment, overwrite: bool = False) -> list[Trial]:
    """Those that were not run yet, each once; ``overwrite``: also those that were run on other data."""
    trials = {
        trial.name: trial
        for item in items
        for pair in experiment.setup.pairs
        for trial in item.trials(experiment, pair).values()
    }
    return [trial for trial in trials.values() if not _is_kept(trial, experiment, overwrite)]


def run_trials(trials: Sequence[Trial], experiment: Experiment) -> Iterator[Report]:
    """Run them one after the other; what was run is kept, and one that fails does not stop the others."""
    directory = experiment.store.directory

    def worker() -> Worker[Trial]:
        return Worker(directory, lambda trial: run_trial(trial, experiment.data[trial.pair]), line)

    return run_on(Bench(directory), trials, worker, worker)


def _is_kept(trial: Trial, experiment: Experiment, overwrite: bool) -> bool:
    try:
        return experiment.store.holds(trial, experiment.data[trial.pair].fingerprint)
    except InputError:
        if not overwrite:
            raise
        return False

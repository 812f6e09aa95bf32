"""One training for a grid search: in a process of its own, it reads the data itself and gives what dev says."""

from __future__ import annotations

from dataclasses import dataclass

from isogloss.base.errors import InputError
from isogloss.base.progress import set_quiet
from isogloss.corpus.dataset import load_dataset
from isogloss.corpus.problems import Problems
from isogloss.corpus.source import parse_pair
from isogloss.corpus.sources import open_source
from isogloss.systems.registry import make_system
from isogloss.systems.trained import TrainedSystem


@dataclass(frozen=True)
class GridTrial:
    """Trains a system on some data; call it with the settings to try, beside those that stay."""

    system: str
    data: str
    pair: str
    seed: int
    skip_bad: bool
    settings: dict[str, str]

    def __call__(self, point: dict[str, str]) -> dict[str, float]:
        """Train; the measures of the epoch that counts."""
        set_quiet(True)
        source, pair = open_source(self.data), parse_pair(self.pair)
        system = make_system(self.system, pair, {**self.settings, **point}, source, bare=True)
        assert isinstance(system, TrainedSystem)
        dataset = load_dataset(source, pair, self.seed, Problems(not self.skip_bad))
        history = system.train(dataset).history
        recipe = system.recipe
        if recipe.measure not in history[-1]:
            raise InputError("--grid: needs a dev split with judged queries to choose by")
        best = max(history, key=lambda entry: float(entry[recipe.measure])) if recipe.patience else history[-1]
        left_out = ("epoch", "rate", "batches", "examples_per_second")
        return {name: value for name, value in best.items() if name not in left_out}

"""What items are made from: the setup, the data, the trials that were run; and how rows are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isogloss.data.source import Pair
from isogloss.evaluation.measures import PerQuery
from isogloss.evaluation.significance import paired_t_test
from isogloss.papers.layerwise.lists import CHOOSING, MEASURED
from isogloss.papers.layerwise.plan import Setup
from isogloss.papers.layerwise.trial import Trial
from isogloss.papers.layerwise.trial_data import DataShelf
from isogloss.papers.layerwise.trial_store import Result, TrialStore
from isogloss.papers.summaries import Summary, summarise

LEVEL = 0.05


@dataclass(frozen=True)
class Experiment:
    """What items are made from, and where they go."""

    setup: Setup
    shelf: DataShelf
    store: TrialStore
    output: Path

    def results(self, trials: Iterable[Trial]) -> list[Result]:
        """Those of the trials that were run."""
        return [result for trial in trials if (result := self.store.read(trial))]

    def groups(self, groups: Mapping[str, Iterable[Trial]]) -> dict[str, list[Result]]:
        """The same for named groups."""
        return {name: self.results(trials) for name, trials in groups.items()}

    def about(self) -> dict[str, Any]:
        """What every item's JSON begins with."""
        setup = self.setup
        return {
            "data": setup.data, "pairs": ["-".join(pair) for pair in setup.pairs], "split": setup.drawing.split,
            "seeds": setup.seeds, "settings": {name: dict(each) for name, each in setup.settings.items()},
        }  # fmt: skip

    def lists_line(self, pair: Pair) -> str:
        """What was measured, and what epochs and alphas were chosen by."""
        dataset = self.shelf.get(self.setup.data, pair, self.setup.drawing).dataset
        measured, choosing = (set(dataset.splits[name]) for name in (MEASURED, CHOOSING))
        lists = dataset.candidates(MEASURED)
        entries = sum(len(lists[query]) for query in measured)
        said = (
            f"Measured on lists of {len(measured):,} queries of {self.setup.drawing.split} "
            f"({entries / len(measured):.1f} documents a list); "
        )
        if measured == choosing:
            return said + "epochs and alphas were chosen on the same lists, which makes the trained a little too good."
        return said + f"epochs and alphas were chosen on lists of {len(choosing):,} other queries."


def summaries(results: Sequence[Result], measures: Sequence[str]) -> dict[str, Summary]:
    """Measures over some seeds."""
    return {name: summarise([result.mean(name) for result in results]) for name in measures}


class Difference(NamedTuple):
    """Between two rows on a measure: of the means, and the probability of it by Student's paired t-test."""

    mean: float
    probability: float

    @property
    def is_significant(self) -> bool:
        """At the paper's level."""
        return self.probability < LEVEL


def difference(left: Sequence[Result], right: Sequence[Result], measure: str) -> Difference | None:
    """Paired over the queries, their values averaged over the seeds; None where the rows have not the same lists."""
    if not left or not right or len({result.record["lists"] for result in (*left, *right)}) > 1:
        return None
    apart = _average(left, measure) - _average(right, measure)
    return Difference(float(apart.mean()), paired_t_test(apart))


def _average(results: Sequence[Result], measure: str) -> PerQuery:
    return np.asarray(np.mean([result.values(measure) for result in results], axis=0), dtype=np.float64)

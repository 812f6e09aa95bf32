"""What items of ``reproduce smooth`` are made from, and parts of their pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.evaluation.significance import Comparison
from isogloss.papers.pages import markdown_table
from isogloss.papers.smooth.plan import Setup
from isogloss.papers.smooth.published import MEASURES
from isogloss.papers.smooth.summaries import is_significant
from isogloss.papers.smooth.trial import Trial
from isogloss.papers.smooth.trial_data import DataShelf
from isogloss.papers.smooth.trial_store import Result, TrialStore


@dataclass(frozen=True)
class Experiment:
    """What items are made from: the setup, the data, the trials that were run, and where the item goes."""

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
            "data": setup.data, "pairs": ["-".join(pair) for pair in setup.pairs], "split": setup.split,
            "seeds": setup.seeds, "settings": dict(setup.settings),
        }  # fmt: skip


def differences_table(comparisons: Sequence[Comparison]) -> str:
    """The first against each other one, measure by measure; * where both tests say so."""
    if not comparisons:
        return "There is nothing to compare."
    others = list(dict.fromkeys(each.right for each in comparisons))
    found = {(each.right, each.measure): each for each in comparisons}
    rows = [
        (f"{comparisons[0].left} − {other}", *(_difference(found[other, measure]) for measure in MEASURES))
        for other in others
    ]
    return markdown_table(("difference", *MEASURES), rows)


def training_line(results: Sequence[Result]) -> str:
    """How some trials were trained and on what they were measured, in a sentence or two."""
    if not results:
        return "No trial of this was run."
    records = [result.record for result in results]
    split = results[0].trial.split
    seeds = _span([record["options"]["seed"] for record in records])
    devices = sorted({record["device"] for record in records})
    return (
        f"{_span([record['options']['dimension'] for record in records])} dimensions, "
        f"eps {_span([record['options']['eps'] for record in records])}, "
        f"{_span([record['pairs'] for record in records])} pairs of "
        f"{_span([record['queries']['train'] for record in records])} queries, "
        f"batch {_span([record['recipe']['batch'] for record in records])}, "
        f"rate {_span([record['recipe']['rate'] for record in records])}, "
        f"epochs {_span([record['recipe']['epochs'] for record in records])}, seeds {seeds}. "
        f"Measured on {split}: {records[0]['queries'][split]:,} queries, {records[0]['documents']:,} documents. "
        f"Trained on {'; '.join(devices)}."
    )


def _span(numbers: Sequence[float]) -> str:
    """From the smallest to the largest.

    >>> _span([40, 40]), _span([0.5, 0, 2])
    ('40', '0 to 2')
    """
    return " to ".join(f"{number:,.12g}" for number in dict.fromkeys((min(numbers), max(numbers))))


def _difference(comparison: Comparison) -> str:
    return f"{comparison.difference:+.3f}{'*' if is_significant(comparison) else ''}"

"""What the items of ``reproduce bridge`` are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.data.source import Pair
from isogloss.papers.bridge.plan import Setup, Trials
from isogloss.papers.bridge.trial import Results, TrialStore
from isogloss.papers.bridge.trial_data import PairData


@dataclass(frozen=True)
class Experiment:
    """The setup, the data by pair, the trials that were run, and where the items go."""

    setup: Setup
    data: Mapping[Pair, PairData]
    store: TrialStore
    output: Path

    def ablations(self, pair: Pair) -> Trials:
        """The trials of the table."""
        return self.setup.ablations(pair, self.data[pair])

    def results(self, trials: Trials) -> Results:
        """What was found, and None of those that were not run to their end."""
        return {label: self.store.read(trial) for label, trial in trials.items()}

    def about(self) -> dict[str, Any]:
        """What every item's JSON begins with."""
        setup = self.setup
        return {"data": setup.data, "split": setup.split, "pretrained": setup.pretrained, "set": dict(setup.settings)}

    def about_line(self, found: Results) -> str:
        """What was measured, and how, in a sentence or two."""
        records = [result.record for result in found.values() if result is not None]
        if not records:
            return "No trial of this was run to its end."
        lexicon = "with a dictionary" if records[0]["options"]["lexicon"] else "without a dictionary"
        shown = "".join(f"; {key} = {value}" for key, value in self.setup.settings.items())
        return (
            f"{records[0]['queries']:,} queries ({self.setup.split}), the whole collection of "
            f"{records[0]['documents']:,} documents, {lexicon}{shown}. {records[0]['device']}."
        )

"""The trials of the layer-wise paper, here or as a plan elsewhere (:mod:`isogloss.papers.planned_trials`)."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from isogloss.papers.kept_trials import Outcome
from isogloss.papers.layerwise.trial import Trial, read_plan
from isogloss.papers.layerwise.trial_data import DataShelf
from isogloss.papers.layerwise.trial_run import run_trial
from isogloss.papers.planned_trials import PlannedTrials


class LayerwiseTrials(PlannedTrials[Trial, DataShelf]):
    """How they are read, run and told."""

    paper = "layerwise"

    def read_plan(self, text: str, where: str) -> list[Trial]:
        return read_plan(text, where)

    def moved(self, trial: Trial, data: str) -> Trial:
        return replace(trial, data=data)

    def make_shelf(self, skip_bad: bool) -> DataShelf:
        return DataShelf(skip_bad)

    def fingerprint(self, trial: Trial, shelf: DataShelf) -> str:
        return shelf.of(trial).fingerprint

    def run(self, trial: Trial, shelf: DataShelf, device: str) -> Outcome:
        return run_trial(trial, shelf.of(trial), device)

    def line(self, found: dict[str, Any]) -> str:
        values = found["measured"]
        measured = f"MAP {values['MAP']:.4f}  P@10 {values['P@10']:.4f}  {found['seconds']:.1f} s"
        if "history" not in found:
            return measured
        return f"{measured}, epoch {found['epoch']} of {len(found['history'])}, {found['pairs_per_second']:,} pairs/s"


if __name__ == "__main__":
    sys.exit(LayerwiseTrials().main())

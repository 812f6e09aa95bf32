"""The trials of the smooth paper, here or as a plan elsewhere (:mod:`isogloss.papers.planned_trials`)."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from isogloss.papers.kept_trials import Outcome
from isogloss.papers.planned_trials import PlannedTrials
from isogloss.papers.smooth.trial import Trial, read_plan
from isogloss.papers.smooth.trial_data import DataShelf
from isogloss.papers.smooth.trial_run import run_trial


class SmoothTrials(PlannedTrials[Trial, DataShelf]):
    """How they are read, run and told."""

    paper = "smooth"

    def read_plan(self, text: str, where: str) -> list[Trial]:
        return read_plan(text, where)

    def moved(self, trial: Trial, data: str) -> Trial:
        return replace(trial, data=data)

    def make_shelf(self, skip_bad: bool) -> DataShelf:
        return DataShelf(skip_bad)

    def fingerprint(self, trial: Trial, shelf: DataShelf) -> str:
        return shelf.get(trial.data, trial.pair).words.fingerprint

    def run(self, trial: Trial, shelf: DataShelf, device: str) -> Outcome:
        return run_trial(trial, shelf.get(trial.data, trial.pair), device)

    def line(self, found: dict[str, Any]) -> str:
        return (
            f"NDCG@5 {found['sampled']['NDCG@5']:.4f}  MRR_mr {found['sampled']['MRR_mr']:.4f}  "
            f"full MRR_mr {found['full']['MRR_mr']:.4f}  {sum(found['seconds'].values()):.1f} s, "
            f"{found['pairs_per_second']:,} pairs/s"
        )


if __name__ == "__main__":
    sys.exit(SmoothTrials().main())

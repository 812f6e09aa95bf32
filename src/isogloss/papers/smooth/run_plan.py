"""Trials one after the other, or in several processes that share a GPU.

A plan of them, on a machine that has torch and numpy alone:

    python -m isogloss.papers.smooth.run_plan DIR PLAN.json --device cuda --processes 4 [--data SOURCE] [--seconds 540]

Trials that are in DIR already are skipped, one that fails leaves ``NAME.error.txt`` and the others go on.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from isogloss.base.errors import InputError
from isogloss.papers.benches import Bench, Report, Worker, run_on, show_reports
from isogloss.papers.smooth.trial import Trial, read_plan
from isogloss.papers.smooth.trial_data import DataShelf
from isogloss.papers.smooth.trial_run import run_trial
from isogloss.papers.smooth.trial_store import TrialStore
from isogloss.systems.smooth_options import DEVICES


def missing_trials(
    trials: Sequence[Trial], store: TrialStore, shelf: DataShelf, overwrite: bool = False
) -> list[Trial]:
    """Those that were not run yet; ``overwrite``: also those whose name another trial has taken."""
    missing = []
    for trial in trials:
        try:
            kept = store.read(trial) and store.holds(trial, shelf.get(trial.data, trial.pair).words.fingerprint)
        except InputError:
            if not overwrite:
                raise
            kept = False
        if not kept:
            missing.append(trial)
    return missing


def run_trials(trials: Sequence[Trial], bench: Bench, shelf: DataShelf | None = None) -> Iterator[Report]:
    """Run all of them, a report each; in one process in order, in several as they end."""
    make = partial(_worker, bench)
    return run_on(bench, trials, partial(make, shelf), make)


def _worker(bench: Bench, shelf: DataShelf | None = None) -> Worker[Trial]:
    """Keeps the data between trials."""
    data = shelf or DataShelf(bench.skip_bad)
    return Worker(
        bench.directory, lambda trial: run_trial(trial, data.get(trial.data, trial.pair), bench.device), _line
    )


def _line(found: dict[str, Any]) -> str:
    return (
        f"NDCG@5 {found['sampled']['NDCG@5']:.4f}  MRR_mr {found['sampled']['MRR_mr']:.4f}  "
        f"full MRR_mr {found['full']['MRR_mr']:.4f}  {sum(found['seconds'].values()):.1f} s, "
        f"{found['pairs_per_second']:,} pairs/s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a plan."""
    parser = argparse.ArgumentParser(
        prog="python -m isogloss.papers.smooth.run_plan", description="Run a plan of trials."
    )
    parser.add_argument("directory", metavar="DIR", type=Path, help="where the trials' files go")
    parser.add_argument("plan", metavar="PLAN.json", type=Path, help="what 'isogloss reproduce smooth --plan' wrote")
    parser.add_argument("--device", choices=DEVICES, default="auto")
    parser.add_argument("--processes", type=int, default=1, help="trials at a time (default 1)")
    parser.add_argument("--data", metavar="SOURCE", help="where the data are here, if elsewhere than the plan says")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no trial after so many seconds")
    parser.add_argument("--skip-bad", action="store_true", help="skip lines of the data that are wrong")
    options = parser.parse_args(arguments)
    try:
        trials = read_plan(options.plan.read_text(encoding="utf-8"), str(options.plan))
        if options.data:
            trials = [replace(trial, data=options.data) for trial in trials]
        shelf = DataShelf(options.skip_bad)
        missing = missing_trials(trials, TrialStore(options.directory), shelf)
        bench = Bench(options.directory, options.device, options.processes, options.skip_bad, options.seconds)
        return show_reports(run_trials(missing, bench, shelf), len(missing), len(trials))
    except (InputError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())

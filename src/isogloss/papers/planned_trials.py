"""What the trials of any paper have in common: which are missing, how they are run, and how a plan of them is.

A plan is for a machine that has torch and numpy alone:

    python -m isogloss.papers.PAPER.run_plan DIR PLAN.json --device cuda --processes 4 [--data SOURCE] [--seconds 540]

Trials that are in DIR already are skipped, one that fails leaves ``NAME.error.txt`` and the others go on.
"""

from __future__ import annotations

import argparse
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from isogloss.papers.benches import Bench, Report, Worker, run_on, show_reports
from isogloss.papers.kept_trials import Outcome, TrialDirectory, TrialKind
from isogloss.storage.errors import InputError
from isogloss.systems.matchers.options import DEVICES

Shelf = TypeVar("Shelf")
"""What holds the data of trials between them."""


class PlannedTrials(ABC, Generic[TrialKind, Shelf]):
    """The trials of one paper."""

    paper: ClassVar[str]

    @property
    def program(self) -> str:
        """What runs a plan."""
        return f"python -m isogloss.papers.{self.paper}.run_plan"

    @property
    def planner(self) -> str:
        """What writes one."""
        return f"isogloss reproduce {self.paper} --plan"

    @abstractmethod
    def read_plan(self, text: str, where: str) -> list[TrialKind]:
        """The trials of a plan."""

    @abstractmethod
    def moved(self, trial: TrialKind, data: str) -> TrialKind:
        """The trial with its data elsewhere."""

    @abstractmethod
    def make_shelf(self, skip_bad: bool) -> Shelf:
        """An empty shelf."""

    @abstractmethod
    def fingerprint(self, trial: TrialKind, shelf: Shelf) -> str:
        """That of a trial's data."""

    @abstractmethod
    def run(self, trial: TrialKind, shelf: Shelf, device: str) -> Outcome:
        """Run a trial."""

    @abstractmethod
    def line(self, found: dict[str, Any]) -> str:
        """What came of a trial."""

    def missing(
        self, trials: Sequence[TrialKind], store: TrialDirectory[TrialKind], shelf: Shelf, overwrite: bool = False
    ) -> list[TrialKind]:
        """Those that were not run yet; ``overwrite``: also those whose name another trial has taken."""
        missing = []
        for trial in trials:
            try:
                kept = store.find(trial) and store.holds(trial, self.fingerprint(trial, shelf))
            except InputError:
                if not overwrite:
                    raise
                kept = False
            if not kept:
                missing.append(trial)
        return missing

    def run_all(self, trials: Sequence[TrialKind], bench: Bench, shelf: Shelf | None = None) -> Iterator[Report]:
        """Run all of them, a report each; in one process in order, in several as they end."""
        make = partial(self._worker, bench)
        return run_on(bench, trials, partial(make, shelf), make)

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run a plan from the command line."""
        options = self._parser().parse_args(arguments)
        try:
            trials = self.read_plan(options.plan.read_text(encoding="utf-8"), str(options.plan))
            if options.data:
                trials = [self.moved(trial, options.data) for trial in trials]
            shelf = self.make_shelf(options.skip_bad)
            missing = self.missing(trials, TrialDirectory[TrialKind](options.directory), shelf)
            bench = Bench(options.directory, options.device, options.processes, options.skip_bad, options.seconds)
            return show_reports(self.run_all(missing, bench, shelf), len(missing), len(trials))
        except (InputError, OSError) as error:
            sys.stderr.write(f"{error}\n")
            return 2

    def _worker(self, bench: Bench, shelf: Shelf | None = None) -> Worker[TrialKind]:
        """Keeps the data between trials."""
        data = shelf or self.make_shelf(bench.skip_bad)
        return Worker(bench.directory, lambda trial: self.run(trial, data, bench.device), self.line)

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(prog=self.program, description="Run a plan of trials.")
        parser.add_argument("directory", metavar="DIR", type=Path, help="where the trials' files go")
        parser.add_argument("plan", metavar="PLAN.json", type=Path, help=f"what '{self.planner}' wrote")
        parser.add_argument("--device", choices=DEVICES, default="auto")
        parser.add_argument("--processes", type=int, default=1, help="trials at a time (default 1)")
        parser.add_argument("--data", metavar="SOURCE", help="where the data are here, if elsewhere than the plan says")
        parser.add_argument("--seconds", type=float, default=math.inf, help="begin no trial after so many seconds")
        parser.add_argument("--skip-bad", action="store_true", help="skip lines of the data that are wrong")
        return parser

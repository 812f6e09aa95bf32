"""Running trials: here, in several processes that share a GPU, or from a plan on another machine.

A trial that fails does not stop the others. A plan is for a machine that has torch and numpy alone:

    python -m isogloss.papers PAPER DIR PLAN.json --device cuda --processes 4 [--data SOURCE] [--seconds 540]

Trials that are in DIR already are skipped, one that fails leaves ``NAME.error.txt``.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import signal
import sys
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from isogloss.papers.reproduction.trials import Outcome, PaperTrial, TrialDirectory, TrialKind, distinct
from isogloss.papers.trained_system import DEVICES
from isogloss.papers.training_loop import TrainingInterrupted
from isogloss.storage.errors import InputError
from isogloss.text.batches import available_cores

PACKED = "packed:"
"""Before the name of a folder: data that ``--pack`` wrote for a machine without the data's own formats."""
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Report:
    """The result of a trial in one line."""

    name: str
    line: str
    failed: bool = False


@dataclass(frozen=True)
class RunOptions:
    """Where and how trials are run; ``seconds``: start none after so many."""

    directory: Path
    device: str = "auto"
    processes: int = 1
    skip_bad: bool = False
    seconds: float = math.inf


def print_reports(reports: Iterator[Report], missing: int, total: int) -> int:
    """Print a line a trial and one at the end; the exit status."""
    done = failed = 0
    for report in reports:
        done, failed = done + 1, failed + report.failed
        sys.stdout.write(f"{done}/{missing} {report.name}  {report.line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{total - missing + done - failed} of {total} trials are there, {failed} failed\n")
    return 1 if failed else 0


class TrialData(Protocol):
    """The data of trials."""

    @property
    def fingerprint(self) -> str:
        """A hash of the content, not of where the data are."""


Data = TypeVar("Data", bound=TrialData)
DataOf = Callable[..., Data]
"""The data of a key, read once for the trials that share them."""


class TrialRunner(ABC, Generic[TrialKind, Data]):
    """How the trials of one paper are run."""

    datasets_kept: ClassVar[int | None] = None
    """How many data sets stay in memory at most (None: all)."""

    @abstractmethod
    def data_key(self, trial: TrialKind) -> tuple[Any, ...]:
        """The arguments of ``open_data`` for a trial."""

    @abstractmethod
    def open_data(self, *key: Any, skip_bad: bool) -> Data:
        """The data of a key."""

    @abstractmethod
    def run(self, trial: TrialKind, data: Data, device: str) -> Outcome:
        """Run a trial."""

    @abstractmethod
    def line(self, record: dict[str, Any]) -> str:
        """The result of a trial in one line."""

    def fingerprint(self, trial: TrialKind, data: DataOf[Data]) -> str:
        """That of a trial's data."""
        return data(*self.data_key(trial)).fingerprint

    def cached_data(self, skip_bad: bool = False) -> DataOf[Data]:
        """``open_data``, the results kept for the trials that follow."""
        return lru_cache(self.datasets_kept)(partial(self.open_data, skip_bad=skip_bad))

    def missing(
        self, trials: Iterable[TrialKind], files: TrialDirectory[TrialKind], data: DataOf[Data], overwrite: bool = False
    ) -> list[TrialKind]:
        """Those that were not run yet; ``overwrite``: also those whose name another trial has."""
        missing = []
        for trial in trials:
            try:
                there = files.read(trial) and files.holds(trial, self.fingerprint(trial, data))
            except InputError:
                if not overwrite:
                    raise
                there = False
            if not there:
                missing.append(trial)
        return missing

    def run_all(
        self, trials: Sequence[TrialKind], options: RunOptions, data: DataOf[Data] | None = None
    ) -> Iterator[Report]:
        """Run all of them, a report each; in one process in order, in several as they end."""
        options.directory.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + options.seconds
        if options.processes > 1 and len(trials) > 1:
            yield from _in_processes(self, trials, options, deadline)
            return
        data = data or self.cached_data(options.skip_bad)
        for trial in trials:
            if time.monotonic() >= deadline:
                return
            yield self.run_one(trial, options, data)

    def run_one(self, trial: TrialKind, options: RunOptions, data: DataOf[Data]) -> Report:
        """Run a trial, write its files and report it."""
        files = TrialDirectory[TrialKind](options.directory)
        try:
            outcome = self.run(trial, data(*self.data_key(trial)), options.device)
        except Exception as error:
            if isinstance(error, TrainingInterrupted):
                raise KeyboardInterrupt from error
            known = isinstance(error, InputError)
            files.write_error(trial, str(error) if known else traceback.format_exc())
            return Report(trial.name, f"FAILED: {' '.join(str(error).split())}", failed=True)
        files.write(trial, outcome)
        return Report(trial.name, self.line(outcome.record))


class PlanRunner(TrialRunner[TrialKind, Data]):
    """Trials that can also be run elsewhere, from a plan."""

    paper: ClassVar[str]
    trial_type: ClassVar[type[Any]] = PaperTrial

    @property
    def program(self) -> str:
        """The command that runs a plan."""
        return f"python -m isogloss.papers {self.paper}"

    @property
    def planner(self) -> str:
        """The command that writes one."""
        return f"isogloss reproduce {self.paper} --plan"

    def from_json(self, found: Mapping[str, Any]) -> TrialKind:
        """A trial of a plan; what is wrong is an ``InputError``."""
        trial: TrialKind = self.trial_type.from_json(found)
        return trial

    def moved(self, trial: TrialKind, data: str) -> TrialKind:
        """The trial with its data elsewhere."""
        return replace(trial, data=data)  # type: ignore[type-var]

    def read_plan(self, text: str, where: str) -> list[TrialKind]:
        """The trials of a plan file, each once."""
        try:
            found = json.loads(text)["trials"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{where}: is not a plan; '{self.planner}' writes one") from error
        return distinct(self.from_json(each) for each in found)

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run a plan from the command line."""
        parser = argparse.ArgumentParser(prog=self.program, description="Run a plan of trials.")
        parser.add_argument("directory", metavar="DIR", type=Path, help="where the trials' files go")
        parser.add_argument("plan", metavar="PLAN.json", type=Path, help=f"what '{self.planner}' wrote")
        parser.add_argument("--device", choices=DEVICES, default="auto")
        parser.add_argument("--processes", type=int, default=1, help="trials at a time (default 1)")
        parser.add_argument("--data", metavar="SOURCE", help="the data on this machine, if not where the plan has them")
        parser.add_argument("--seconds", type=float, default=math.inf, help="begin no trial after so many seconds")
        parser.add_argument("--skip-bad", action="store_true", help="skip lines of the data that are wrong")
        options = parser.parse_args(arguments)
        try:
            trials = self.read_plan(options.plan.read_text(encoding="utf-8"), str(options.plan))
            if options.data:
                trials = [self.moved(trial, options.data) for trial in trials]
            data = self.cached_data(options.skip_bad)
            missing = self.missing(trials, TrialDirectory[TrialKind](options.directory), data)
            how = RunOptions(options.directory, options.device, options.processes, options.skip_bad, options.seconds)
            return print_reports(self.run_all(missing, how, data), len(missing), len(trials))
        except (InputError, OSError) as error:
            sys.stderr.write(f"{error}\n")
            return 2


def plan_text(trials: Iterable[PaperTrial]) -> str:
    """A plan file: trials to be run elsewhere."""
    return json.dumps({"trials": [trial.as_json() for trial in trials]}, indent=1) + "\n"


_run_in_process: list[Callable[[Any], Report]] = []  # how this process, one of several, runs a trial


def _start(runner: TrialRunner[Any, Any], options: RunOptions) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    data = runner.cached_data(options.skip_bad)
    _run_in_process.append(lambda trial: runner.run_one(trial, options, data))


def _run_here(trial: Any) -> Report:
    return _run_in_process[0](trial)


def _in_processes(
    runner: TrialRunner[TrialKind, Any], trials: Sequence[TrialKind], options: RunOptions, deadline: float
) -> Iterator[Report]:
    for name in _THREADS:
        os.environ.setdefault(name, str(max(1, available_cores() // options.processes)))
    waiting = list(reversed(trials))
    while waiting and time.monotonic() < deadline:  # with new processes, if one of the last was killed
        context = multiprocessing.get_context("spawn")  # a GPU does not survive a fork
        with ProcessPoolExecutor(options.processes, context, _start, (runner, options)) as pool:
            yield from _until_broken(pool, waiting, options, deadline)


def _until_broken(
    pool: ProcessPoolExecutor, waiting: list[TrialKind], options: RunOptions, deadline: float
) -> Iterator[Report]:
    """Submit trials that wait, no more at a time than processes are free: so none starts after the deadline."""
    running: dict[Future[Report], TrialKind] = {}
    broken = False
    while True:
        while waiting and not broken and len(running) < options.processes and time.monotonic() < deadline:
            try:
                future = pool.submit(_run_here, waiting[-1])
                running[future] = waiting.pop()
            except BrokenProcessPool:
                broken = True
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            trial = running.pop(future)
            try:
                yield future.result()
            except BrokenProcessPool:
                broken = True
                TrialDirectory[TrialKind](options.directory).write_error(trial, "the process was killed")
                yield Report(trial.name, "FAILED: the process was killed", failed=True)

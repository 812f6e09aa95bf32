"""Trials one after the other, or in several processes that share a GPU; one that fails does not stop the others."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from isogloss.papers.kept_trials import Outcome, TrialDirectory, TrialKind
from isogloss.storage.errors import InputError
from isogloss.text.batches import available_cores
from isogloss.training.loop import TrainingInterrupted

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Report:
    """What came of a trial, in one line."""

    name: str
    line: str
    failed: bool = False


@dataclass(frozen=True)
class Bench:
    """Where and how trials are run; ``seconds``: begin none after so many."""

    directory: Path
    device: str = "auto"
    processes: int = 1
    skip_bad: bool = False
    seconds: float = math.inf


@dataclass(frozen=True)
class Worker(Generic[TrialKind]):
    """Runs trials, keeps what they leave, and says in a line what came of it."""

    directory: Path
    run_trial: Callable[[TrialKind], Outcome]
    line_of: Callable[[dict[str, Any]], str]

    def run(self, trial: TrialKind) -> Report:
        """Run one."""
        store = TrialDirectory[TrialKind](self.directory)
        try:
            outcome = self.run_trial(trial)
        except Exception as error:
            if isinstance(error, TrainingInterrupted):
                raise KeyboardInterrupt from error
            known = isinstance(error, InputError)
            store.write_error(trial, str(error) if known else traceback.format_exc())
            return Report(trial.name, f"FAILED: {' '.join(str(error).split())}", failed=True)
        store.write(trial, outcome)
        return Report(trial.name, self.line_of(outcome.record))


def run_on(
    bench: Bench, trials: Sequence[TrialKind], here: Callable[[], Worker[TrialKind]],
    there: Callable[[], Worker[TrialKind]],
) -> Iterator[Report]:  # fmt: skip
    """Run all of them, a report each; in one process (by the worker of ``here``) in order, in several as they end.

    ``there`` makes the worker of each of several processes, and has to be a function that pickle can send.
    """
    bench.directory.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + bench.seconds
    if bench.processes > 1 and len(trials) > 1:
        yield from _in_processes(trials, bench, there, deadline)
        return
    worker = here()
    for trial in trials:
        if time.monotonic() >= deadline:
            return
        yield worker.run(trial)


_workers: list[Worker[Any]] = []  # that of this process, where it is one of several


def _begin(make: Callable[[], Worker[Any]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    _workers.append(make())


def _run_here(trial: Any) -> Report:
    return _workers[0].run(trial)


def _in_processes(
    trials: Sequence[TrialKind], bench: Bench, make: Callable[[], Worker[TrialKind]], deadline: float
) -> Iterator[Report]:
    for name in _THREADS:
        os.environ.setdefault(name, str(max(1, available_cores() // bench.processes)))
    waiting = list(reversed(trials))
    while waiting and time.monotonic() < deadline:  # with new processes, if one of the last was killed
        context = multiprocessing.get_context("spawn")  # a GPU does not survive a fork
        with ProcessPoolExecutor(bench.processes, context, _begin, (make,)) as pool:
            yield from _until_broken(pool, waiting, bench, deadline)


def _until_broken(
    pool: ProcessPoolExecutor, waiting: list[TrialKind], bench: Bench, deadline: float
) -> Iterator[Report]:
    """Take trials that wait, no more at a time than processes are free: so none begins after the deadline."""
    running: dict[Future[Report], TrialKind] = {}
    broken = False
    while True:
        while waiting and not broken and len(running) < bench.processes and time.monotonic() < deadline:
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
                TrialDirectory[TrialKind](bench.directory).write_error(trial, "the process was killed")
                yield Report(trial.name, "FAILED: the process was killed", failed=True)


def show_reports(reports: Iterator[Report], missing: int, all_of_them: int) -> int:
    """A line a trial and one at the end; the exit status."""
    done = failed = 0
    for report in reports:
        done, failed = done + 1, failed + report.failed
        sys.stdout.write(f"{done}/{missing} {report.name}  {report.line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{all_of_them - missing + done - failed} of {all_of_them} trials are there, {failed} failed\n")
    return 1 if failed else 0

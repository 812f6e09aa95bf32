"""Trials one after the other, or in several processes that share a GPU.

A plan of them, on a machine that has torch and numpy alone:

    python -m isogloss.papers.smooth.run_plan DIR PLAN.json --device cuda --processes 4 [--data SOURCE] [--seconds 540]

Trials that are in DIR already are skipped, one that fails leaves ``NAME.error.txt`` and the others go on.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.papers.smooth.trial import Trial, read_plan
from isogloss.papers.smooth.trial_data import DataShelf
from isogloss.papers.smooth.trial_run import run_trial
from isogloss.papers.smooth.trial_store import TrialStore
from isogloss.systems.smooth_options import DEVICES
from isogloss.text.batches import available_cores
from isogloss.training.loop import TrainingStopped

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
    bench.directory.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + bench.seconds
    if bench.processes > 1 and len(trials) > 1:
        yield from _in_processes(trials, bench, deadline)
        return
    worker = _Worker(bench, shelf)
    for trial in trials:
        if time.monotonic() >= deadline:
            return
        yield worker.run(trial)


class _Worker:
    """Runs trials and keeps the data between them."""

    def __init__(self, bench: Bench, shelf: DataShelf | None = None) -> None:
        self._store, self._device = TrialStore(bench.directory), bench.device
        self._shelf = shelf or DataShelf(bench.skip_bad)

    def run(self, trial: Trial) -> Report:
        try:
            outcome = run_trial(trial, self._shelf.get(trial.data, trial.pair), self._device)
        except Exception as error:
            if isinstance(error, TrainingStopped) and str(error).startswith("interrupted"):
                raise KeyboardInterrupt from error
            known = isinstance(error, InputError)
            self._store.write_error(trial, str(error) if known else traceback.format_exc())
            return Report(trial.name, f"FAILED: {' '.join(str(error).split())}", failed=True)
        self._store.write(trial, outcome)
        found = outcome.record
        return Report(
            trial.name,
            f"NDCG@5 {found['sampled']['NDCG@5']:.4f}  MRR_mr {found['sampled']['MRR_mr']:.4f}  "
            f"full MRR_mr {found['full']['MRR_mr']:.4f}  {sum(found['seconds'].values()):.1f} s, "
            f"{found['pairs_per_second']:,} pairs/s",
        )


_workers: list[_Worker] = []  # that of this process, where it is one of several


def _begin(bench: Bench) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    _workers.append(_Worker(bench))


def _run_here(trial: Trial) -> Report:
    return _workers[0].run(trial)


def _in_processes(trials: Sequence[Trial], bench: Bench, deadline: float) -> Iterator[Report]:
    for name in _THREADS:
        os.environ.setdefault(name, str(max(1, available_cores() // bench.processes)))
    waiting = list(reversed(trials))
    while waiting and time.monotonic() < deadline:  # with new processes, if one of the last was killed
        with _pool(bench) as pool:
            yield from _until_broken(pool, waiting, bench, deadline)


def _until_broken(pool: ProcessPoolExecutor, waiting: list[Trial], bench: Bench, deadline: float) -> Iterator[Report]:
    """Take trials that wait, no more at a time than processes are free: so none begins after the deadline."""
    running: dict[Future[Report], Trial] = {}
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
                TrialStore(bench.directory).write_error(trial, "the process was killed")
                yield Report(trial.name, "FAILED: the process was killed", failed=True)


def _pool(bench: Bench) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a GPU does not survive a fork
    return ProcessPoolExecutor(bench.processes, context, _begin, (bench,))


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
        return _show(run_trials(missing, bench, shelf), len(missing), len(trials))
    except (InputError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _show(reports: Iterator[Report], missing: int, all_of_them: int) -> int:
    done = failed = 0
    for report in reports:
        done, failed = done + 1, failed + report.failed
        sys.stdout.write(f"{done}/{missing} {report.name}  {report.line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{all_of_them - missing + done - failed} of {all_of_them} trials are there, {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

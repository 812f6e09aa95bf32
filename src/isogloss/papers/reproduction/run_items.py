"""What commands do that run trials and make pages of them: check the output, run what is missing, write the pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from isogloss.papers.reproduction.pages import Experiment, Item
from isogloss.papers.reproduction.running import Data, Report, RunOptions, TrialRunner
from isogloss.papers.reproduction.trials import TrialKind
from isogloss.storage.errors import InputError
from isogloss.storage.files import refuse_existing
from isogloss.storage.progress import set_quiet, track
from isogloss.text.visible import visible


def output_directory(path: str, overwrite: bool) -> Path:
    """The directory of pages and trials: a new or empty one, or one that has trials already.

    ``overwrite``: one that has other files, too. A path that cannot be used raises ``InputError``.
    """
    output = Path(path)
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file, a directory is needed")
    if not (output / "trials").is_dir():
        refuse_existing(output, overwrite)
    return output


def missing_trials(
    items: Mapping[str, Item],
    runner: TrialRunner[TrialKind, Data],
    experiment: Experiment[Any, TrialKind, Data],
    *,
    overwrite: bool,
) -> list[TrialKind]:
    """The trials that the items need and that were not run yet."""
    needed = experiment.needed(items.values())
    return runner.missing(needed, experiment.trials, experiment.data, overwrite)


def run_and_show(
    items: Mapping[str, Item],
    runner: TrialRunner[TrialKind, Data],
    experiment: Experiment[Any, TrialKind, Data],
    run_options: RunOptions,
    *,
    overwrite: bool,
    quiet: bool,
    is_run_here: Callable[[TrialKind], bool] | None = None,
) -> None:
    """Run the trials that are missing, each once, until the items need no more; then write and print their pages.

    Parameters
    ----------
    items
        The items by their names.
    runner
        How a trial is run.
    experiment
        The data, the trials and the directory of the pages.
    run_options
        Where and how trials are run.
    overwrite
        Also run trials again that were run on other data or with other settings.
    quiet
        No progress, and no list of the files at the end.
    is_run_here
        Whether a missing trial is run now (default: all are).

    Raises
    ------
    InputError
        If a trial has failed. The pages are written before.
    """
    tried_names: set[str] = set()
    failed_reports: list[Report] = []
    while True:
        missing = missing_trials(items, runner, experiment, overwrite=overwrite)
        trials = [trial for trial in missing if trial.name not in tried_names]
        if is_run_here is not None:
            trials = [trial for trial in trials if is_run_here(trial)]
        if not trials:
            break
        tried_names.update(trial.name for trial in trials)
        reports = runner.run_all(trials, run_options, experiment.data)
        failed_reports += _run_to_the_end(reports, len(trials), quiet)
    show_pages(items, experiment, quiet=quiet)
    if failed_reports:
        first = failed_reports[0]
        raise InputError(f"{len(failed_reports)} of {len(tried_names)} trials failed, {first.name}: {first.line}")


def show_pages(items: Mapping[str, Item], experiment: Experiment[Any, Any, Any], *, quiet: bool) -> None:
    """Write the pages of the items, from the trials that were run, and print them."""
    # Also where no trial is needed: this directory makes the output one that a later command takes.
    experiment.trials.directory.mkdir(parents=True, exist_ok=True)
    for name, item in items.items():
        page = experiment.page(item)
        page.save(experiment.output, name)
        sys.stdout.write(f"{page.text}\n\n")
    list_files(experiment.output, quiet=quiet)


def list_files(output: Path, *, quiet: bool) -> None:
    """Name the files of a directory in one line on standard error."""
    if quiet:
        return
    names = sorted(path.name for path in output.iterdir())
    sys.stderr.write(visible(f"{output}: {', '.join(names)}") + "\n")


def _run_to_the_end(reports: Iterator[Report], number: int, quiet: bool) -> list[Report]:
    """Run trials under one progress bar; the reports of those that failed."""

    def without_bars() -> Iterator[Report]:
        set_quiet(True)  # no bars inside of the bar
        try:
            yield from reports
        finally:
            set_quiet(quiet)

    return [report for report in track(without_bars(), "trials", total=number) if report.failed]

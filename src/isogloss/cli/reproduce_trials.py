"""What the papers whose trials are kept have in common on the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.storage.errors import InputError
from isogloss.storage.files import refuse_existing

if TYPE_CHECKING:
    from isogloss.papers.benches import Report


def output_directory(where: str, overwrite: bool) -> Path:
    """The directory: a new or empty one, or one that has trials."""
    output = Path(where)
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file, a directory is needed")
    if not (output / "trials").is_dir():
        refuse_existing(output, overwrite)
    return output


def run_all(reports: Iterator[Report], number: int, quiet: bool) -> list[Report]:
    """Run to the end under one bar; the reports of trials that failed."""
    from isogloss.storage.progress import set_quiet, track

    def without_bars() -> Iterator[Report]:
        set_quiet(True)  # no bars inside of the bar
        try:
            yield from reports
        finally:
            set_quiet(quiet)

    return [report for report in track(without_bars(), "trials", total=number) if report.failed]


def write_text(target: str, text: str) -> None:
    """Write a file, or to the screen (``-``)."""
    from isogloss.storage.files import atomic_file

    if target == "-":
        sys.stdout.write(text)
        return
    with atomic_file(target) as file:
        file.write(text)

"""``isogloss check``."""

from __future__ import annotations

import argparse
from pathlib import Path

from isogloss.cli.options import add_index
from isogloss.cli.output import note
from isogloss.storage.errors import InputError

EXAMPLE = """\
  isogloss check my-index            # is every file what was written?
  isogloss check my-index --repair   # if not: what can be made again is, the rest is listed"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument(
        "--repair", action="store_true",
        help="mend what is damaged: documents whose texts are whole are indexed anew, the others are listed",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Check an index, or mend it."""
    from isogloss.index.checking import check_index

    if options.repair:
        _repair(options)
        return
    count, problems = check_index(Path(options.index))
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        for problem in problems[1:]:
            note(problem, options.quiet)
        what = f"mend it with 'isogloss check {options.index} --repair', or restore it"
        raise InputError(f"{options.index}: is damaged: {problems[0]}{more}; {what}")
    note(f"{options.index}: all {count:,} files are what was written", options.quiet)


def _repair(options: argparse.Namespace) -> None:
    """Mend an index; the ids of documents that have to be added again, behind their language, on standard output."""
    from isogloss.index.checking import repair_index

    done = repair_index(Path(options.index))
    for problem in done.problems:
        note(problem, options.quiet)
    restored, named = sum(done.restored.values()), sum(map(len, done.lost.values()))
    if not done.problems:
        note(f"{options.index}: all files are what was written", options.quiet)
        return
    note(f"{options.index}: mended; documents indexed anew: {restored:,}", options.quiet)
    if named or done.unnamed:
        unnamed = f", and {done.unnamed:,} of which no id is left" if done.unnamed else ""
        note(f"{options.index}: to be added again, unless they were deleted: {named:,}{unnamed}", options.quiet)
    for language, ids in done.lost.items():
        for id_ in ids:
            print(f"{language}\t{id_}")

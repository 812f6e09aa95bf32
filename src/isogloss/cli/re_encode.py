"""``isogloss re-encode``."""

from __future__ import annotations

import argparse
from pathlib import Path

from isogloss.cli.index import APPROXIMATE, approximate, tell_index
from isogloss.cli.options import SOURCE_HELP, add_index, add_settings, add_skip_bad, settings_for
from isogloss.cli.output import note_problems
from isogloss.storage.errors import InputError

EXAMPLE = """\
  isogloss re-encode my-index --system new-run        # all its documents by another model
  isogloss re-encode my-index --approximate yes       # in an engine: build HNSW, and measure what it reaches"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument("--system", metavar="SYSTEM_OR_RUN", help="the model that encodes all documents anew")
    parser.add_argument(
        "--documents", metavar="SOURCE", help=f"what a system is trained on, if not the documents alone: {SOURCE_HELP}"
    )
    add_skip_bad(parser, "documents that are wrong, and count them,")
    add_settings(parser)
    parser.add_argument(
        "--approximate", choices=APPROXIMATE, help="for an index in an engine: search its vectors approximately, or not"
    )


def run(options: argparse.Namespace) -> None:
    """Encode the documents of an index anew, or change how its vectors are searched."""
    from isogloss.data.problems import Problems
    from isogloss.data.readers.registry import open_source
    from isogloss.index.making import re_encode

    if not (options.system or options.approximate):
        raise InputError("re-encode: give --system SYSTEM_OR_RUN, or --approximate; see 'isogloss re-encode --help'")
    if options.system:
        problems = Problems(not options.skip_bad)
        source = open_source(options.documents) if options.documents else None
        settings = settings_for(options.system, [options.system], options.settings)
        manifest = re_encode(Path(options.index), options.system, source, settings, problems)
        tell_index(options.index, manifest, options.quiet)
        note_problems(problems, options.quiet)
    if options.approximate:
        approximate(options.index, options.approximate, options.quiet)

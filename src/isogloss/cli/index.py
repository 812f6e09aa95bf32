"""``isogloss index``."""

from __future__ import annotations

import argparse

from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, add_output, add_settings, settings_for
from isogloss.cli.output import check_outputs, note

_EXAMPLE = """\
  isogloss index bm25-dict --documents demo --language fr --language sw -o my-index
  isogloss index psq --documents folder:manuals --language de -o manuals.index --set lexicon=en-de.txt
  isogloss index psq --documents jsonl:pages.jsonl --language fr --language it -o pages.index --set
  'lexicon=dictionaries/{pair}.txt'"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command."""
    parser = add_command(commands, name, summary, _EXAMPLE)
    parser.add_argument(
        "system", metavar="SYSTEM_OR_RUN", help="a system ('isogloss systems'), or a run of 'isogloss train'"
    )
    parser.add_argument("--documents", required=True, metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument(
        "--language", action="append", required=True, metavar="LANG", help="language of the documents (repeatable)"
    )
    parser.add_argument("--query-language", default="en", metavar="LANG", help="language of the queries (default en)")
    parser.add_argument(
        "--fields", default="title,text", help="what is searched: text, title or title,text (default title,text)"
    )
    parser.add_argument(
        "--skip-bad", action="store_true", help="skip documents that are wrong, and count them, instead of stopping"
    )
    parser.add_argument(
        "--no-source-documents", action="store_true",
        help="keep no documents in the language of the queries (':doc' at the prompt of 'isogloss search' needs them)",
    )  # fmt: skip
    add_settings(parser)
    add_output(parser, what="the index, a directory")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Make an index."""
    from pathlib import Path

    from isogloss.corpus.problems import Problems
    from isogloss.corpus.records import parse_fields
    from isogloss.corpus.sources import open_source
    from isogloss.systems.indexes import make_index

    check_outputs(options.overwrite, options.output, source=options.documents)
    problems = Problems(not options.skip_bad)
    manifest = make_index(
        Path(options.output), options.system, open_source(options.documents), options.language, options.query_language,
        parse_fields(options.fields), settings_for(options.system, [options.system], options.settings),
        options.overwrite, problems, not options.no_source_documents,
    )  # fmt: skip
    counts = ", ".join(f"{count:,} in {language}" for language, count in manifest.documents.items())
    if manifest.sources:
        counts += f", and {manifest.sources:,} in {manifest.query_language} to search with"
    note(f"{options.output}: {counts}; search with: isogloss search {options.output} 'your query'", options.quiet)
    for kind, count in (*problems.errors.items(), *problems.warnings.items()):
        note(f"{count:,} x {kind}", options.quiet)

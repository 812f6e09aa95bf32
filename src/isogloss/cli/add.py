"""``isogloss add``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.options import SOURCE_HELP, add_index, add_settings, add_skip_bad, settings_for
from isogloss.cli.output import counted, counted_languages, note, note_problems

if TYPE_CHECKING:
    from isogloss.data.problems import Problems
    from isogloss.data.source import Source

EXAMPLE = """\
  isogloss add my-index new-pages.jsonl
  isogloss add my-index manuals/new-page.md                # of the folder of the index: with the id it has there
  isogloss add my-index handbuch --set lexicon=en-de.txt   # a new language
  isogloss add my-index manuals --language fr
  isogloss add my-index new-pages.jsonl --system my-run                  # refused unless my-run made the index"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument("documents", metavar="DOCUMENTS", help=SOURCE_HELP)
    parser.add_argument("--system", metavar="SYSTEM_OR_RUN", help="refuse unless this model made the index")
    parser.add_argument(
        "--language", action="append", metavar="LANG",
        help="language of the documents (repeatable; default: detected, document by document)",
    )  # fmt: skip
    parser.add_argument(
        "--once", action="store_true", help="do not follow DOCUMENTS: 'isogloss sync' will not look for changes in it"
    )
    add_skip_bad(parser, "documents that are wrong, and count them,")
    add_settings(parser)


def run(options: argparse.Namespace) -> None:
    """Add documents to an index in one commit."""
    from isogloss.data.problems import Problems
    from isogloss.data.readers.registry import open_source
    from isogloss.index.adding import add_file, add_source
    from isogloss.index.manifest import Manifest
    from isogloss.index.writer import IndexWriter
    from isogloss.text.language import normalize_language

    name = options.system or Manifest.load(Path(options.index)).system
    problems, source = Problems(not options.skip_bad), open_source(options.documents)
    settings = settings_for(name, [name], options.settings)
    if options.system:
        _refuse_another_model(options, source, settings, problems)
    languages = [normalize_language(each) for each in options.language or ()]
    if not options.once and (done := add_file(Path(options.index), source, languages, settings)):
        file, synced = done
        what = "added" if synced.added else "replaced" if synced.replaced else "is there already"
        note(f"{options.index}: {file.path!r} of {file.source} {what}", options.quiet)
        return
    with IndexWriter(options.index, settings) as writer:
        count = add_source(writer, source, languages, problems, not options.once)
        changes, counts = writer.changes, writer.index.manifest.documents
    instead = f", {changes.replaced:,} of them in place of older ones" if changes.replaced else ""
    same = f", {changes.unchanged:,} were there already" if changes.unchanged else ""
    added = counted(count - changes.unchanged, "document")
    note(f"{options.index}: {added} added{instead}{same}; now {counted_languages(counts)}", options.quiet)
    note_problems(problems, options.quiet, source=options.documents)


def _refuse_another_model(
    options: argparse.Namespace, source: Source, settings: Mapping[str, str], problems: Problems
) -> None:
    from isogloss.index.fitting import ready_systems
    from isogloss.index.making import refuse_another_model
    from isogloss.index.reader import open_index

    with closing(open_index(Path(options.index))) as index:
        for language in options.language or index.languages:
            asked = index.manifest.query_languages
            systems = ready_systems(options.system, source, asked, language, settings, problems)
            refuse_another_model(index, language, options.system, settings, systems)

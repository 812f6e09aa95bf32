"""``isogloss delete``."""

from __future__ import annotations

import argparse
from pathlib import Path

from isogloss.cli.options import add_index
from isogloss.cli.output import counted, note
from isogloss.storage.errors import InputError

EXAMPLE = """\
  isogloss delete my-index fr-volcano fr-honey
  isogloss delete my-index --language sw --file ids-to-delete.txt"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument("ids", nargs="*", metavar="ID", help="ids of documents")
    parser.add_argument("--file", metavar="IDS", help="a file with more of them, one a line")
    parser.add_argument(
        "--language", action="append", metavar="LANG", help="only documents in this language (repeatable)"
    )


def run(options: argparse.Namespace) -> None:
    """Delete documents from an index."""
    from isogloss.index.writer import IndexWriter
    from isogloss.storage.lines import read_lines

    ids = list(options.ids)
    if options.file:
        ids += [line for _, line in read_lines(Path(options.file)) if line]
    if not ids:
        raise InputError("delete: name the documents by their ids, or give --file")
    with IndexWriter(options.index) as writer:
        count = writer.delete(ids, options.language)
        if not count:
            others = f", nor any of the {len(ids) - 1:,} others" if len(ids) > 1 else ""
            raise InputError(f"{options.index}: has no document {ids[0]!r}{others}")
        writer.commit()
        left = sum(writer.index.manifest.documents.values())
    missing = len(set(ids)) - count
    note(f"{options.index}: {counted(count, 'document')} deleted, {left:,} left", options.quiet)
    if missing > 0:
        note(f"not in the index: {counted(missing, 'id')}", options.quiet)

"""``isogloss list``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.options import add_index, add_json
from isogloss.cli.output import check_outputs, counted, note
from isogloss.storage.files import atomic_file
from isogloss.text.visible import visible, visible_json

if TYPE_CHECKING:
    from isogloss.index.listing import ListedDocument

EXAMPLE = """\
  isogloss list my-index                                   # language, id, title and file, tab-separated
  isogloss list my-index --language fr --match 'guide/*'
  isogloss list my-index --filter kind=manual --json -"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument(
        "--language", action="append", metavar="LANG", help="only documents in this language (repeatable)"
    )
    parser.add_argument(
        "--filter", action="append", default=[], metavar="NAME=VALUE",
        help="only documents that have this field with this value (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--match", default="", metavar="PATTERN", help="only those whose id or file matches, as 'guide/*' does"
    )
    add_json(parser, "the documents without their texts")


def run(options: argparse.Namespace) -> None:
    """List the documents of an index; one at a time is in memory."""
    from isogloss.cli.search import parse_filters
    from isogloss.index.listing import list_documents
    from isogloss.index.reader import open_index

    if options.json:
        check_outputs(True, options.json)
    with closing(open_index(Path(options.index))) as index:
        found = list_documents(index, options.language, parse_filters(options.filter), options.match)
        count = _write_json(found, options.json) if options.json else _print(found)
    note(f"{options.index}: {counted(count, 'document')}", options.quiet)


def _print(found: Iterable[ListedDocument]) -> int:
    count = 0
    for each in found:
        cells = (each.language, each.id, each.title, each.path or each.url)
        print("\t".join(visible(" ".join(cell.split())) for cell in cells))
        count += 1
    return count


def _write_json(found: Iterable[ListedDocument], target: str) -> int:
    """A list, one document a line, written as it is read."""
    count = 0
    with nullcontext(sys.stdout) if target == "-" else atomic_file(Path(target)) as file:
        safe = visible_json if target == "-" and sys.stdout.isatty() else str
        for count, each in enumerate(found, start=1):
            text = json.dumps({key: value for key, value in each._asdict().items() if value}, ensure_ascii=False)
            text = text.encode("utf-8", "backslashreplace").decode("utf-8")
            file.write(f"{',' if count > 1 else '['}\n{safe(text)}")
        file.write("\n]\n" if count else "[]\n")
    return count

"""``isogloss search``."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.base.errors import InputError
from isogloss.cli.main import add_command
from isogloss.cli.options import add_json, add_overwrite, count
from isogloss.cli.output import check_outputs, console, write_json

if TYPE_CHECKING:
    from isogloss.index.manifest import Manifest
    from isogloss.search.engine import Engine

_EXAMPLE = """\
  isogloss search my-index 'how do volcanoes erupt' -k 5 --explain
  isogloss search my-index                       # a prompt; an empty line or Ctrl-D leaves it"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command."""
    parser = add_command(commands, name, summary, _EXAMPLE)
    parser.add_argument("index", metavar="INDEX", help="a directory made by 'isogloss index'")
    parser.add_argument("query", nargs="?", metavar="QUERY", help="what to look for; without it: a prompt")
    parser.add_argument("-k", type=count, default=10, help="how many documents (default 10)")
    parser.add_argument(
        "--language", action="append", metavar="LANG", help="only documents in this language (repeatable)"
    )
    parser.add_argument("--explain", action="store_true", help="show which words made each score")
    add_json(parser, "the hits")
    add_overwrite(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Answer one query, or all that are typed at the prompt."""
    from isogloss.systems.indexes import open_index

    if options.query is not None and not options.query.strip():
        raise InputError("search: the query is empty")
    if options.query is None and options.json:
        raise InputError("search: --json needs a QUERY")
    if options.query is None and not sys.stdin.isatty():
        raise InputError("search: give a QUERY (there is no terminal to ask for one)")
    check_outputs(options.overwrite, options.json)
    manifest, engine = open_index(Path(options.index))

    def answer(query: str) -> None:
        _answer(engine, query, options)

    if options.query is None:
        _prompt(manifest, options.index, answer)
    else:
        answer(options.query)


def _answer(engine: Engine, query: str, options: argparse.Namespace) -> None:
    from isogloss.cli.hits import hit_object, print_hits

    hits = engine.search(query, options.k, options.language)
    if options.json:
        found = {"query": query, "hits": [hit_object(engine, hit) for hit in hits]}
        write_json(options.json, found, options.overwrite)
    if options.json != "-":
        print_hits(console(), engine, hits, options.explain)


def _prompt(manifest: Manifest, index: str, answer: Callable[[str], None]) -> None:
    with contextlib.suppress(ImportError):  # not every Python has it
        import readline  # noqa: F401 - arrow keys and history at the prompt
    counts = ", ".join(f"{count:,} in {language}" for language, count in manifest.documents.items())
    print(f"{index}: {counts}. Queries in {manifest.query_language}; an empty line or Ctrl-D leaves.")
    while True:
        try:
            query = input("search> ").strip()
        except EOFError:
            print()
            return
        if not query:
            return
        answer(query)

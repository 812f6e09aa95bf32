"""``isogloss search``."""

from __future__ import annotations

import argparse
import sys
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
  isogloss search my-index --doc 17              # with the text of a document in the query language
  isogloss search my-index                       # a prompt; ':help' lists its commands"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command."""
    parser = add_command(commands, name, summary, _EXAMPLE)
    parser.add_argument("index", metavar="INDEX", help="a directory made by 'isogloss index'")
    parser.add_argument("query", nargs="?", metavar="QUERY", help="what to look for; without it: a prompt")
    parser.add_argument(
        "--doc", metavar="ID_OR_NUMBER",
        help="search with a document in the query language instead, by its number from 1 or its id",
    )  # fmt: skip
    parser.add_argument("-k", type=count, default=10, help="how many documents (default 10)")
    parser.add_argument(
        "--language", action="append", metavar="LANG", help="only documents in this language (repeatable)"
    )
    parser.add_argument(
        "--query-language", metavar="LANG|detect",
        help="what the query is in: said if it is not what the index expects (the prompt detects it unless told)",
    )  # fmt: skip
    parser.add_argument("--explain", action="store_true", help="show which words made each score")
    add_json(parser, "the hits")
    add_overwrite(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Answer one query, or all that are typed at the prompt."""
    from isogloss.systems.indexes import open_index

    if options.query is not None and not options.query.strip():
        raise InputError("search: the query is empty")
    if options.query is not None and options.doc is not None:
        raise InputError("search: give a QUERY or --doc, not both")
    one_shot = options.query is not None or options.doc is not None
    if not one_shot and options.json:
        raise InputError("search: --json needs a QUERY")
    if not one_shot and not sys.stdin.isatty():
        raise InputError("search: give a QUERY (there is no terminal to ask for one)")
    check_outputs(options.overwrite, options.json)
    manifest, engine = open_index(Path(options.index))
    if one_shot:
        _answer(manifest, engine, options)
    else:
        _prompt(manifest, engine, options)


def _answer(manifest: Manifest, engine: Engine, options: argparse.Namespace) -> None:
    from isogloss.cli.hits import hit_object, print_hits, print_unknown
    from isogloss.corpus.records import joined_fields
    from isogloss.search.query_language import language_note

    document = None if options.doc is None else engine.source(options.doc)
    query = options.query if document is None else joined_fields(document, manifest.fields)
    hits = engine.search(query, options.k, options.language)
    unknown = engine.unknown_words(query, options.language)
    language = _language(manifest, query, options.query_language)
    if options.json:
        found = {"query": query, "hits": [hit_object(engine, hit) for hit in hits], "unknown_words": unknown}
        found |= {"document": document.id} if document else {}
        found |= {"query_language": language} if options.query_language else {}
        write_json(options.json, found, options.overwrite)
    if options.json != "-":
        out = console()
        print_hits(out, engine, hits, options.explain)
        print_unknown(out, unknown)
        if note := language_note(language, manifest.query_language, manifest.documents):
            out.print(note, style="magenta", markup=False)


def _language(manifest: Manifest, query: str, wish: str | None) -> str | None:
    """The language of a query: as the user says, or as it looks if the user says to detect it."""
    from isogloss.search.query_language import guess_query_language

    return guess_query_language(query, manifest.query_language, manifest.documents) if wish == "detect" else wish


def _prompt(manifest: Manifest, engine: Engine, options: argparse.Namespace) -> None:
    from isogloss.cli.prompt import Prompt

    given = None if options.query_language == "detect" else options.query_language
    Prompt(manifest, engine, console(), options.k, options.language, options.explain, given).run(options.index)

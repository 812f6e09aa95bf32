"""``isogloss search``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.options import add_index, add_json, add_overwrite, add_reranking, count
from isogloss.cli.output import check_outputs, console, note, write_json
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.index.manifest import Manifest
    from isogloss.search.searcher import Searcher

EXAMPLE = """\
  isogloss search my-index 'how do volcanoes erupt' -k 5 --explain
  isogloss search my-index 'erupting volcano' --filter kind=manual --language fr
  isogloss search my-index 'vulcano' --exact     # as it is typed: no typing error is corrected
  isogloss search my-index --doc 17              # with the text of a document in the query language
  isogloss search my-index                       # a prompt; ':help' lists its commands"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument("query", nargs="?", metavar="QUERY", help="the query; without it: a prompt")
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
        help="language of the query (default: that of the index, or, where it takes queries in several, detected)",
    )  # fmt: skip
    parser.add_argument(
        "--filter", action="append", default=[], metavar="NAME=VALUE",
        help="only documents that have this field with this value (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--exact", action="store_true", help="search for exactly what is typed: correct no typing errors"
    )
    parser.add_argument("--skip-damaged", action="store_true", help="search what is whole of an index that is damaged")
    add_reranking(parser)
    parser.add_argument("--explain", action="store_true", help="show which words made each score")
    add_json(parser, "the hits")
    add_overwrite(parser)


def run(options: argparse.Namespace) -> None:
    """Answer one query, or all that are typed at the prompt."""
    from isogloss.index.reader import open_index
    from isogloss.search.searcher import Searcher

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
    filters = parse_filters(options.filter)
    with closing(open_index(Path(options.index), options.skip_damaged)) as index:
        searcher = Searcher(index)
        if options.rerank:
            from isogloss.search.reranking import load_reranker

            searcher = searcher.reranked_by(load_reranker(Path(options.rerank), options.rerank_depth))
        for damaged in index.damaged:
            note(f"left out: {damaged}", options.quiet)
        if one_shot:
            _answer(index.manifest, searcher, options, filters)
        else:
            from isogloss.cli.prompt import Prompt

            named = None if options.query_language == "detect" else options.query_language
            how = options.k, options.language, options.explain, named, filters, options.exact
            Prompt(index.manifest, searcher, console(), *how).run(options.index)


def parse_filters(filters: Sequence[str]) -> dict[str, str]:
    """``["name=value"]`` to a mapping."""
    found = dict(filter_.partition("=")[::2] for filter_ in filters)
    wrong = next((filter_ for filter_ in filters if not filter_.partition("=")[0] or "=" not in filter_), None)
    if wrong is not None:
        raise InputError(f"--filter: {wrong!r} is not written NAME=VALUE")
    if len(found) < len(filters):
        raise InputError("--filter: a field can only have one value; name each field once")
    return found


def _answer(manifest: Manifest, searcher: Searcher, options: argparse.Namespace, filters: dict[str, str]) -> None:
    from isogloss.cli.hits import hit_object, print_hits, print_unknown
    from isogloss.data.documents import joined_fields
    from isogloss.search.query_language import QueryLanguage, query_language_note, read_query_language

    named = "" if options.query_language in (None, "detect") else options.query_language
    document = None if options.doc is None else searcher.source(options.doc, named)
    query = options.query if document is None else joined_fields(document, manifest.fields)
    language = QueryLanguage(*[document.language if document else searcher.query_language] * 2)
    detects = bool(options.query_language) or len(manifest.query_languages) > 1  # it takes a moment
    if detects and document is None:
        language = read_query_language(query, searcher.index, named)
    searcher = searcher.asked_in(language.searched)
    explain = bool(options.explain or options.json) or searcher.explains_quickly(options.language)
    exact = options.exact or document is not None
    hits = searcher.search(query, options.k, options.language, filters, explain=explain, exact=exact)
    unknown = searcher.unknown_words(hits.read_as, options.language)
    if options.json:
        found = {"query": query, "hits": [hit_object(searcher, hit) for hit in hits], "unknown_words": unknown}
        found |= {"read_as": hits.read_as, "corrected": [each._asdict() for each in hits.corrected]}
        found |= {"total": hits.total, "total_is_exact": hits.total_is_exact}
        found |= {"doubtful": True} if hits.doubtful else {}
        found |= {"document": document.id} if document else {}
        found |= {"query_language": language.seems} if detects else {}
        write_json(options.json, found, options.overwrite)
    if options.json != "-":
        out = console()
        print_hits(out, searcher, query, hits, options.explain)
        print_unknown(out, unknown)
        if remark := query_language_note(language, searcher.index):
            out.print(remark, style="magenta", markup=False)

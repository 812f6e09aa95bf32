"""``isogloss search``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.options import add_index, add_json, add_overwrite, add_reranking, add_translator, count
from isogloss.cli.output import check_outputs, console, note, write_json
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.index.manifest import Manifest
    from isogloss.search.searcher import Searcher

EXAMPLE = """\
  isogloss search my-index 'how do volcanoes erupt' -k 5 --explain
  isogloss search my-index 'erupting volcano' --filter kind=manual --language fr
  isogloss search my-index 'erupting volcano' --facet kind    # how many hits of each kind
  isogloss search my-index 'erupting volcano' --translator apertium     # snippets translated by Apertium
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
        "--facet", action="append", metavar="FIELD",
        help="count the values of this field among the hits (repeatable; default: the facets of the index)",
    )  # fmt: skip
    parser.add_argument(
        "--exact", action="store_true", help="search for exactly what is typed: correct no typing errors"
    )
    parser.add_argument("--skip-damaged", action="store_true", help="search what is whole of an index that is damaged")
    add_reranking(parser)
    parser.add_argument("--explain", action="store_true", help="show which words made each score")
    parser.add_argument(
        "--gloss", action=argparse.BooleanOptionalAction,
        help="show titles and snippets word for word in the language of the query, and the page that is the document's "
        "translation (default: where the answer is shown on a terminal)",
    )  # fmt: skip
    add_translator(parser)
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
    from isogloss.translation.machine import checked_translator

    if options.translator and options.gloss is None:
        options.gloss = not options.json  # whoever names one wants to see what it says
    options.translator = checked_translator(options.translator)
    with closing(open_index(Path(options.index), options.skip_damaged)) as index:
        searcher = Searcher(index)
        if options.rerank:
            from isogloss.search.reranking import load_reranker

            searcher = searcher.reranked_by(load_reranker(options.rerank, options.rerank_depth))
        for damaged in index.damaged:
            note(f"left out: {damaged}", options.quiet)
        if one_shot:
            _answer(index.manifest, searcher, options, filters)
        else:
            from isogloss.cli.prompt import Prompt

            named = None if options.query_language == "detect" else options.query_language
            glossing = options.gloss, options.translator, options.exact
            how = options.k, options.language, options.explain, named, filters, *glossing
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
    from isogloss.cli.hits import HitGlosses, facets_object, hit_object, print_facets, print_hits, print_unknown
    from isogloss.data.documents import joined_fields
    from isogloss.search.facets import count_facets
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
    read = hits.read_as
    unknown = searcher.unknown_words(read, options.language)
    names = manifest.facets if options.facet is None else options.facet
    facets = count_facets(searcher, read, names, options.language, filters) if names else None
    if facets:
        facets.count(hits)
    out = console()
    wanted = (out.is_terminal and options.json != "-") if options.gloss is None else options.gloss
    glosses = HitGlosses(searcher, read, options.translator) if wanted else None
    if options.json:
        of_hits = glosses.of(hits) if glosses and options.gloss else [None] * len(hits)
        objects = [hit_object(searcher, hit, gloss) for hit, gloss in zip(hits, of_hits, strict=True)]
        found = {"query": query, "hits": objects, "unknown_words": unknown}
        found |= {"read_as": read, "corrected": [each._asdict() for each in hits.corrected]}
        found |= {"total": hits.total, "total_is_exact": hits.total_is_exact}
        found |= {"gloss_note": glosses.note} if glosses and options.gloss else {}
        found |= {"doubtful": True} if hits.doubtful else {}
        found |= {"facets": facets_object(facets)} if facets else {}
        found |= {"document": document.id} if document else {}
        found |= {"query_language": language.seems} if detects else {}
        write_json(options.json, found, options.overwrite)
    if options.json != "-":
        print_hits(out, searcher, query, hits, options.explain, glosses=glosses)
        print_unknown(out, unknown)
        if facets:
            print_facets(out, facets)
        if remark := query_language_note(language, searcher.index):
            out.print(remark, style="magenta", markup=False)

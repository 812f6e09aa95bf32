"""``isogloss data show | grade | convert | candidates``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli import options as shared
from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, count, read_dataset, seed, settings_for
from isogloss.cli.output import check_outputs, console, counted, note, print_table, write_json
from isogloss.storage.errors import InputError
from isogloss.text.language_names import code_or_itself, language_name

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLE = """\
  isogloss data show demo --pair en-sw
  isogloss data grade --help"""
_SHOW_EXAMPLE = """\
  isogloss data show demo --pair en-sw
  isogloss data show wikiclir:DIR --pair en-fr --json -
  isogloss data show my-documents                       # a folder: kinds, languages, and what is skipped and why"""
_GRADE_EXAMPLE = """\
  isogloss data grade pages.jsonl -o graded
  isogloss data grade demo -o graded --query-language en"""
_CONVERT_EXAMPLE = """\
  isogloss data convert wikiclir:DIR --pair en-fr -o beir:OUT
  isogloss data convert demo --pair en-zh -o trec:OUT"""
_CANDIDATES_EXAMPLE = """\
  isogloss data candidates bm25 --data wikiclir:DIR --pair zh-zh --split dev --queries 500 -k 20 -o zh2zh.dev"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the sub-commands."""
    parts = parser.add_subparsers(dest="part", metavar="show|grade|convert|candidates", required=True)

    show_ = add_command(parts, "show", "counts, languages, grades and validation problems of data", _SHOW_EXAMPLE, show)
    show_.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)
    show_.add_argument(
        "--pair", help="query language and document language, like en-fr; without it the documents alone are shown"
    )
    show_.add_argument("--seed", type=seed, default=0, help="fixes the split where the data have none (default 0)")
    shared.add_json(show_, "it")
    shared.add_overwrite(show_)

    summary = "pages that link to each other and to their translations -> graded judgments"
    grade_ = add_command(parts, "grade", summary, _GRADE_EXAMPLE, grade)
    grade_.add_argument(
        "pages", metavar="PAGES", help="JSON lines with id, lang, title, text, links, translations; or demo"
    )
    grade_.add_argument(
        "--query-language", action="append", type=code_or_itself, metavar="LANG",
        help="make queries of this language only (repeatable; default: all)",
    )  # fmt: skip
    shared.add_output(grade_, what="a directory, in the WikiCLIR layout")
    shared.add_reading(grade_)

    convert_ = add_command(parts, "convert", "one pair of a source into another format", _CONVERT_EXAMPLE, convert)
    convert_.add_argument("data", metavar="SOURCE", help=SOURCE_HELP)
    shared.add_pair(convert_)
    shared.add_reading(convert_)
    shared.add_output(convert_, what="wikiclir:DIR, beir:DIR, trec:DIR, or jsonl:FILE (the documents)")

    summary = "the best k documents of a system, as lists for the 'candidates' protocol"
    lists = add_command(parts, "candidates", summary, _CANDIDATES_EXAMPLE, candidates)
    lists.add_argument("system", metavar="SYSTEM", help="a system ('isogloss systems')")
    shared.add_data(lists)
    lists.add_argument("--split", default="dev", help="train, dev, test or all (default dev)")
    lists.add_argument(
        "--queries", type=count, default=500, metavar="N", help="how many queries, drawn by the seed (default 500)"
    )
    lists.add_argument("-k", type=count, default=20, help="documents a query (default 20)")
    lists.add_argument("--fields", default="text", help="what the system reads (default text)")
    shared.add_settings(lists)
    shared.add_output(lists, what="a file: query id, document id, label (1: judged relevant)")


def show(options: argparse.Namespace) -> int:
    """Read everything and list all problems instead of stopping at the first; 2 if records had to be skipped."""
    from isogloss.data.readers.registry import open_source
    from isogloss.data.summary import summarise

    check_outputs(options.overwrite, options.json)
    if not options.pair:
        return _show_documents(options)
    options.skip_bad = True
    dataset = read_dataset(open_source(options.source), options)
    summary = summarise(dataset)
    if options.json:
        write_json(options.json, summary, options.overwrite)
    if options.json != "-":
        _print_summary(summary)
    if errors := summary["problems"]["errors"]:
        first = next(problem for problem in dataset.problems.kept if problem.fatal)
        note(f"isogloss: {sum(errors.values()):,} records cannot be used, the first: {first}")
    return 2 if errors else 0


def _show_documents(options: argparse.Namespace) -> int:
    """Show the documents of a source, of all languages, and the files that are skipped."""
    from isogloss.data.problems import Problems
    from isogloss.data.readers.registry import open_source
    from isogloss.data.summary import summarise_documents
    from isogloss.index.detecting import with_languages

    problems, source = Problems(stop_at_errors=False), open_source(options.source)
    try:
        detected, counts = with_languages(source, problems)
    except InputError:
        if not problems.skipped:
            raise
        detected, counts = source, {}  # all files are skipped
    summary = summarise_documents(detected, counts, problems)
    if options.json:
        write_json(options.json, summary, options.overwrite)
    if options.json != "-":
        _print_documents(summary)
    return 2 if summary["problems"]["errors"] else 0


def grade(options: argparse.Namespace) -> None:
    """Write the judgments that links and translations of pages imply."""
    from isogloss.data.dataset import load_dataset
    from isogloss.data.problems import Problems
    from isogloss.data.readers.demo import Demo
    from isogloss.data.readers.jsonl import Jsonl
    from isogloss.data.readers.wikiclir import write_wikiclir

    pages = options.pages.removeprefix("jsonl:")
    check_outputs(options.overwrite, options.output, source=f"jsonl:{pages}" if pages != "demo" else "")
    source = Demo() if pages == "demo" else Jsonl(pages)
    for _ in source.check(Problems(not options.skip_bad)):  # all languages at once, before anything is made of them
        pass
    for language in options.query_language or ():
        if language not in source.graded.languages:
            known = ", ".join(source.graded.languages) or "none marked"
            raise InputError(f"{source.path}: has no pages in {language!r}; languages here: {known}")
    pairs = source.graded.pairs(options.query_language)
    if not pairs:
        raise InputError(f"{source.path}: no page names a translation, so there is nothing to judge by")
    datasets = [load_dataset(source, pair, options.seed, Problems(not options.skip_bad)) for pair in pairs]
    write_wikiclir(Path(options.output), datasets, options.overwrite)
    judged = sum(len(dataset.judgments) for dataset in datasets)
    note(f"{options.output}: {len(pairs)} pairs of languages, {judged:,} judgments", options.quiet)


def convert(options: argparse.Namespace) -> None:
    """Write a pair in another format."""
    from isogloss.data.readers.registry import find_writer, open_source

    write = find_writer(options.output)
    check_outputs(options.overwrite, options.output.partition(":")[2], source=options.data)
    dataset = read_dataset(open_source(options.data), options)
    write(dataset, options.overwrite)
    note(f"{options.output}: {len(dataset.documents):,} documents, {len(dataset.queries):,} queries", options.quiet)


def candidates(options: argparse.Namespace) -> None:
    """Write the best documents of a system for some queries."""
    from isogloss.data.documents import parse_fields
    from isogloss.data.readers.registry import open_source
    from isogloss.evaluation.protocols import draw_candidates, judged_queries, write_candidates
    from isogloss.systems.registry import make_system

    check_outputs(options.overwrite, options.output, source=options.data)
    source = open_source(options.data)
    dataset = read_dataset(source, options)
    settings = settings_for(options.system, [options.system], options.settings)
    system = make_system(options.system, dataset.pair, settings, source)
    system.fit(dataset)
    system.index(dataset.documents, parse_fields(options.fields))
    lists = draw_candidates(system, dataset, options.split, options.queries, options.k, options.seed)
    write_candidates(Path(options.output), lists, options.overwrite)
    found = sum(1 for query in lists.queries if any(lists[query].values()))
    drawn = min(options.queries, len(judged_queries(dataset, options.split, dataset.judgments)))
    remark = f"{options.output}: {len(lists.queries):,} queries, {found:,} of them with a relevant document in the list"
    if drawn > len(lists.queries):
        remark += f"; for {drawn - len(lists.queries):,} more nothing was found, so they have no list"
    note(remark, options.quiet)


def _print_summary(summary: dict[str, Any]) -> None:
    out = console()
    query_language, document_language = summary["pair"].split("-", 1)
    counts = (
        document_language, f"{summary['queries']:,}", f"{summary['partially_relevant_per_query']:.2f}",
        f"{summary['documents']:,}", f"{summary['query_words']:.1f}", f"{summary['document_words']:.1f}",
    )  # fmt: skip
    columns = ("language", "#Query", "#SR/Q", "#Documents", "words/query", "words/document")
    print_table(out, f"{summary['data']} {summary['pair']}", columns, [counts])
    splits = [(name, f"{part['queries']:,}", f"{part['judged']:,}") for name, part in summary["splits"].items()]
    print_table(out, "splits", ("split", "queries", f"judged for {summary['pair']}"), splits)
    grades = [(grade, f"{count:,}") for grade, count in summary["grades"].items()]
    print_table(out, "grades (pairs not listed have grade 0)", ("grade", "judgments"), grades)
    languages = [
        ("queries", query_language, _shares(summary["query_languages"])),
        ("documents", document_language, _shares(summary["document_languages"])),
    ]
    print_table(out, "languages of a sample", ("", "declared", "detected"), languages, left=3)
    if summary["parallel"]:
        out.print(f"parallel text: {summary['parallel']:,} translated texts\n")
    _print_problems(out, summary["problems"])


def _print_documents(summary: dict[str, Any]) -> None:
    from isogloss.data.problems import OTHER_KIND, endings_of

    out = console()
    languages = [
        (language, language_name(language), f"{part['documents']:,}", f"{part['characters']:,}")
        for language, part in summary["languages"].items()
    ]
    columns = ("language", "", "documents", "characters")
    print_table(out, f"{summary['data']}: {counted(summary['documents'], 'document')}", columns, languages, left=2)
    if summary["kinds"]:
        kinds = [(kind, f"{count:,}") for kind, count in summary["kinds"].items()]
        print_table(out, "kinds", ("kind", "documents"), kinds)
    if summary["skipped"]:
        rows = [(reason, f"{len(files):,}") for reason, files in summary["skipped"].items()]
        print_table(out, "skipped", ("reason", "files"), rows)
        for reason, files in summary["skipped"].items():
            out.print(f"{reason}:", markup=False)
            if reason == OTHER_KIND:
                out.print(f"  {endings_of(files)} (--json FILE lists them)", markup=False, soft_wrap=True)
                continue
            for name, why in files.items():
                out.print(f"  {name}: {why}", markup=False, soft_wrap=True)
    _print_problems(out, summary["problems"], " in the files that are read" if summary["skipped"] else "")


def _shares(languages: dict[str, float]) -> str:
    return ", ".join(f"{language} {share:.0%}" for language, share in languages.items())


def _print_problems(out: Console, problems: dict[str, Any], where: str = "") -> None:
    rows = [
        (level, kind, f"{count:,}")
        for level, part in (("error", "errors"), ("warning", "warnings"))
        for kind, count in problems[part].items()
    ]
    if not rows:
        out.print(f"no problems found{where}")
        return
    print_table(out, f"problems{where}", ("", "kind", "how many"), rows, left=2)
    out.print("the first of each kind:")
    for line in problems["first"]:
        out.print(f"  {line}", markup=False)

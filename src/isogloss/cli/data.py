"""``isogloss data show | grade | convert | candidates``."""

from __future__ import annotations

import argparse
from typing import Any

from isogloss.cli.main import add_command
from isogloss.cli.options import (
    SOURCE_HELP,
    add_data,
    add_json,
    add_output,
    add_overwrite,
    add_pair,
    add_reading,
    add_settings,
    count,
    seed,
    settings_for,
)
from isogloss.cli.output import check_outputs, console, note, print_table, write_json


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command and its sub-commands."""
    parser = add_command(
        commands, name, summary, "  isogloss data show demo --pair en-sw\n  isogloss data grade --help"
    )
    parts = parser.add_subparsers(dest="part", metavar="show|grade|convert|candidates", required=True)
    _add_show(parts)
    _add_grade(parts)
    _add_convert(parts)
    _add_candidates(parts)


_Parts = argparse._SubParsersAction  # the type argparse gives sub-commands


def _add_show(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss data show demo --pair en-sw\n  isogloss data show wikiclir:DIR --pair en-fr --json -"
    show = add_command(parts, "show", "what is in it: counts, languages, grades, problems found", example)
    show.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)
    add_pair(show)
    show.add_argument("--seed", type=seed, default=0, help="fixes the split where the data have none (default 0)")
    add_json(show, "it")
    add_overwrite(show)
    show.set_defaults(run=_show)


def _show(options: argparse.Namespace) -> int:

    return show(options.source, options.pair, options.seed, options.json, options.overwrite)


def _add_grade(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss data grade pages.jsonl -o graded\n  isogloss data grade demo -o graded --query-language en"
    grade = add_command(
        parts, "grade", "pages that link to each other and to their translations -> graded judgments", example
    )
    grade.add_argument(
        "pages", metavar="PAGES", help="JSON lines with id, lang, title, text, links, translations; or demo"
    )
    grade.add_argument(
        "--query-language",
        action="append",
        default=None,
        metavar="LANG",
        help="make queries of this language only (repeatable; default: all)",
    )
    add_output(grade, what="a directory, in the WikiCLIR layout")
    add_reading(grade)
    grade.set_defaults(run=_grade)


def _grade(options: argparse.Namespace) -> None:
    from pathlib import Path

    from isogloss.data.dataset import load_dataset
    from isogloss.data.problems import Problems
    from isogloss.data.readers.demo import Demo
    from isogloss.data.readers.jsonl import Jsonl
    from isogloss.data.readers.wikiclir import write_wikiclir
    from isogloss.storage.errors import InputError

    pages = options.pages.removeprefix("jsonl:")
    check_outputs(options.overwrite, options.output, source=f"jsonl:{pages}" if pages != "demo" else "")
    source = Demo() if pages == "demo" else Jsonl(pages)
    problems = Problems(not options.skip_bad)
    for _ in source.check(problems):  # all languages at once, before anything is made of them
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


def _add_convert(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss data convert wikiclir:DIR --pair en-fr -o beir:OUT\n"
    example += "  isogloss data convert demo --pair en-zh -o trec:OUT"
    convert = add_command(parts, "convert", "one pair of a source into another format", example)
    convert.add_argument("data", metavar="SOURCE", help=SOURCE_HELP)
    add_pair(convert)
    add_reading(convert)
    add_output(convert, what="wikiclir:DIR, beir:DIR, trec:DIR, or jsonl:FILE (the documents)")
    convert.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> None:
    from isogloss.data.dataset import load_dataset
    from isogloss.data.formats import find_writer, open_source
    from isogloss.data.problems import Problems
    from isogloss.data.source import parse_pair

    write = find_writer(options.output)
    check_outputs(options.overwrite, options.output.partition(":")[2], source=options.data)
    dataset = load_dataset(
        open_source(options.data), parse_pair(options.pair), options.seed, Problems(not options.skip_bad)
    )
    write(dataset, options.overwrite)
    note(f"{options.output}: {len(dataset.documents):,} documents, {len(dataset.queries):,} queries", options.quiet)


def _add_candidates(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = (
        "  isogloss data candidates bm25 --data wikiclir:DIR --pair zh-zh --split dev --queries 500 -k 20 -o zh2zh.dev"
    )
    candidates = add_command(
        parts, "candidates", "the best k documents of a system, as lists for the 'candidates' protocol", example
    )
    candidates.add_argument("system", metavar="SYSTEM", help="a system ('isogloss systems')")
    add_data(candidates)
    candidates.add_argument("--split", default="dev", help="train, dev, test or all (default dev)")
    candidates.add_argument(
        "--queries", type=count, default=500, metavar="N", help="how many queries, drawn by the seed (default 500)"
    )
    candidates.add_argument("-k", type=count, default=20, help="documents a query (default 20)")
    candidates.add_argument("--fields", default="text", help="what the system reads (default text)")
    add_settings(candidates)
    add_output(candidates, what="a file: query id, document id, label (1: judged relevant)")
    candidates.set_defaults(run=_candidates)


def _candidates(options: argparse.Namespace) -> None:
    from pathlib import Path

    from isogloss.data.dataset import load_dataset
    from isogloss.data.documents import parse_fields
    from isogloss.data.formats import open_source
    from isogloss.data.problems import Problems
    from isogloss.data.source import parse_pair
    from isogloss.evaluation.protocols import draw_candidates, judged_queries, write_candidates
    from isogloss.systems.registry import make_system

    check_outputs(options.overwrite, options.output, source=options.data)
    source = open_source(options.data)
    dataset = load_dataset(source, parse_pair(options.pair), options.seed, Problems(not options.skip_bad))
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


# What ``isogloss data show`` prints.


def show(source: str, pair: str, seed: int, json_file: str | None, overwrite: bool) -> int:
    """Read everything, list what is wrong instead of stopping at it; exit status 2 if records had to be skipped."""
    from isogloss.data.dataset import load_dataset
    from isogloss.data.formats import open_source
    from isogloss.data.problems import Problems
    from isogloss.data.source import parse_pair
    from isogloss.data.summary import summarise

    check_outputs(overwrite, json_file)
    dataset = load_dataset(open_source(source), parse_pair(pair), seed, Problems(stop_at_errors=False))
    summary = summarise(dataset)
    if json_file:
        write_json(json_file, summary, overwrite)
    if json_file != "-":
        _print(summary)
    errors = summary["problems"]["errors"]
    if errors:
        first = next(problem for problem in dataset.problems.kept if problem.fatal)
        note(f"isogloss: {sum(errors.values()):,} records cannot be used, the first: {first}")
        return 2
    return 0


def _print(summary: dict[str, Any]) -> None:
    out = console()
    query_language, document_language = summary["pair"].split("-", 1)
    counts = (
        document_language, f"{summary['queries']:,}", f"{summary['partially_relevant_per_query']:.2f}",
        f"{summary['documents']:,}", f"{summary['query_words']:.1f}", f"{summary['document_words']:.1f}",
    )  # fmt: skip
    print_table(
        out,
        f"{summary['data']} {summary['pair']}",
        ("language", "#Query", "#SR/Q", "#Documents", "words/query", "words/document"),
        [counts],
    )
    splits = [(name, f"{part['queries']:,}", f"{part['judged']:,}") for name, part in summary["splits"].items()]
    print_table(out, "splits", ("split", "queries", f"judged for {summary['pair']}"), splits)
    grades = [(grade, f"{count:,}") for grade, count in summary["grades"].items()]
    print_table(out, "grades (pairs not listed have grade 0)", ("grade", "judgments"), grades)
    looks = [
        ("queries", query_language, _shares(summary["query_languages"])),
        ("documents", document_language, _shares(summary["document_languages"])),
    ]
    print_table(out, "languages, by a sample", ("", "said to be", "looks like"), looks, left=3)
    _print_problems(out, summary["problems"])


def _shares(languages: dict[str, float]) -> str:
    return ", ".join(f"{language} {share:.0%}" for language, share in languages.items())


def _print_problems(out: Any, problems: dict[str, Any]) -> None:
    counts = [("error", kind, count) for kind, count in problems["errors"].items()]
    counts += [("warning", kind, count) for kind, count in problems["warnings"].items()]
    if not counts:
        out.print("no problems found")
        return
    print_table(out, "problems", ("", "kind", "how many"), [(a, b, f"{c:,}") for a, b, c in counts], left=2)
    out.print("the first of each kind:")
    for line in problems["first"]:
        out.print(f"  {line}", markup=False)

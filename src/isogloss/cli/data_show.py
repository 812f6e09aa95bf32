"""What ``isogloss data show`` prints."""

from __future__ import annotations

from typing import Any

from isogloss.cli.output import check_outputs, console, note, print_table, write_json


def show(source: str, pair: str, seed: int, json_file: str | None, overwrite: bool) -> int:
    """Read everything, list what is wrong instead of stopping at it; exit status 2 if records had to be skipped."""
    from isogloss.corpus.dataset import load_dataset
    from isogloss.corpus.problems import Problems
    from isogloss.corpus.source import parse_pair
    from isogloss.corpus.sources import open_source
    from isogloss.corpus.summary import summarise

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

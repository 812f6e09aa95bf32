"""``isogloss evaluate``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli.options import add_data, add_json, add_overwrite, add_queries, add_settings, count, settings_for
from isogloss.cli.output import check_outputs, console, note, note_problems, print_table, write_json
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isogloss.evaluation.protocols import Task
    from isogloss.evaluation.report import Result
    from isogloss.evaluation.significance import Comparison

EXAMPLE = """\
  isogloss evaluate bm25 bm25-dict psq --data demo --pair en-fr
  isogloss evaluate bm25-dict --data wikiclir:DIR --pair en-fr --split dev --protocol full \\
      --set lexicon=en-fr.txt --run bm25-dict.trec --json result.json
  isogloss evaluate bridge psq --data wikiclir:DIR --pair en-fr --query-field title
  isogloss evaluate my-run smooth --data demo --pair en-fr --compare
  isogloss evaluate my-own.trec bm25 --data beir:DIR --pair en-de --split test --compare"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    parser.add_argument(
        "systems", nargs="+", metavar="SYSTEM_OR_RUN",
        help="systems ('isogloss systems'), run directories of 'isogloss train', or TREC run files",
    )  # fmt: skip
    add_data(parser)
    add_queries(parser)
    parser.add_argument("--split", default="dev", help="train, dev, test or all (default dev)")
    parser.add_argument(
        "--protocol", default="full", choices=("full", "sampled", "candidates"),
        help="what is ranked: the whole collection, judged and N random documents, or candidate lists (default full)",
    )  # fmt: skip
    parser.add_argument(
        "--negatives", type=count, default=40, metavar="N", help="random documents a query under 'sampled' (default 40)"
    )
    parser.add_argument(
        "--depth", type=count, default=1000, metavar="K", help="documents ranked a query under 'full' (default 1000)"
    )
    parser.add_argument("--fields", default="text", help="what systems read: text, title or title,text (default text)")
    parser.add_argument(
        "--query-field", default="text", choices=("text", "title"),
        help="what is asked: the text or the title of each query (default text)",
    )  # fmt: skip
    add_settings(parser)
    parser.add_argument(
        "--run", dest="run_file", metavar="FILE",
        help="write the rankings as a TREC run file (with several systems: FILE with the name added)",
    )  # fmt: skip
    add_json(parser, "the results")
    parser.add_argument("--compare", action="store_true", help="test the differences between systems for significance")
    add_overwrite(parser)


def run(options: argparse.Namespace) -> None:
    """Evaluate systems and run files on one task."""
    from isogloss.systems.evaluate import evaluate

    run_files = _run_files(options)
    evaluation = evaluate(
        _systems(options), options.data, options.pair, split=options.split, protocol=options.protocol,
        negatives=options.negatives, depth=options.depth, fields=options.fields,
        query_field=options.query_field, seed=options.seed, skip_bad=options.skip_bad,
        queries=options.queries,
    )  # fmt: skip
    task, results = evaluation.task, evaluation.results
    comparisons = evaluation.compare() if options.compare else []
    _write(options, results, run_files, evaluation.as_json(comparisons))
    if options.json != "-":
        _print(task, options.split, results, comparisons)
    _remarks(task, results, options.quiet)


def _systems(options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The systems to evaluate, each with its settings."""
    from isogloss.systems.registry import is_system

    named = [name for name in options.systems if is_system(name)]
    if options.settings and not named:
        raise InputError("--set: run files have no options, and no system is named")
    return {name: settings_for(name, named, options.settings) if name in named else {} for name in options.systems}


def _run_files(options: argparse.Namespace) -> dict[str, Path]:
    """System name to the run file it gets; refused now, not after the work, where one exists."""
    if len(set(options.systems)) != len(options.systems):
        raise InputError("evaluate: name each system once")
    if options.compare and len(options.systems) < 2:
        raise InputError("--compare: needs at least two systems")
    if options.run_file == "-":
        raise InputError("--run: needs the name of a file, not -")
    path = Path(options.run_file or "")
    names = options.systems if options.run_file else ()
    files = {
        name: path if len(names) == 1 else path.with_name(f"{path.stem}.{Path(name).stem}{path.suffix}")
        for name in names
    }
    check_outputs(options.overwrite, options.json, *files.values())
    return files


def _write(
    options: argparse.Namespace, results: Mapping[str, Result], run_files: Mapping[str, Path], found: Any
) -> None:
    """All outputs or, if one fails, none (but for those that replaced an older one: they are complete)."""
    written: list[Path] = []
    try:
        for name, path in run_files.items():
            results[name].run.write(path, options.overwrite)
            written.append(path)
        if options.json:
            write_json(options.json, found, options.overwrite)
    except BaseException:
        for path in () if options.overwrite else written:
            if path.is_file():  # and not /dev/null
                path.unlink()
        raise


def _print(task: Task, split: str, results: Mapping[str, Result], comparisons: list[Comparison]) -> None:
    from isogloss.evaluation.measures import MEASURES

    out = console()
    means = {name: result.means() for name, result in results.items()}
    pair = "-".join(task.dataset.pair)
    protocol = f"sampled, {task.negatives} negatives" if task.protocol == "sampled" else task.protocol
    asked = "queries" if task.query_field == "text" else f"queries by {task.query_field}"
    size = f"{len(task.queries):,} {asked}, {len(task.dataset.documents):,} documents"
    title = f"{task.dataset.source.name} {pair} {split}, {protocol}: {size}"
    if len(results) <= 5:
        rows = [(measure, *(f"{means[name][measure]:.4f}" for name in results)) for measure in MEASURES]
        rows.append(("seconds", *(f"{result.seconds:.1f}" for result in results.values())))
        print_table(out, title, ("", *results), rows)
    else:
        rows = [(name, *(f"{means[name][measure]:.4f}" for measure in MEASURES)) for name in results]
        print_table(out, title, ("", *MEASURES), rows)
    if comparisons:
        _print_comparisons(out, comparisons)


def _print_comparisons(out: Console, comparisons: list[Comparison]) -> None:
    rows = [
        (
            c.measure, c.left, c.right, f"{c.difference:+.4f}", f"{c.wins}/{c.ties}/{c.losses}",
            f"{c.t_test:.4g}", f"{c.t_test_holm:.4g}", f"{c.randomisation:.4g}", f"{c.randomisation_holm:.4g}",
        )
        for c in comparisons
    ]  # fmt: skip
    columns = ("measure", "system", "against", "difference", "win/tie/loss", "p (t)", "Holm", "p (random.)", "Holm")
    print_table(out, "paired differences, query by query", columns, rows, left=3)


def _remarks(task: Task, results: Mapping[str, Result], quiet: bool) -> None:
    if task.unjudged:
        what = "list" if task.protocol == "candidates" else "judgment for this pair"
        note(f"{task.unjudged:,} queries of the split have no {what} and are left out of the means", quiet)
    for name, result in results.items():
        missing = sum(query.id not in result.run.rankings for query in task.queries)
        if missing:
            note(f"{name}: {missing:,} of {len(task.queries):,} queries are not in the run and score 0", quiet)
    note_problems(task.dataset.problems, quiet, after=" in the data ('isogloss data show' lists them)")

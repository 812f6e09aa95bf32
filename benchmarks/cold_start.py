"""Learning curves of ``bridge`` and of its ingredients: from no page of one's own to all.

    python benchmarks/cold_start.py DIR --data shared/data --dictionaries shared/data/dictionaries
    python benchmarks/cold_start.py DIR --data … --sets mdn-fr --sizes 0,30 --only bridge,bridge+dict --jobs 16
    python benchmarks/cold_start.py DIR --data … --fresh bridge,bridge+use      run these again, whatever is there
    python benchmarks/cold_start.py DIR --report docs/results/cold-start.md     the page, from what is there

MRR of the relevant document, dev queries (a sample of 400 where there are more), the whole collection. Results are
lines of DIR/results.jsonl, one for each system, number of pages, seed and way of asking, with the rank of every query,
so that significance can be tested afterwards. What is there is not run again; of two lines for the same trial the later
one counts. Rankings of the ingredients are kept for their fusion, vectors of the encoder in DIR/encoded-*.sqlite: with
that file the encoder need not be installed (--only encoder --encode makes it). A trial that cannot be run (no
dictionary, no starter table, no encoder) is named at the end, and tried again next time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path

if __name__ == "__main__":
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # before numpy is loaded: the processes share the cores

from cold_start_data import ALL, SETS, SetName, count_pages
from cold_start_trials import FUSIONS, SYSTEMS, Outcome, Place, Trial, encode_train_queries, plan, run_trial, ways

RESULTS = "results.jsonl"
SIZES = "0,10,30,100,300,1000,all"


def main() -> None:
    options = _options()
    if options.report:
        from cold_start_page import write_page

        write_page(options.directory / RESULTS, options.report)
        return
    place = Place(options.data, options.directory, tuple(options.dictionaries))
    options.directory.mkdir(parents=True, exist_ok=True)
    for each in options.sets if options.encode else ():
        encode_train_queries(place, each)
    there = _there(options.directory / RESULTS)
    chosen = [*SYSTEMS, *FUSIONS] if options.only is None else _names(options.only)
    fresh = _names(options.fresh) if options.fresh else []
    pages = {each: count_pages(options.data, each) for each in options.sets}
    trials = [
        trial
        for trial in plan(pages, options.sizes, options.seeds, fresh or chosen)
        if trial.system in fresh or not _keys(trial) <= there
    ]
    encoding = [trial for trial in trials if trial.system == "encoder"]  # first, and alone: it fills the cache
    fused = [trial for trial in trials if trial.system in FUSIONS]
    others = [trial for trial in trials if trial not in encoding and trial not in fused]
    problems = []
    with open(options.directory / RESULTS, "a", encoding="utf-8") as file:
        outcomes = _outcomes(place, encoding, others, fused, options.jobs)
        for done, outcome in enumerate(outcomes, start=1):
            file.writelines(json.dumps(record) + "\n" for record in outcome.records)
            file.flush()
            print(f"{done}/{len(trials)} {outcome.trial.name} {_line(outcome)}", flush=True)
            if outcome.problem:
                problems.append(outcome)
    for outcome in problems:
        print(f"not run: {outcome.trial.name}: {outcome.problem}", file=sys.stderr)


def _outcomes(
    place: Place, encoding: Sequence[Trial], others: Sequence[Trial], fused: Sequence[Trial], jobs: int
) -> Iterator[Outcome]:
    yield from map(partial(run_trial, place), encoding)
    for trials in (others, fused):
        if jobs == 1:
            yield from map(partial(run_trial, place), trials)
            continue
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            for future in as_completed([pool.submit(run_trial, place, trial) for trial in trials]):
                yield future.result()


def _line(outcome: Outcome) -> str:
    if outcome.problem:
        return "not run"
    return "  ".join(f"{r['query_field']} in {'+'.join(r['fields'])} {r['mrr']:.4f}" for r in outcome.records)


def _there(path: Path) -> set[tuple[str, ...]]:
    if not path.exists():
        return set()
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(r["set"], r["system"], str(r["size"]), str(r["seed"]), r["query_field"], *r["fields"]) for r in records}


def _keys(trial: Trial) -> set[tuple[str, ...]]:
    common = trial.each.label, trial.system, str(trial.size), str(trial.seed)
    return {(*common, asked.query_field, *asked.fields) for asked in ways(trial.each)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="WikiCLIR directories")
    parser.add_argument(
        "--dictionaries", type=Path, action="append", default=[], metavar="DIR", help="en-fr.gz, freedict-eng-deu …"
    )
    parser.add_argument("--sets", type=_sets, default=list(SETS), metavar="LIST", help="mdn-fr,lohelp-de,… or mdn")
    parser.add_argument("--sizes", type=_sizes, default=_sizes(SIZES), metavar="LIST", help=f"(default {SIZES})")
    parser.add_argument("--seeds", type=int, default=3, help="samples of up to 100 pages (default 3)")
    parser.add_argument("--only", metavar="LIST", help=f"{', '.join(SYSTEMS)}, fusions (default: all)")
    parser.add_argument("--fresh", metavar="LIST", help="run these again")
    parser.add_argument(
        "--encode", action="store_true", help="encode train queries too, for a machine without the encoder"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the page, run nothing")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    """Names of systems; ``fusions`` are all of those."""
    names = [name for part in text.split(",") for name in (FUSIONS if part == "fusions" else (part,))]
    unknown = [name for name in names if name not in SYSTEMS and name not in FUSIONS]
    if unknown:
        sys.exit(f"cold_start: {unknown[0]!r} is not one of {', '.join(SYSTEMS)}, fusions")
    return names


def _sizes(text: str) -> list[int]:
    return [ALL if part == "all" else int(part) for part in text.split(",")]


def _sets(text: str) -> list[SetName]:
    found = [each for part in text.split(",") for each in SETS if part in (each.name, f"{each.name}-{each.language}")]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names none of {', '.join(each.label for each in SETS)}")
    return found


if __name__ == "__main__":
    main()

"""Searching a million documents: exact and approximate, alone and in batches, beside numpy, faiss, usearch and tantivy.

    python benchmarks/search.py                                    1,000,000 rows of 64 and of 256, 1,000,000 texts
    python benchmarks/search.py --rows 100000 --dimensions 64 --documents 100000
    python benchmarks/search.py --ways isogloss,hnsw,ivf --documents 0

Vectors are those of ``clustered_vectors``: topics of unequal size, not noise. All ways of a table are timed in
interleaved rounds, the best round counts, and ratios are against the first way. Threads are not limited. On a busy
machine, OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 and ``--cpu`` compare what one thread of each does.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from clustered_vectors import Floats, clustered
from search_times import ROUNDS, Clock, best_times_by
from search_vectors import WAYS, K, Task, Way
from search_words import compare_words

from isogloss.retrieval.vectors.exact import ExactIndex

BATCH = 32
LEAST = 0.98
QUERIES = 512
EXACT_QUERIES = 32  # they are slow
EXACT = {"exact", "numpy", "flat"}
HEAD = ["", "recall@10", "queries/s", "ratio", "in batches of 32", "ratio", "build, s", "disk, MB", "memory, MB", ""]


def main() -> None:
    options = _options()
    clock: Clock = time.process_time if options.cpu else time.perf_counter
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, numpy {np.__version__}"
    print(f"{machine}; {'CPU' if options.cpu else 'wall'} time")
    for dimension in options.dimensions:
        for exact in (True, False):
            names = [name for name in options.ways if (name in EXACT) is exact]
            if names:
                _compare(dimension, names, clock, options)
    if options.documents:
        compare_words(options.documents, clock)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="search speed and recall, side by side")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=_numbers, default=[64, 256], help="64,256 by default")
    parser.add_argument("--documents", type=int, default=1_000_000, help="texts of the lexical part; 0: none")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS), help=",".join(WAYS))
    parser.add_argument("--recall", type=float, help="that peers are set to; what isogloss reaches by default")
    parser.add_argument("--scratch", help="where there is room for files; a temporary directory by default")
    parser.add_argument("--cpu", action="store_true", help="the time of the processor, not of the clock on the wall")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def _compare(dimension: int, names: list[str], clock: Clock, options: argparse.Namespace) -> None:
    matrix, queries = clustered(options.rows, dimension, QUERIES)
    found = ExactIndex(matrix, np.arange(options.rows)).search_batch(queries, K)
    wanted = np.stack([ranking.rows for ranking in found])
    with tempfile.TemporaryDirectory(dir=options.scratch) as directory:
        task = Task(matrix, queries, wanted, Path(directory), options.recall or LEAST)
        ways = []
        for name in names:
            if way := _made(name, task):
                ways.append(way)
                if name == "isogloss" and not options.recall:
                    task = replace(task, least=max(LEAST, task.recall(way.search(queries))))
        print(f"\n## {options.rows:,} x {dimension}, top {K}, best of {ROUNDS} interleaved rounds\n")
        _show(ways, task, clock)


def _made(name: str, task: Task) -> Way | None:
    try:
        return WAYS[name](task)
    except ModuleNotFoundError as error:
        print(f"{name}: {error.name} is not installed (extra bench): left out")
        return None


def _show(ways: list[Way], task: Task, clock: Clock) -> None:
    single, batches = (
        best_times_by(clock, {way.name: partial(_in_batches, way, task.queries, size) for way in ways})
        for size in (1, BATCH)
    )
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
    for way in ways:
        cells = [way.name, f"{task.recall(way.search(task.queries)):.3f}"]
        for times in (single, batches):
            rates = {other.name: len(_asked(other, task.queries)) / times[other.name] for other in ways}
            cells += [f"{rates[way.name]:,.0f}", f"{rates[way.name] / rates[ways[0].name]:.2f}"]
        cells += [f"{way.build_seconds:.0f}", f"{way.disk / 1e6:,.0f}", f"{way.resident / 1e6:,.0f}", way.settings]
        print(f"| {' | '.join(cells)} |", flush=True)


def _asked(way: Way, queries: Floats) -> Floats:
    return queries[: EXACT_QUERIES if way.exact else QUERIES]


def _in_batches(way: Way, queries: Floats, size: int) -> None:
    asked = _asked(way, queries)
    for start in range(0, len(asked), size):
        way.search(asked[start : start + size])


if __name__ == "__main__":
    main()

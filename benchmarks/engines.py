"""How long searches take in an engine: sparse, sparse with a filter, dense.

    python benchmarks/engines.py qdrant:FOLDER
    python benchmarks/engines.py postgresql:///pages --points 100000

Points have random vectors: 250 of 60,000 sparse dimensions, which are as unevenly frequent as words (1 / (10 + rank)),
and 64 dense components. A query has 12 of the dimensions, drawn by their frequency (or, rarer, by its square root).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np

from isogloss.data.documents import Document
from isogloss.engines.base import IndexEngine, Points
from isogloss.engines.registry import create_engine, finish_engine
from isogloss.systems.sparse import SparseVector

WORDS, PER_POINT, PER_QUERY, DENSE, BATCH, RESULTS = 60_000, 250, 12, 64, 5_000, 100
RARE = {"tens": "7"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", help="its address")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=50)
    options = parser.parse_args()
    engine = create_engine(options.engine, DENSE, f"benchmark_{time.time_ns()}", sparse=True)
    try:
        measure(engine, options.points, options.queries)
    finally:
        engine.drop()


def measure(engine: IndexEngine, count: int, queries: int) -> None:
    """Fill an engine, and print how long its searches take."""
    rng = np.random.default_rng(0)
    hashes = rng.choice(2**32, WORDS, replace=False).astype(np.uint32)
    frequencies = np.zeros(WORDS, np.int64)
    loading = 0.0
    for documents, points in batches(rng, hashes, frequencies, count):
        started = time.perf_counter()
        engine.add(documents, points)
        loading += time.perf_counter() - started
    started = time.perf_counter()
    finish_engine(engine)
    print(f"{count:,} points added in {loading:.0f} s, finished in {time.perf_counter() - started:.0f} s")
    for drawn, weights in (("frequency", frequencies), ("its square root", np.sqrt(frequencies))):
        found = [query(rng, hashes, weights / weights.sum()) for _ in range(queries)]
        entries = np.median([frequencies[words].sum() for words, _ in found])
        label = f"sparse, {PER_QUERY} dimensions drawn by {drawn} ({entries:,.0f} postings)"
        report(label, [lambda q=q: engine.search("fr", [q], RESULTS) for _, q in found])
        if drawn == "frequency":
            report("the same, 1 in 100 pass", [lambda q=q: engine.search("fr", [q], RESULTS, RARE) for _, q in found])
    dense = rng.standard_normal((queries, 1, DENSE), dtype=np.float32)
    report("dense, exact", [lambda q=q: engine.search("fr", q, RESULTS) for q in dense])


def batches(
    rng: np.random.Generator, hashes: np.ndarray, frequencies: np.ndarray, count: int
) -> Iterator[tuple[list[Document], Points]]:
    """Documents of one point; counts the documents of each word."""
    likely = np.cumsum(1 / (10 + np.arange(WORDS)))
    for start in range(0, count, BATCH):
        numbers = range(start, min(count, start + BATCH))
        sparse = []
        for _ in numbers:
            words = np.unique(np.searchsorted(likely, rng.random(420) * likely[-1]))
            words = rng.choice(words, min(PER_POINT, len(words)), replace=False)
            frequencies[words] += 1
            sparse.append(vector(hashes[words], rng.random(len(words))))
        dense = rng.standard_normal((len(numbers), DENSE), dtype=np.float32)
        documents = [
            Document(str(n), "word " * 70, language="fr", fields={"tens": str(n % 100)}) for n in numbers
        ]  # fmt: skip
        yield documents, Points(np.ones(len(numbers), np.int64), dense, sparse)


def query(rng: np.random.Generator, hashes: np.ndarray, likely: np.ndarray) -> tuple[np.ndarray, SparseVector]:
    words = rng.choice(WORDS, PER_QUERY, replace=False, p=likely)
    return words, vector(hashes[words], rng.random(PER_QUERY))


def vector(dimensions: np.ndarray, weights: np.ndarray) -> SparseVector:
    order = np.argsort(dimensions)
    return SparseVector(dimensions[order], weights[order].astype(np.float32))


def report(label: str, searches: list[Callable[[], object]]) -> None:
    """Print the median and the longest time; the first search is not counted."""
    times = []
    for search in [searches[0], *searches]:
        started = time.perf_counter()
        search()
        times.append(time.perf_counter() - started)
    print(f"{label}: {1e3 * np.median(times[1:]):.1f} ms (at most {1e3 * max(times[1:]):.1f})", flush=True)


if __name__ == "__main__":
    main()

"""The exact index beside numpy and faiss: single queries and batches, and whether they find the same.

    python benchmarks/vector_search.py [ROWS DIMENSIONS]...          1,000,000 x 64 and 200,000 x 300 by default

numpy multiplies and takes argpartition, faiss is IndexFlatIP. All use as many threads as they like; on a busy machine,
where threads wait for each other, OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 gives steadier figures.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from side_by_side import best_times, show

from isogloss.retrieval.vectors.exact import ExactIndex

K = 10
BATCH = 32
SINGLE = 8
SHAPES = ["1000000", "64", "200000", "300"]
Floats = NDArray[np.float32]
Search = Callable[[Floats], NDArray[np.integer]]


def main(arguments: list[str]) -> None:
    threads = {name: os.environ[name] for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS") if name in os.environ}
    print(f"{os.cpu_count()} cores, threads {threads or 'not limited'}, load {os.getloadavg()[0]:.1f}")
    numbers = [int(argument) for argument in arguments or SHAPES]
    for rows, dimensions in zip(numbers[::2], numbers[1::2], strict=True):
        _compare(rows, dimensions)


def _compare(rows: int, dimensions: int) -> None:
    random = np.random.default_rng(0)
    matrix = random.standard_normal((rows, dimensions), dtype=np.float32)
    queries = random.standard_normal((BATCH, dimensions), dtype=np.float32)
    searches = {"isogloss": _isogloss(matrix), "numpy matmul + argpartition": _numpy(matrix)} | _faiss(matrix)

    shape = f"{rows:,} x {dimensions}, top {K}"
    singly = {name: partial(_one_by_one, search, queries[:SINGLE]) for name, search in searches.items()}
    show(f"{shape}, single queries", best_times(singly), SINGLE, "queries", "isogloss")
    batches = {name: partial(search, queries) for name, search in searches.items()}
    show(f"{shape}, batch of {BATCH}", best_times(batches), BATCH, "queries", "isogloss")
    wanted = searches["isogloss"](queries)
    for name, search in searches.items():
        print(f"  {name}: {np.mean(search(queries) == wanted):.1%} of isogloss's ranks hold the same row")


def _one_by_one(search: Search, queries: Floats) -> None:
    for query in queries:
        search(query[np.newaxis])


def _isogloss(matrix: Floats) -> Search:
    index = ExactIndex(matrix, np.arange(len(matrix)))
    return lambda queries: np.stack([ranking.rows for ranking in index.search_batch(queries, K)])


def _numpy(matrix: Floats) -> Search:
    def search(queries: Floats) -> NDArray[np.integer]:
        scores = queries @ matrix.T
        best = np.argpartition(scores, len(matrix) - K, axis=1)[:, -K:]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1)

    return search


def _faiss(matrix: Floats) -> dict[str, Search]:
    try:
        import faiss
    except ModuleNotFoundError:
        print("faiss is not installed (pip install faiss-cpu): left out")
        return {}
    index = faiss.IndexFlatIP(matrix.shape[1])
    index.add(matrix)
    return {"faiss IndexFlatIP": lambda queries: index.search(queries, K)[1]}


if __name__ == "__main__":
    main(sys.argv[1:])

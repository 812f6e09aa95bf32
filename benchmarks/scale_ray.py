r"""Ray against one process: documents indexed a second.

python benchmarks/scale_ray.py                                        made-up text: bm25, a quick and a slow encoder
python benchmarks/scale_ray.py wikiclir:DIR fr RUN [RUN ...]          a collection, and trained runs

Both sides read the documents, index them and write shards to disk. One process with one thread does all of it, one
block after the other; on Ray one process reads and writes, and the tasks of Ray Data index on two cores. The time of a
job of a few documents, which is Ray's overhead, is subtracted and shown. The rounds are interleaved. Two cores are
needed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from scale_texts import TEXT, Documents, made_up_pages, repeated, untrained
from side_by_side import best_times

from isogloss.data.documents import Document, joined_fields
from isogloss.engines.ray.data import QUICK, SLOW, cut, dense_part, index_block, make_shards
from isogloss.systems.base import System
from isogloss.systems.registry import make_system

DOCUMENTS = {"average": 150_000, "lstm": 4_000}
ROUNDS = 3
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def main(arguments: list[str]) -> None:
    from isogloss.engines.ray.cluster import connected

    started = time.perf_counter()
    with connected(num_cpus=2, object_store_memory=512 * 2**20):
        print(f"a cluster of this machine was started in {time.perf_counter() - started:.1f} s")
        for name, system, documents in _given(*arguments) if arguments else _made_up():
            indexing_ratio(name, system, documents)


def indexing_ratio(name: str, system: System, documents: Documents) -> float:
    """Print and return how many times faster two cores of Ray are than one process."""
    pages = list(documents())
    with tempfile.TemporaryDirectory() as scratch:
        folders = (Path(scratch, str(number)) for number in count())
        _on_ray(system, pages[:SLOW], next(folders))
        started = time.perf_counter()
        _on_ray(system, pages[:SLOW], next(folders))
        overhead = time.perf_counter() - started
        ways = {"one process": lambda: _one_process(system, pages, next(folders))}
        ways["two cores of Ray"] = lambda: _on_ray(system, pages, next(folders))
        best = best_times(ways, ROUNDS)
    best["two cores of Ray"] -= overhead
    ratio = best["one process"] / best["two cores of Ray"]
    speeds = ", ".join(f"{way} {len(pages) / seconds:,.0f} documents/s" for way, seconds in best.items())
    print(f"{name}: {len(pages):,} documents: {speeds}: x {ratio:.2f}; overhead of a job {overhead:.1f} s")
    return ratio


def _one_process(system: System, pages: list[Document], folder: Path) -> None:
    dense = dense_part(system)
    for block in cut((joined_fields(page, TEXT) for page in pages), SLOW if dense and not dense.is_quick else QUICK):
        (folder / str(block.number)).mkdir(parents=True)
        index_block(system, block.texts, folder / str(block.number))


def _on_ray(system: System, pages: list[Document], folder: Path) -> None:
    make_shards(system, pages, TEXT, folder)


def _made_up() -> Iterator[tuple[str, System, Documents]]:
    """``bm25``, models that nobody has trained, and documents for them."""
    words, pages = made_up_pages()
    yield "bm25", make_system("bm25", ("en", "fr")), partial(repeated, pages, DOCUMENTS["average"])
    for encoder, number in DOCUMENTS.items():
        yield f"smooth, {encoder}", untrained(encoder, words), partial(repeated, pages, number)


def _given(source: str, language: str, *runs: str) -> Iterator[tuple[str, System, Documents]]:
    """A collection, as often as it takes to be worth the while, and systems that were trained."""
    from isogloss.data.dataset import load_collection
    from isogloss.data.readers.registry import open_source
    from isogloss.index.fitting import ready_system
    from isogloss.systems.trainable import load_model

    pages = load_collection(open_source(source), language).texts(TEXT)
    for run in runs:
        system: System
        if Path(run).is_dir():
            system = load_model(Path(run))
        else:
            system = ready_system(run, open_source(source), ("en", language))
        dense = dense_part(system)
        if dense and dense.weighs:
            system.index_texts(pages)
        number = DOCUMENTS["lstm" if dense and not dense.is_quick else "average"]
        yield f"{run} on {source}", system, partial(repeated, pages, number)


if __name__ == "__main__":
    if not ONE_THREAD.items() <= os.environ.items():  # libraries read it when they are imported: begin again
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    main(sys.argv[1:])

r"""Ray against one process: documents encoded a second.

python benchmarks/scale_ray.py                                        made-up text, a quick and a slow encoder
python benchmarks/scale_ray.py wikiclir:DIR fr RUN [RUN ...]          a collection, and what 'isogloss train' has left

Both sides read the documents, encode them and write the same shards to disk. One process with one thread does all of
it, one block after the other; on Ray one process reads and writes, and two workers with a thread each encode. Starting
Ray and its workers is not in the time, for it does not grow with the documents; it is shown beside. The rounds are
interleaved, so that a slow spell of the machine hits both. Two cores are needed, or there is nothing to be gained.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from scale_texts import TEXT, Documents, blocks, made_up_pages, repeated, untrained
from side_by_side import best_times

from isogloss.data.documents import Document
from isogloss.engines.ray_blocks import QUICK, SLOW, Block
from isogloss.engines.ray_encoded import Arrays, dense_part, encode
from isogloss.engines.ray_encoding_pool import EncodingPool
from isogloss.engines.ray_shipping import ship
from isogloss.engines.ray_vector_shards import VectorShards
from isogloss.systems.base import System

DOCUMENTS = {"average": 150_000, "lstm": 4_000}
ROUNDS = 3
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def main(arguments: list[str]) -> None:
    from isogloss.engines.ray_cluster import connected

    started = time.perf_counter()
    with connected(num_cpus=2, object_store_memory=512 * 2**20):
        print(f"a cluster of this machine was started in {time.perf_counter() - started:.1f} s")
        for name, system, documents in _given(*arguments) if arguments else _made_up():
            encoding_ratio(name, system, documents)


def checks() -> dict[str, float]:
    """How many times faster two workers encode made-up text."""
    from isogloss.engines.ray_cluster import connected

    with connected(num_cpus=2, object_store_memory=512 * 2**20):
        return {name: encoding_ratio(name, system, documents) for name, system, documents in _made_up()}


def encoding_ratio(name: str, system: System, documents: Documents) -> float:
    """Print, and give, how many times faster two workers are than one process."""
    started = time.perf_counter()
    with EncodingPool(2) as pool, tempfile.TemporaryDirectory() as scratch:
        here, there, warm = (Path(scratch, name) for name in ("here", "there", "warm"))
        pool.equip(ship(system))
        while len(pool.nodes) < 2:
            _on_ray(pool, system, partial(_first, documents, 4 * SLOW), warm)
        _on_ray(pool, system, partial(_first, documents, 4 * QUICK), warm)
        starting = time.perf_counter() - started
        _one_process(system, partial(_first, documents, QUICK), warm)
        ways = {"one process": partial(_one_process, system, documents, here)}
        ways["two workers"] = partial(_on_ray, pool, system, documents, there)
        best = best_times(ways, ROUNDS)
        count = sum(1 for _ in documents())
        same = all((there / path.name).read_bytes() == path.read_bytes() for path in here.iterdir())
    ratio = best["one process"] / best["two workers"]
    speeds = ", ".join(f"{way} {count / seconds:,.0f} documents/s" for way, seconds in best.items())
    print(f"{name}: {count:,} documents: {speeds}: x {ratio:.2f}; shards {'identical' if same else 'DIFFERENT'};"
          f" workers started and warm after {starting:.1f} s")  # fmt: skip
    return ratio


def _one_process(system: System, documents: Documents, folder: Path) -> int:
    return _write(
        system, folder, ((block, encode(system, block.texts)) for block in blocks(dense_part(system), documents))
    )


def _on_ray(pool: EncodingPool, system: System, documents: Documents, folder: Path) -> int:
    return _write(system, folder, pool.run("encode", blocks(dense_part(system), documents)))


def _write(system: System, folder: Path, encoded: Iterator[tuple[Block, Arrays]]) -> int:
    shards, count = VectorShards(folder, system.name), 0
    for block, arrays in encoded:
        VectorShards.write(shards.path(block), arrays)
        count += len(block.texts)
    return count


def _first(documents: Documents, count: int) -> Iterator[Document]:
    return islice(documents(), count)


def _made_up() -> Iterator[tuple[str, System, Documents]]:
    """Models that nobody has trained, and documents for them."""
    words, pages = made_up_pages()
    for encoder, count in DOCUMENTS.items():
        yield f"smooth, {encoder}", untrained(encoder, words), partial(repeated, pages, count)


def _given(source: str, language: str, *runs: str) -> Iterator[tuple[str, System, Documents]]:
    """A collection, as often as it takes to be worth the while, and systems that were trained."""
    from isogloss.data.dataset import load_collection
    from isogloss.data.formats import open_source
    from isogloss.index.making import ready_system
    from isogloss.systems.model_directory import load_model

    pages = load_collection(open_source(source), language).texts(TEXT)
    for run in runs:
        system: System
        if Path(run).is_dir():
            system = load_model(Path(run))
        else:
            system = ready_system(run, open_source(source), ("en", language))
        dense = dense_part(system)
        if dense.weighs:
            system.index_texts(pages)
        count = DOCUMENTS["average" if dense.is_quick else "lstm"]
        yield f"{run} on {source}", system, partial(repeated, pages, count)


if __name__ == "__main__":
    if not ONE_THREAD.items() <= os.environ.items():  # libraries read it when they are imported: begin again
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    main(sys.argv[1:])

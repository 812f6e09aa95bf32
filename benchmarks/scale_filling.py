r"""Filling a store in files batch by batch, as a shard of Ray is filled: seconds until so many documents are there.

    python benchmarks/scale_filling.py [--batch 10000] [--sizes 50000,100000,200000,400000]

CPU seconds are those of this process; the others are what the clock says, waiting for the disk included. To compare
two versions, run each from its own checkout, one after the other.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.corpus.records import Document
from isogloss.stores.embedded import EmbeddedStore

_DIMENSION = 64


class Filled(NamedTuple):
    """What it took until so many documents were there."""

    documents: int
    seconds: float
    cpu: float


def fill(folder: Path, batch: int, sizes: list[int]) -> Iterator[Filled]:
    """Add batches to a new store; what each size took."""
    store, rng, seconds, cpu = EmbeddedStore(folder), np.random.default_rng(0), 0.0, 0.0
    for first in range(0, max(sizes), batch):
        documents = [Document(f"d{row}", f"page {row}", language="fr") for row in range(first, first + batch)]
        vectors = rng.standard_normal((batch, _DIMENSION)).astype(np.float32)
        begun, used = time.perf_counter(), time.process_time()
        store.add(documents, vectors)
        seconds, cpu = seconds + time.perf_counter() - begun, cpu + time.process_time() - used
        if first + batch in sizes:
            yield Filled(first + batch, seconds, cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description="filling a store in files, batch by batch")
    parser.add_argument("--batch", type=int, default=10_000, help="documents a commit (default 10000)")
    parser.add_argument("--sizes", default="50000,100000,200000,400000", help="multiples of the batch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for filled in fill(Path(scratch, "store"), options.batch, [int(size) for size in options.sizes.split(",")]):
            print(f"{filled.documents:,} documents: {filled.seconds:.1f} s, {filled.cpu:.2f} s of CPU", flush=True)


if __name__ == "__main__":
    main()

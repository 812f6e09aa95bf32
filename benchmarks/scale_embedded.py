"""The house's own files: what ``isogloss index`` writes, and the same searched exactly; built by one process, searched
by another, so that each has its own peak of memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scale_memory import own_peak
from scale_searching import timed_search
from scale_texts import untrained
from scale_vectors import LANGUAGE, K, Vectors, document_of

from isogloss.data.documents import Collection
from isogloss.index.segments import Segment, write_segment
from isogloss.retrieval.vectors.vector_index import VectorIndex

_NAME = "segment"

SavePart = Callable[[Path], None]


def build_as_index(vectors: Vectors, folder: Path) -> dict[str, Any]:
    """A segment as an index has it: the system chooses how vectors are kept and searched."""
    return _built(vectors, folder, _as_system)


def build_exact(vectors: Vectors, folder: Path) -> dict[str, Any]:
    """The same with float32 vectors, which are searched exactly."""
    return _built(vectors, folder, _exactly)


def search_segment(vectors: Vectors, folder: Path) -> dict[str, Any]:
    """Open the segment and search it."""
    segment = Segment.load(folder, _NAME)
    index = VectorIndex.load([segment.part / "index"], segment.store.id_order)

    def search(queries: Any) -> list[list[str]]:
        return [[segment.store.id_of(row) for row in each.rows.tolist()] for each in index.search_batch(queries, K)]

    measured, about = timed_search(search, vectors), index.about()
    kind = f"{about['kind']} {about['storage']}"
    return {**measured, "kind": kind, "hot": about["bytes"], "memory": own_peak()}


def _built(vectors: Vectors, folder: Path, made: Callable[[Vectors, Collection], SavePart]) -> dict[str, Any]:
    documents = Collection(map(document_of, range(len(vectors.matrix))), LANGUAGE)
    begun = time.perf_counter()
    write_segment(folder, _NAME, documents, made(vectors, documents))
    seconds = time.perf_counter() - begun
    disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"build_seconds": seconds, "build_memory": own_peak(), "disk": disk}


def _as_system(vectors: Vectors, documents: Collection) -> SavePart:
    system = untrained("average", ["word"])
    system.id_order = documents.id_order
    system.index_vectors(np.array(vectors.matrix))  # in memory, as it is when documents have been encoded
    return system.save_part


def _exactly(vectors: Vectors, documents: Collection) -> SavePart:
    index = VectorIndex.build(np.array(vectors.matrix), documents.id_order, storage="float32", approximate="no")
    return partial(_save, index)


def _save(index: VectorIndex, part: Path) -> None:
    index.save(part / "index")

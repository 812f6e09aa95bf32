"""One measurement of ``scale.py``, in a process of its own: ``python scale_measure.py WHAT PHASE ROWS DIMENSION DIR``.

What is measured is written to ``found.json`` in the folder ``work`` of DIR as soon as it is known.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scale_vectors import load_vectors, make_vectors

Found = dict[str, dict[str, Any]]
PHASES = {"embedded": ("build", "search"), "exact": ("build", "search")}
"""What takes more than one process."""
ENGINES = ("pgvector", "qdrant")
WORK, FOUND = "work", "found.json"
_STOPPED = 130


def main(what: str, phase: str, rows: int, dimension: int, directory: Path) -> None:
    work = directory / WORK
    if what == "vectors":
        make_vectors(directory, rows, dimension)
        return
    if what in PHASES:
        _note(work, what, _embedded(what, phase)(load_vectors(directory, rows, dimension), work / what))
    elif what in ENGINES:
        import scale_engines

        vectors, measure = load_vectors(directory, rows, dimension), getattr(scale_engines, f"measure_{what}")
        measure(vectors, work, lambda way, found: _note(work, way, found))
    elif what == "checks":
        import scale_ray

        _note(work, what, scale_ray.checks())
    else:
        import scale_learning

        _note(work, what, getattr(scale_learning, f"measure_{what}")(rows))


def _embedded(what: str, phase: str) -> Callable[[Any, Path], dict[str, Any]]:
    import scale_embedded

    if phase == "search":
        return scale_embedded.search_segment
    return scale_embedded.build_exact if what == "exact" else scale_embedded.build_as_index


def _note(work: Path, way: str, measured: dict[str, Any]) -> None:
    path = work / FOUND
    found: Found = json.loads(path.read_text()) if path.exists() else {}
    found[way] = {**found.get(way, {}), **measured}
    path.write_text(json.dumps(found))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: sys.exit(_STOPPED))  # servers are stopped on the way out
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))

"""Grid search: every combination of some settings is trained, the best on dev is chosen, all are kept in a table."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.storage.errors import InputError
from isogloss.storage.progress import track

Settings = dict[str, str]
Trial = Callable[[Settings], Mapping[str, float]]
"""Trains with some settings; gives what was measured on dev."""


def grid_points(axes: Mapping[str, Sequence[str]]) -> list[Settings]:
    """Every combination.

    >>> grid_points({"eps": ["0", "1"], "loss": ["sosl"]})
    [{'eps': '0', 'loss': 'sosl'}, {'eps': '1', 'loss': 'sosl'}]
    """
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def search_grid(
    points: Sequence[Settings], trial: Trial, measure: str, table: Path, processes: int = 1
) -> tuple[Settings, list[dict[str, Any]]]:
    """The best point by a measure (the first of equals), and an entry for each: its settings and what was measured.

    Each entry is added to ``table`` (JSON lines) as it is found; points that are there already are not tried again.
    Workers are fresh processes with one thread each: what is tried must be picklable.
    """
    entries = _read(table)
    known = [entry["settings"] for entry in entries]
    missing = [point for point in points if point not in known]
    with open(table, "a", encoding="utf-8") as file:
        for point, found in track(_tried(missing, trial, processes), "grid search", total=len(missing)):
            entries.append({"settings": point, **found})
            file.write(json.dumps(entries[-1]) + "\n")
            file.flush()
            os.fsync(file.fileno())
    tried = [entry for entry in entries if entry["settings"] in points]
    best = max(tried, key=lambda entry: float(entry[measure]))
    return best["settings"], tried


def _tried(points: Sequence[Settings], trial: Trial, processes: int) -> Iterator[tuple[Settings, Mapping[str, float]]]:
    if processes == 1 or len(points) < 2:
        yield from ((point, trial(point)) for point in points)
        return
    with multiprocessing.get_context("spawn").Pool(min(processes, len(points)), _one_thread) as pool:
        yield from zip(points, pool.imap(trial, points), strict=True)


def _one_thread() -> None:
    """A process a core already: threads of its own would fight."""
    for name in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"


def _read(table: Path) -> list[dict[str, Any]]:
    """The entries of a table; a last line that was cut off is dropped, the file mended."""
    if not table.exists():
        return []
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
        table.write_text("".join(lines), encoding="utf-8")
    try:
        return [dict(json.loads(line)) for line in lines]
    except ValueError as error:
        raise InputError(f"{table}: is damaged ({error}); remove it to try everything again") from error

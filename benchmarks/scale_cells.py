"""Cells of the growth table: each measured once, in processes of its own, and kept as JSON.

A cell is not begun where what the cells before it took says that there is no room for it:

    seconds of a size  ~  those of the size before * (ratio of the sizes)^1.1,    bytes in proportion
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from scale_measure import FOUND, PHASES, WORK

Ways = dict[str, dict[str, Any]]
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
_ENDING = 60.0  # seconds for servers to be stopped in
_EXPONENT = 1.1  # a little more than in proportion: graphs take n log n
_MEMORIES = ("build_memory", "memory")


class Limits(NamedTuple):
    """Seconds for all cells of a kind, bytes of memory for one."""

    seconds: float
    memory: float


@dataclass(frozen=True)
class Cell:
    """Something measured at one size."""

    what: str
    rows: int
    dimension: int

    def path(self, directory: Path) -> Path:
        return directory / f"{self.what}-{self.rows}x{self.dimension}.json"

    def kept(self, directory: Path) -> dict[str, Any]:
        """What was measured, or why it was not; nothing if nobody has tried."""
        path = self.path(directory)
        return json.loads(path.read_text()) if path.exists() else {}


def complete(cell: Cell, smaller: list[Cell], directory: Path, limits: Limits) -> str:
    """Measure a cell that is not there yet; what there is to tell of it."""
    kept = cell.kept(directory)
    if kept and not kept.get("skipped"):
        return "is there already"
    if kept and Limits(*kept["limits"]) >= limits and kept.get("ways"):
        return f"was {kept['skipped']}; give it more minutes to try again"
    before = [each for each in (other.kept(directory) for other in smaller) if each]
    left = limits.seconds - sum(each.get("seconds", 0.0) for each in before)
    reason = _no_room(cell, before, left, limits)
    if not reason:
        begun, load = time.perf_counter(), os.getloadavg()[0]
        reason, ways = _measured(cell, directory, left)
        kept = {
            "what": cell.what,
            "rows": cell.rows,
            "dimension": cell.dimension,
            "when": f"{datetime.now(UTC):%Y-%m-%d}",
            "cores": len(os.sched_getaffinity(0)),
            "load": load,
            "seconds": time.perf_counter() - begun,
            "ways": ways,
        }
    else:
        kept = {"what": cell.what, "rows": cell.rows, "dimension": cell.dimension}
    if reason:
        kept |= {"skipped": reason, "limits": limits}
    _write(cell.path(directory), kept)
    return f"skipped: {reason}" if reason else f"measured in {kept['seconds']:.0f} s"


def make_room(cell: Cell, directory: Path) -> None:
    """See that the vectors of a size are there."""
    if not (directory / f"best-{cell.rows}x{cell.dimension}.npy").exists():
        _run(Cell("vectors", cell.rows, cell.dimension), "", directory, None)


def _no_room(cell: Cell, before: list[dict[str, Any]], left: float, limits: Limits) -> str:
    stopped = next((each for each in before if each.get("skipped")), None)
    if stopped is not None:
        return f"{stopped['rows']:,} were too many already"
    if not before:
        return ""
    last = max(before, key=lambda each: int(each["rows"]))
    ratio = cell.rows / last["rows"]
    seconds = last["seconds"] * ratio**_EXPONENT
    if seconds > left:
        return f"would take some {seconds / 60:.0f} minutes, of which {max(left, 0) / 60:.0f} are left"
    most = max(way.get(name, 0) for way in last["ways"].values() for name in _MEMORIES) * ratio
    if most > limits.memory:
        return f"would take some {most / 2**30:.0f} GiB, and {limits.memory / 2**30:.0f} are allowed"
    return ""


def _measured(cell: Cell, directory: Path, seconds: float) -> tuple[str, Ways]:
    """Why it was not finished, if it was not; and what was found."""
    work, reason = directory / WORK, ""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    until = time.monotonic() + seconds
    for phase in PHASES.get(cell.what, ("all",)):
        reason = reason or _run(cell, phase, directory, until - time.monotonic())
    found = work / FOUND
    ways: Ways = json.loads(found.read_text()) if found.exists() else {}
    shutil.rmtree(work)
    return reason, ways


def _run(cell: Cell, phase: str, directory: Path, seconds: float | None) -> str:
    program = Path(__file__).with_name("scale_measure.py")
    arguments = [cell.what, phase, str(cell.rows), str(cell.dimension), str(directory)]
    with subprocess.Popen(
        [sys.executable, str(program), *arguments], env={**os.environ, **_ONE_THREAD}, start_new_session=True
    ) as process:
        try:
            code = process.wait(seconds)
            return f"failed with status {code}" if code else ""
        except subprocess.TimeoutExpired:
            return f"stopped when its {(seconds or 0) / 60:.0f} minutes were over"
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let it stop its servers; then it is over."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def _write(path: Path, kept: dict[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(kept, indent=1) + "\n")
    partial.replace(path)

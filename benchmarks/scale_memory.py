"""Memory of a measurement: of one process exactly, of a server and its helpers by looking again and again.

    PSS = pages of its own + pages that it shares / those that share them        summed over all processes

Pages of files that are mapped count; what the system keeps in its cache beside the processes does not.
"""

from __future__ import annotations

import os
import resource
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_SECONDS = 0.5


def own_peak() -> int:
    """The most bytes that this process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Watch:
    """The most bytes that some processes and all they have started had in memory, from ``with`` to its end."""

    def __init__(self, *roots: int) -> None:
        self._roots = {os.getpid(), *roots}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.peak = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while True:
            self.peak = max(self.peak, sum(map(_shared_out, _with_children(self._roots))))
            if self._over.wait(_SECONDS):
                return


def _with_children(roots: set[int]) -> set[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = set(roots)
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _shared_out(process: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0

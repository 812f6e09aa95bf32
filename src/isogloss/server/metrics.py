"""What the service counts, in the text form that Prometheus reads."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from isogloss.server.counters import SharedCells

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STATUSES = (200, 304, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 500, 503, 504, 507)
_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "other")
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_HISTOGRAM = len(_BOUNDS) + 2  # one over all bounds, and the sum
_OTHER = "other"
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Metrics:
    """Requests by path, method and status, their durations, and how many are being answered.

    Paths are those of the routes, statuses those that the service gives: a hostile client cannot make the table grow.
    """

    def __init__(self, paths: Sequence[str], folder: Path | None = None) -> None:
        self._paths = [*paths, _OTHER]
        self._requests = len(self._paths) * len(_METHODS) * (len(_STATUSES) + 1)
        self._cells = SharedCells(2 + self._requests + len(self._paths) * _HISTOGRAM, folder)
        self._cells.own[0] = os.getpid()
        self._cells.own[1] = 0  # what a predecessor was answering when it died is answered by nobody

    def began(self) -> None:
        """A request came."""
        self._cells.own[1] += 1

    def ended(self, path: str, method: str, status: int, seconds: float) -> None:
        """A request was answered."""
        own = self._cells.own
        own[1] -= 1
        place = self._paths.index(path) if path in self._paths else len(self._paths) - 1
        way = _METHODS.index(method if method in _METHODS else "other")
        kind = _STATUSES.index(status) if status in _STATUSES else len(_STATUSES)
        own[2 + (place * len(_METHODS) + way) * (len(_STATUSES) + 1) + kind] += 1
        histogram = own[2 + self._requests + place * _HISTOGRAM :]
        histogram[bisect_left(_BOUNDS, seconds)] += 1
        histogram[_HISTOGRAM - 1] += seconds

    def close(self) -> None:
        """Leave the numbers to whoever comes next."""
        self._cells.close()

    def text(self, documents: Mapping[str, int], generation: int) -> str:
        """All numbers, those of all workers together."""
        tables = list(self._cells.all())
        total = np.sum(tables, axis=0)
        lines = [
            *_family("isogloss_requests_total", "counter", "Requests answered.", self._request_lines(total)),
            *_family("isogloss_request_seconds", "histogram", "Time to answer.", self._histogram_lines(total)),
            *_family("isogloss_in_flight", "gauge", "Requests being answered.", [f"isogloss_in_flight {total[1]:g}"]),
            *_family(
                "isogloss_documents",
                "gauge",
                "Documents that can be found.",
                [f'isogloss_documents{{language="{_label(name)}"}} {count}' for name, count in documents.items()],
            ),
            *_family("isogloss_generation", "gauge", "Commit searched in.", [f"isogloss_generation {generation}"]),
            *_family(
                "isogloss_resident_memory_bytes",
                "gauge",
                "Resident memory of each worker process.",
                _memory_lines(int(cells[0]) for cells in tables),
            ),
        ]
        return "\n".join(lines) + "\n"

    def _request_lines(self, total: np.ndarray) -> Iterable[str]:
        counts = total[2 : 2 + self._requests].reshape(len(self._paths), len(_METHODS), -1)
        for place, way, kind in np.argwhere(counts).tolist():
            status = _STATUSES[kind] if kind < len(_STATUSES) else _OTHER
            labels = f'path="{_label(self._paths[place])}",method="{_METHODS[way]}",status="{status}"'
            yield f"isogloss_requests_total{{{labels}}} {counts[place, way, kind]:.0f}"

    def _histogram_lines(self, total: np.ndarray) -> Iterable[str]:
        histograms = total[2 + self._requests :].reshape(len(self._paths), -1)
        for path, histogram in zip(self._paths, histograms, strict=True):
            sums = np.cumsum(histogram[:-1])
            if not sums[-1]:
                continue
            label = f'path="{_label(path)}"'
            for bound, count in zip((*_BOUNDS, "+Inf"), sums.tolist(), strict=True):
                yield f'isogloss_request_seconds_bucket{{{label},le="{bound}"}} {count:.0f}'
            yield f"isogloss_request_seconds_sum{{{label}}} {histogram[-1]:.6f}"
            yield f"isogloss_request_seconds_count{{{label}}} {sums[-1]:.0f}"


def _family(name: str, kind: str, help_: str, lines: Iterable[str]) -> list[str]:
    return [f"# HELP {name} {help_}", f"# TYPE {name} {kind}", *lines]


def _label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _memory_lines(pids: Iterable[int]) -> Iterable[str]:
    for pid in pids:
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it is gone, or this system keeps no such files
        yield f'isogloss_resident_memory_bytes{{pid="{pid}"}} {pages * _PAGE_BYTES}'

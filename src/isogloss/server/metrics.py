"""Metrics for Prometheus; worker processes that share a folder are counted together."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from isogloss.index.reader import OpenIndex

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable, to be set before a worker starts, that names the folder in which workers count together."""
EXAMPLE = 'isogloss_requests_total{method="GET",path="/api/v1/search",status="200"} 42.0\n'
_METHODS = frozenset(("GET", "POST", "PUT", "DELETE", "HEAD"))
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TRIES = 3
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

__all__ = ["CONTENT_TYPE", "EXAMPLE", "FOLDER", "Metrics"]


class Metrics:
    """Requests by path, method and status, their durations, how many are in flight, and the size of the index.

    Paths are those of the routes and methods those that the service takes: a hostile client cannot make the table grow.
    """

    def __init__(self, index: Callable[[], OpenIndex]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        own = CollectorRegistry()
        self._requests = Counter("isogloss_requests", "Requests answered.", ["path", "method", "status"], registry=own)
        self._seconds = Histogram(
            "isogloss_request_seconds", "Time to answer.", ["path"], buckets=_BOUNDS, registry=own
        )
        self._in_flight = Gauge(
            "isogloss_in_flight", "Requests being answered.", multiprocess_mode="livesum", registry=own
        )
        folder = os.environ.get(FOLDER)
        self._shown = own
        if folder:
            self._shown = CollectorRegistry()
            MultiProcessCollector(self._shown, folder)  # type: ignore[no-untyped-call]
        self._shown.register(_Gauges(index, folder))

    def began(self) -> None:
        """A request came."""
        self._in_flight.inc()

    def ended(self, path: str, method: str, status: int, seconds: float) -> None:
        """A request was answered; ``path`` is that of its route, empty if it has none."""
        path = path or "other"
        self._in_flight.dec()
        self._requests.labels(path, method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All numbers, those of all workers together."""
        for _ in range(_TRIES):
            try:
                return generate_latest(self._shown)
            except (OSError, ValueError, struct.error):  # a file of a worker that starts or ends at this moment
                time.sleep(0.05)
        return generate_latest(self._shown)


class _Gauges(Collector):
    """Gauges computed when they are read: the index, and the memory of each worker."""

    def __init__(self, index: Callable[[], OpenIndex], folder: str | None) -> None:
        self._index, self._folder = index, folder

    def collect(self) -> Iterator[GaugeMetricFamily]:
        index = self._index()
        documents = GaugeMetricFamily("isogloss_documents", "Documents that can be found.", labels=["language"])
        for language, count in index.manifest.documents.items():
            documents.add_metric([language], count)
        memory = GaugeMetricFamily(
            "isogloss_resident_memory_bytes", "Resident memory of each worker process.", labels=["pid"]
        )
        for pid in self._pids():
            try:
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            except (OSError, IndexError, ValueError):
                continue  # it is gone, or this system keeps no such files
            memory.add_metric([pid], pages * _PAGE_BYTES)
        yield documents
        yield GaugeMetricFamily("isogloss_generation", "Commit searched in.", value=index.generation)
        yield memory

    def _pids(self) -> list[str]:
        """The workers that live: each has a file of its own in the folder, which is removed when it dies."""
        if not self._folder:
            return [str(os.getpid())]
        return sorted(path.stem.rpartition("_")[2] for path in Path(self._folder).glob("gauge_livesum_*.db"))

"""Several worker processes on one socket, each mapping the same index; one that dies is replaced."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
import time
from dataclasses import replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from isogloss.server.app import Settings
from isogloss.server.request_log import write_line
from isogloss.server.running import STOPS, serve_on
from isogloss.storage.errors import InputError

_SPAWN = get_context("spawn")  # not fork: libraries have threads by now, which a fork would lose
_TOO_SOON = 5.0  # seconds: a worker that gives up sooner would do so again
_LAST_WAIT = 60.0  # seconds for the workers to finish what they have begun


class Supervisor:
    """Starts the workers, replaces those that die, stops them when told to."""

    def __init__(self, settings: Settings, listener: socket.socket, count: int) -> None:
        self._settings = settings
        self._listener = listener
        self._count = count
        self._reading, self._writing = os.pipe()

    def run(self) -> None:
        """Supervise until told to stop."""
        before = {number: signal.signal(number, self._told_to_stop) for number in STOPS}
        try:
            with tempfile.TemporaryDirectory(prefix="isogloss-serve-") as shared:
                self._settings = replace(self._settings, shared=Path(shared))
                workers = [self._start() for _ in range(self._count)]
                try:
                    self._watch(workers)
                finally:
                    _stop(workers)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._reading)
            os.close(self._writing)

    def _watch(self, workers: list[BaseProcess]) -> None:
        started = dict.fromkeys(range(self._count), time.monotonic())
        while True:
            ready = wait([self._reading, *(worker.sentinel for worker in workers)])
            if self._reading in ready:
                return
            for place, worker in enumerate(workers):
                if worker.exitcode is None:
                    continue
                if worker.exitcode > 0 and time.monotonic() - started[place] < _TOO_SOON:
                    raise InputError(f"a worker ended with status {worker.exitcode} as soon as it began; see the log")
                write_line("worker", pid=worker.pid, status=worker.exitcode, message="died; another takes its place")
                workers[place], started[place] = self._start(), time.monotonic()

    def _start(self) -> BaseProcess:
        worker = _SPAWN.Process(target=_work, args=(self._settings, self._listener), name="isogloss-worker")
        worker.start()
        return worker

    def _told_to_stop(self, number: int, frame: FrameType | None) -> None:
        os.write(self._writing, b".")


def _work(settings: Settings, listener: socket.socket) -> None:
    threading.Thread(target=_follow_parent, daemon=True).start()
    serve_on(listener, settings)


def _follow_parent() -> None:
    """Stop when the supervisor is gone, however it went."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _stop(workers: list[BaseProcess]) -> None:
    for worker in workers:
        worker.terminate()
    until = time.monotonic() + _LAST_WAIT
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))
        if worker.exitcode is None:
            worker.kill()
            worker.join()

"""Work shared with forked processes, for work that holds Python's lock; little to send, and quick to start."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def share_out(function: Callable[[Item], Result], items: Sequence[Item], processes: int) -> list[Result]:
    """The results for all items, in order. This process does its part, so that one fewer has to be started.

    A pool takes several times as long to start and to end, which is worth it only where results are many or large.
    """
    if processes == 1 or "fork" not in multiprocessing.get_all_start_methods():
        return [function(item) for item in items]
    shares = [items[number::processes] for number in range(processes)]
    workers = [_Worker(function, share) for share in shares[1:]]
    try:
        found = [[function(item) for item in shares[0]], *(worker.results() for worker in workers)]
    finally:
        for worker in workers:
            worker.end()
    return [found[place % processes][place // processes] for place in range(len(items))]


class _Worker(Generic[Item, Result]):
    """A process that works on its share and sends all results at once."""

    def __init__(self, function: Callable[[Item], Result], share: Sequence[Item]) -> None:
        self._function, self._share = function, share
        fork = multiprocessing.get_context("fork")
        self._reader, writer = fork.Pipe(duplex=False)
        self._process = fork.Process(target=_work, args=(function, share, writer), daemon=True)
        self._process.start()
        writer.close()

    def results(self) -> list[Result]:
        """What it found; what it could not do, for lack of memory or for an error, is done or shown here."""
        with suppress(EOFError):
            received: list[Result] = self._reader.recv()
            return received
        return [self._function(item) for item in self._share]

    def end(self) -> None:
        self._reader.close()
        self._process.terminate()
        self._process.join()


def _work(function: Callable[[Item], Result], share: Sequence[Item], writer: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    with suppress(Exception):  # whatever it was, the parent meets it too and shows it
        writer.send([function(item) for item in share])

"""Searching and writing in threads: bounded in number and in time, so that the event loop stays free to answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from isogloss.server.refusals import Refusal

_T = TypeVar("_T")


def too_much(most: int) -> Refusal:
    """More requests than are taken at once."""
    what = f"more than {most} requests are being worked on; try again in a moment"
    return Refusal(503, what, {"Retry-After": "1"})


class WorkPool:
    """A bounded number of requests in some threads.

    A request that comes when ``most`` are waiting or being worked on is refused. One that is not done in time is
    answered so; what has not begun then never begins, and what has begun counts until it ends, because it goes on
    using a thread.
    """

    def __init__(self, threads: int, most: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="isogloss")
        self._most = most
        self._lock = threading.Lock()
        self._running: set[Future[Any]] = set()

    @property
    def in_flight(self) -> int:
        """How many requests wait for a thread or have one."""
        return len(self._running)

    @property
    def full(self) -> bool:
        """Whether one more would be refused."""
        return len(self._running) >= self._most

    async def run(self, function: Callable[[], _T], seconds: float, late: str = "") -> _T:
        """What a function returns, computed in a thread; refused if there is too much to do, or if it takes too long.

        ``late`` is what to say then.
        """
        with self._lock:
            if len(self._running) >= self._most:
                raise too_much(self._most)
            future = self._executor.submit(function)
            self._running.add(future)
        future.add_done_callback(self._forget)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except TimeoutError as error:
            if future.done() and not future.cancelled():
                raise  # the function's own
            raise Refusal(504, late or f"the answer took more than {seconds:g} seconds") from error

    def close(self, wait: bool) -> None:
        """Begin nothing more; wait for what has begun, if told to."""
        self._executor.shutdown(wait=wait, cancel_futures=True)

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._running.discard(future)

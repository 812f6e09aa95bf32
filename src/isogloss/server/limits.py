"""The limits of the service, the cost of a request, and the bounded queues in which requests are worked on."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from isogloss.server.errors import Refusal
from isogloss.storage.deadline import Deadline, DeadlineError
from isogloss.text.tokenizer import tokenize

QUERY_LENGTH = 4_000  # characters; percent-encoded they still fit the header
QUERY_WORDS = 1_000
MOST_HITS = 1_000
DEPTH = 10_000  # offset and hits together
EXPLAINED = 100  # hits that are explained at once
BATCH = 256  # queries
COST = 20_000  # of one request
CHEAP = 200  # what costs more waits in a queue of its own
ID_LENGTH = 1_000
DOCUMENTS = 10_000  # in one request
HEADER_BYTES = 65_536  # request line and headers
_T = TypeVar("_T")


@dataclass(frozen=True)
class Limits:
    """The limits that an operator sets; those of connections and queues hold for each worker process.

    ``in_flight`` counts requests that wait for a thread or have one; ``dear_in_flight`` those among them whose cost is
    above ``CHEAP``, which share one thread. ``threads`` do the other searches; one more does the writing.
    ``held_bytes`` is the most that large bodies and answers take together.
    """

    seconds: float = 10.0
    write_seconds: float = 300.0
    in_flight: int = 64
    dear_in_flight: int = 8
    writes_in_flight: int = 16
    search_bytes: int = 4 << 20
    document_bytes: int = 64 << 20
    threads: int = min(8, (os.cpu_count() or 1) + 1)
    connections: int = 1000
    connections_per_client: int = 250
    header_seconds: float = 10.0
    idle_seconds: int = 15
    send_seconds: float = 30.0
    held_bytes: int = 256 << 20


def cost_of(queries: Iterable[str], depth: int, explained: int = 0) -> float:
    """What a search costs: words of the queries times (10 + hits) / 20, a hit that is explained counting for ten.

    A query of ten words for ten hits costs 10; one costs about a millisecond of the slowest system that searches
    (bridge). A query with too many words, or a request that costs too much, is refused.

    >>> cost_of(["why is the sea salty"], 10)
    5.0
    """
    words = 0
    for query in queries:
        count = len(tokenize(query))
        if count > QUERY_WORDS:
            raise Refusal(422, f"q: the query has {count} words; at most {QUERY_WORDS} are searched for")
        words += max(1, count)
    cost = words * (10 + depth + 10 * explained) / 20
    if cost > COST:
        what = f"{words} words for {depth} hits cost {cost:.0f}, a request may cost {COST}"
        raise Refusal(422, f"k: {what}; send fewer queries at once, shorter ones, or a smaller k")
    return cost


class WorkPool:
    """A bounded number of requests in some threads, so that the event loop stays free to answer.

    A request that comes when ``most`` are waiting or being worked on is refused. One that is not done in time is
    answered with an error; work that has not started never starts, work that has stops at its next check of the
    deadline and counts until then, because it uses a thread.
    """

    def __init__(self, threads: int, most: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="isogloss")
        self._threads, self._most = threads, most
        self._lock = threading.Lock()
        self._running: dict[Future[Any], Deadline] = {}

    @property
    def in_flight(self) -> int:
        """How many requests wait for a thread or have one."""
        return len(self._running)

    @property
    def ready(self) -> bool:
        """Whether one more would be accepted, and not all threads are busy with work past its deadline."""
        with self._lock:
            late = sum(deadline.passed for deadline in self._running.values())
            return len(self._running) < self._most and late < self._threads

    async def run(self, function: Callable[[], _T], seconds: float, late: str = "", may_stop: bool = True) -> _T:
        """What a function returns, computed in a thread; refused if there is too much to do, or if it takes too long.

        ``late`` is what to say then; with ``may_stop`` the work is stopped too.
        """
        deadline = Deadline(seconds)

        def work() -> _T:
            if not may_stop:
                return function()
            with deadline:
                return function()

        with self._lock:
            if len(self._running) >= self._most:
                raise too_much(self._most)
            future = self._executor.submit(work)
            self._running[future] = deadline
        future.add_done_callback(self._forget)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except (TimeoutError, DeadlineError) as error:
            if isinstance(error, TimeoutError) and future.done() and not future.cancelled():
                raise  # the function's own
            raise Refusal(504, late or f"the answer took more than {seconds:g} seconds") from error
        finally:
            deadline.cancel()

    def close(self, wait: bool) -> None:
        """Start nothing more; ``wait`` for what has started."""
        with self._lock:
            deadlines = [] if wait else list(self._running.values())
        for deadline in deadlines:
            deadline.cancel()
        self._executor.shutdown(wait=wait, cancel_futures=True)

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._running.pop(future, None)


def too_much(most: int) -> Refusal:
    """The refusal of a request when there are too many."""
    return Refusal(503, f"more than {most} requests are being worked on; try again in a moment", {"Retry-After": "1"})

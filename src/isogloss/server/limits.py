"""The limits of the service, the cost of a request, and the bounded queues in which requests are worked on."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

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
TRANSLATED = 20  # what the translation of a hit costs, about
CHEAP = 100  # what costs more waits in a queue of its own
ID_LENGTH = 1_000
DOCUMENTS = 10_000  # in one request
HEADER_BYTES = 65_536  # request line and headers
_LATELY = 5.0  # seconds in which a client has asked that others leave something to
_CLIENTS = 1_000  # that are remembered
_NOTHING = 1e-3
_REFUSALS = 200.0  # of a client, lately: more of them have to wait
_WAIT = 0.1  # seconds
_THREADS = min(8, os.cpu_count() or 1)
_T = TypeVar("_T")


@dataclass(frozen=True)
class Limits:
    """The limits that an operator sets; those of connections and queues hold for each worker process.

    ``in_flight`` counts requests that wait for a thread or have one; 0 stands for 3 and 2 for each thread. It is
    small: each that waits makes the others later and none sooner. ``dear_in_flight`` counts those whose cost is above
    ``CHEAP``, which share one thread and give way to the others. ``threads`` do the other searches; one more does the
    writing. ``bodies`` are read at a time; ``held_bytes`` is the most that large bodies and answers take together.
    """

    seconds: float = 10.0
    write_seconds: float = 300.0
    in_flight: int = 0
    dear_in_flight: int = 4
    writes_in_flight: int = 16
    bodies: int = 64
    search_bytes: int = 4 << 20
    document_bytes: int = 64 << 20
    threads: int = _THREADS
    connections: int = 1000
    connections_per_client: int = 250
    header_seconds: float = 10.0
    idle_seconds: int = 15
    send_seconds: float = 30.0
    held_bytes: int = 256 << 20

    @property
    def searches(self) -> int:
        """How many searches wait for a thread or have one, at most."""
        return self.in_flight or 3 + 2 * self.threads

    def shared_by(self, workers: int) -> Limits:
        """Those of one of several workers: together they have a thread for each core.

        More threads answer no sooner and interrupt each other: two workers with bridge on two cores, 100 clients, had a
        p99 of 314 to 394 ms with three threads each, and of 218 to 230 ms with one.
        """
        return replace(self, threads=max(1, self.threads // workers))


def cost_of(queries: Iterable[str], hits: int, offset: int = 0, explained: int = 0, glossed: int = 0) -> float:
    """What a search costs: words · (10 + offset + hits + 10 · explained) / 20 + hits / 2, summed over the queries.

    One costs about a millisecond of the slowest system that searches (bridge): half of one goes into the snippet of a
    hit, two into its gloss. A query with too many words, or a request that costs too much, is refused.

    >>> cost_of(["why is the sea salty"], 10)
    10.0
    """
    words, shown = 0, 0
    for query in queries:
        count = len(tokenize(query))
        if count > QUERY_WORDS:
            raise Refusal(422, f"q: the query has {count} words; at most {QUERY_WORDS} are searched for")
        words += max(1, count)
        shown += hits
    cost = words * (10 + offset + hits + 10 * explained) / 20 + shown / 2 + 2 * glossed
    if cost > COST:
        what = f"{words} words for {offset + hits} hits cost {cost:.0f}, a request may cost {COST}"
        raise Refusal(422, f"k: {what}; send fewer queries at once, shorter ones, or a smaller k")
    return cost


class _Fading:
    """Sums by name that count half as much after each second, so that they are forgotten after some."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._since = clock, clock()
        self._sums: dict[str, float] = {}

    def add(self, name: str, amount: float) -> float:
        """Add to the sum of a name; what it is then."""
        now = self._clock()
        faded = 0.5 ** (now - self._since)
        self._sums = {each: faded * held for each, held in self._sums.items() if faded * held > _NOTHING}
        self._sums[name] = self._sums.get(name, 0.0) + amount
        self._since = now
        return self._sums[name]

    def get(self, name: str) -> float:
        """The sum of a name."""
        return self._sums.get(name, 0.0)


class Shares:
    """Which clients use how much of something: none may have more than half where another has asked lately.

    Who has no other beside him may have all; behind a proxy all clients are one. A client that asks again and again
    although it is refused waits for the refusal, which otherwise comes at once: refusals take time too.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used, self._refused = _Fading(clock), _Fading(clock)
        self._asked: dict[str, float] = {}

    def ask(self, client: str) -> None:
        """Note that a client wants something."""
        self._asked.pop(client, None)
        self._asked[client] = self._clock()  # the last one now
        if len(self._asked) > _CLIENTS:
            del self._asked[next(iter(self._asked))]

    def most(self, client: str, count: int) -> int:
        """How many of ``count`` a client may have."""
        other = next((asked for name, asked in reversed(self._asked.items()) if name != client), -_LATELY)
        return max(1, count // 2) if self._clock() - other < _LATELY else count

    def use(self, client: str, seconds: float) -> None:
        """Note that a client had so much."""
        self._used.add(client, seconds)

    def used(self, client: str) -> float:
        """How much a client had lately."""
        return self._used.get(client)

    def refuse(self, client: str) -> float:
        """Note that a client is refused; the seconds after which to tell it."""
        return _WAIT if self._refused.add(client, 1.0) > _REFUSALS else 0.0


class _Work(NamedTuple):
    """What is to be done for a client."""

    client: str
    do: Callable[[], Any]
    future: Future[Any]
    deadline: Deadline


class WorkPool:
    """A bounded number of requests in some threads, so that the event loop stays free to answer.

    A request that comes when ``most`` are waiting or being worked on is refused. The next to be worked on is that of
    the client whose requests took the least time lately; where there are several clients none has more than half of the
    threads or of the ``most`` (:class:`Shares`). One that is not done in time is answered with an error; work that has
    not started never starts, work that has stops at its next check of the deadline and counts until then, because it
    uses a thread. ``gives_way``: whether there is other work that goes before this.
    """

    def __init__(self, threads: int, most: int, gives_way: Callable[[], bool] | None = None) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="isogloss")
        self._threads, self._most, self._gives_way = threads, most, gives_way
        self._lock = threading.Lock()
        self._shares = Shares()
        self._waiting: list[_Work] = []
        self._running: dict[Future[Any], _Work] = {}
        self._in_flight: dict[Future[Any], _Work] = {}
        self._closed = False

    @property
    def in_flight(self) -> int:
        """How many requests wait for a thread or have one."""
        return len(self._in_flight)

    @property
    def ready(self) -> bool:
        """Whether one more would be accepted, and not all threads are busy with work past its deadline."""
        with self._lock:
            late = sum(work.deadline.passed for work in self._in_flight.values())
            return len(self._in_flight) < self._most and late < self._threads

    async def run(
        self, function: Callable[[], _T], seconds: float, late: str = "", may_stop: bool = True, client: str = ""
    ) -> _T:
        """What a function returns, computed in a thread; refused if there is too much to do, or if it takes too long.

        ``late`` is what to say then; with ``may_stop`` the work is stopped too.
        """
        deadline = Deadline(seconds, gives_way=self._gives_way)

        def do() -> _T:
            if not may_stop:
                return function()
            with deadline:
                return function()

        future = self._take(_Work(client, do, Future(), deadline))
        if future is None:
            await asyncio.sleep(self._shares.refuse(client))
            raise too_much()
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
            self._closed = True
            works = list(self._in_flight.values())
        for work in works:
            if not wait:
                work.deadline.cancel()
            work.future.cancel()  # where it has not started
        self._executor.shutdown(wait=wait)

    def _take(self, work: _Work) -> Future[Any] | None:
        """Accept a request, if there is room for it."""
        with self._lock:
            self._shares.ask(work.client)
            own = sum(other.client == work.client for other in self._in_flight.values())
            if self._closed or len(self._in_flight) >= self._most or own >= self._shares.most(work.client, self._most):
                return None
            self._waiting.append(work)
            self._in_flight[work.future] = work
            self._start()
        work.future.add_done_callback(self._forget)
        return work.future

    def _start(self) -> None:
        """Give free threads to requests; the lock is held."""
        self._waiting = [work for work in self._waiting if not work.future.done()]
        while len(self._running) < self._threads and not self._closed:
            running = Counter(work.client for work in self._running.values())
            able = [
                work
                for work in self._waiting
                if not running[work.client] or running[work.client] < self._shares.most(work.client, self._threads)
            ]
            if not able:
                return
            work = min(able, key=lambda work: self._shares.used(work.client))  # of equals the first that came
            self._waiting.remove(work)
            self._running[work.future] = work
            self._executor.submit(self._do, work)

    def _do(self, work: _Work) -> None:
        started = time.monotonic()
        try:
            if work.future.set_running_or_notify_cancel():
                work.future.set_result(work.do())
        except BaseException as error:
            work.future.set_exception(error)
        finally:
            with self._lock:
                del self._running[work.future]
                self._shares.use(work.client, time.monotonic() - started)
                self._start()

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._in_flight.pop(future, None)


def too_much() -> Refusal:
    """The refusal of a request when there are too many."""
    return Refusal(503, "too many requests are being worked on; try again in a moment", {"Retry-After": "1"})

"""Load on a service: so many connections, each asking again as soon as it is answered; or so many requests a second.

The load is made by one thread of asyncio, on the cores of the service: it takes about 0.1 ms of them for a request.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import numpy as np

_PAGE = 4096
_CONNECTIONS = 200  # fewer than a service takes of one client


@dataclass
class Load:
    """What a service did under load."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """Requests that were not answered with hits."""
        return len(self.refusals)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.seconds

    def milliseconds(self, percent: float) -> float:
        """A percentile of the time to an answer."""
        return float(np.percentile(self.latencies, percent)) * 1000


def ask_for(
    base: str, path: str, queries: Sequence[str | bytes], clients: int, seconds: float, pid: int, load: Load,
    pause: float = 0.0, source: str = "",
) -> None:  # fmt: skip
    """Ask for some seconds, and add to what is known; who is refused asks again after about a ``pause``.

    A query is the end of an address, or a body in JSON. ``source``: the address of this host that the clients have.
    """
    asyncio.run(_ask(base, path, queries, clients, seconds, pid, load, pause, source))


def ask_at_rate(
    base: str, path: str, queries: Sequence[str], rate: float, seconds: float, load: Load,
    until: Callable[[], bool] = lambda: True,
) -> None:  # fmt: skip
    """Ask so often a second, for some seconds at least and until something is true."""
    asyncio.run(_ask_at_rate(base, path, queries, rate, seconds, load, until))


def wait_for(base: str, path: str, seconds: float = 600.0) -> None:
    """Return with the first good answer."""
    until = time.monotonic() + seconds
    while True:
        try:
            with urlopen(base + path, timeout=60) as answer:
                answer.read()
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def resident(pid: int) -> int:
    """Resident bytes of a process and its children."""
    total = 0
    for one in (pid, *_children(pid)):
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * _PAGE
        except OSError:
            continue
    return total


def _children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


async def _ask(
    base: str, path: str, queries: Sequence[str | bytes], clients: int, seconds: float, pid: int, load: Load,
    pause: float, source: str,
) -> None:  # fmt: skip
    until = time.monotonic() + seconds
    started = time.monotonic()
    connections = [await _Connection.open(base, source) for _ in range(clients)]
    await asyncio.gather(
        _watch(pid, until, load),
        *(
            _client(connection, path, queries[number::clients], until, load, pause)
            for number, connection in enumerate(connections)
        ),
    )
    load.seconds += time.monotonic() - started


async def _watch(pid: int, until: float, load: Load) -> None:
    while time.monotonic() < until:
        load.memory.append(resident(pid))
        await asyncio.sleep(0.5)


async def _ask_at_rate(
    base: str, path: str, queries: Sequence[str], rate: float, seconds: float, load: Load, until: Callable[[], bool]
) -> None:
    idle: list[_Connection] = []
    free = asyncio.Semaphore(_CONNECTIONS)
    started, number, asked = time.perf_counter(), 0, []
    while number < rate * seconds or not until():
        due = started + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        target = path + quote(queries[number % len(queries)])
        asked.append(asyncio.create_task(_ask_when_due(base, idle, free, target, due, load)))
        number += 1
    await asyncio.gather(*asked)
    load.seconds += time.perf_counter() - started


async def _ask_when_due(
    base: str, idle: list[_Connection], free: asyncio.Semaphore, target: str, due: float, load: Load
) -> None:
    async with free:
        connection = idle.pop() if idle else await _Connection.open(base)
        await connection.ask(target, due, load)
        idle.append(connection)


async def _client(
    connection: _Connection, path: str, queries: Sequence[str | bytes], until: float, load: Load, pause: float
) -> None:
    turn = 0
    while time.monotonic() < until:
        query = queries[turn % len(queries)]
        body = query if isinstance(query, bytes) else b""
        target = path if body else path + quote(query)
        answered = await connection.ask(target, time.perf_counter(), load, body)
        if not answered:
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
        turn += 1
    await connection.close()


class _Connection:
    """A connection to a service, for one request after the other."""

    def __init__(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host, self._reader, self._writer = host, reader, writer

    @classmethod
    async def open(cls, base: str, source: str = "") -> _Connection:
        where, own = urlsplit(base), (source, 0) if source else None
        return cls(where.netloc, *await asyncio.open_connection(where.hostname, where.port, local_addr=own))

    async def ask(self, target: str, due: float, load: Load, body: bytes = b"") -> bool:
        """Ask, and note the time of an answer since it was due, that of a refusal since it was sent."""
        sent = time.perf_counter()
        head = f"{'POST' if body else 'GET'} /{target} HTTP/1.1\r\nHost: {self._host}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(f"{head}\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await self._reader.readexactly(int(length.partition(b":")[2]))
        answered = answer.startswith(b"HTTP/1.1 200")
        if answered:
            load.latencies.append(time.perf_counter() - due)
        else:
            load.refusals.append(time.perf_counter() - sent)
        return answered

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()

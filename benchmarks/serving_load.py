"""A bounded load on a service: so many connections, each asking again as soon as it is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import numpy as np

_PAGE = 4096


@dataclass
class Load:
    """What a service did under load."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    faults: int = 0
    memory: list[int] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.seconds

    def milliseconds(self, percent: float) -> float:
        """A percentile of the time to an answer."""
        return float(np.percentile(self.latencies, percent)) * 1000


def ask_for(base: str, path: str, queries: Sequence[str], clients: int, seconds: float, pid: int, load: Load) -> None:
    """Ask for some seconds, and add to what is known."""
    asyncio.run(_ask(base, path, queries, clients, seconds, pid, load))


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
    base: str, path: str, queries: Sequence[str], clients: int, seconds: float, pid: int, load: Load
) -> None:
    until = time.monotonic() + seconds
    started = time.monotonic()
    await asyncio.gather(
        _watch(pid, until, load), *(_client(base, path, queries[n::clients], until, load) for n in range(clients))
    )
    load.seconds += time.monotonic() - started


async def _watch(pid: int, until: float, load: Load) -> None:
    while time.monotonic() < until:
        load.memory.append(resident(pid))
        await asyncio.sleep(0.5)


async def _client(base: str, path: str, queries: Sequence[str], until: float, load: Load) -> None:
    where = urlsplit(base)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    turn = 0
    while time.monotonic() < until:
        query = quote(queries[turn % len(queries)])
        turn += 1
        started = time.perf_counter()
        writer.write(f"GET /{path}{query} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        if head.startswith(b"HTTP/1.1 200"):
            load.latencies.append(time.perf_counter() - started)
        else:
            load.faults += 1
    writer.close()
    await writer.wait_closed()

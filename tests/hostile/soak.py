"""A service under mixed searches and writes for as long as one likes, with few descriptors and little memory.

    python tests/hostile/soak.py --minutes 60

Searchers ask short and long queries, explained and in batches, page through hits and read documents; writers add,
replace and delete documents of their own and read each change back; one client leaves in the middle of its requests.
At the end every acknowledged change must be there, no answer may have been a 5xx but 503, and memory must be flat:
what the processes hold in the last quarter at most 10 % above the second quarter.

The memory limit is a control group where one can be made, and RLIMIT_DATA of each process elsewhere.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

TOKEN = "a-token-for-the-soak-0123456789"
TOPICS = (
    "why is the sea salty", "how do volcanoes erupt", "stars and moons", "bread and salt", "rivers in the desert",
    "whales", "honey bees", "a vaccine", "heart and blood", "music and painting", "stone bridges", "printing on paper",
    "steam engines", "tides in winter", "rain clouds",
)  # fmt: skip
_OWN = 40  # documents that a writer keeps
_GROUPS = Path("/sys/fs/cgroup/memory")
_GROWTH = 1.10


@dataclass
class Record:
    """What all clients saw."""

    statuses: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    descriptors: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def saw(self, what: str, status: int) -> None:
        """Count an answer."""
        with self.lock:
            self.statuses[f"{what} {status}"] += 1
            if status >= 500 and status != 503:
                self.wrong.append(f"{what}: {status}")


class Client:
    """A client with a connection of its own, which it opens again when it was closed."""

    def __init__(self, address: str, record: Record) -> None:
        self._at, self._record = urlsplit(address).netloc, record
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, what: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status of an answer and its content; status 0 if the connection broke."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body)
        for last in (False, True):
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection(self._at, timeout=120)
                self._connection.request(method, f"/api/v1/{path}", sent, headers)
                answer = self._connection.getresponse()
                content = json.loads(answer.read() or b"null")
                self._record.saw(what, answer.status)
                return answer.status, content
            except (OSError, http.client.HTTPException) as error:
                self._connection = None  # an idle connection may have been closed meanwhile: once more
                with self._record.lock:
                    self._record.broken[f"{what}: {type(error).__name__}{', twice' if last else ''}"] += 1
                if method != "GET":
                    break  # it may have been done
        return 0, None


def search(client: Client, rng: random.Random) -> None:
    """One request of one kind or another."""
    query = " ".join(rng.choices(TOPICS, k=rng.choice((1, 1, 2, 8))))
    kind = rng.random()
    if kind < 0.5:
        client.ask("search", "GET", f"search?q={quote(query)}&k=10")
    elif kind < 0.65:
        client.ask("search explained", "GET", f"search?q={quote(query)}&k=10&explain=1")
    elif kind < 0.75:
        client.ask("page", "GET", f"search?q={quote(query)}&k=20&offset={rng.choice((20, 100, 400))}")
    elif kind < 0.8:
        client.ask("dear search", "GET", f"search?q={quote(' '.join([query] * 20)[:3900])}&k=1000")
    elif kind < 0.9:
        client.ask("batch", "POST", "search", {"queries": [query] * rng.choice((2, 20, 60)), "k": 10})
    elif kind < 0.95:
        status, found = client.ask("search", "GET", f"search?q={quote(query)}&k=1")
        if status == 200 and found["hits"]:
            hit = found["hits"][0]
            client.ask("read", "GET", f"documents/{hit['language']}/{quote(hit['id'], safe='')}")
    else:
        client.ask("status", "GET", "status")
    client.ask("health", "GET", "health")


def leave(address: str, rng: random.Random) -> None:
    """Begin a request and go away in the middle of it."""
    import socket

    at = urlsplit(address)
    with contextlib.suppress(OSError), socket.create_connection((at.hostname, at.port), timeout=5) as connection:
        head = f"POST /api/v1/search HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Type: application/json\r\n"
        whole = f'{head}Content-Length: 4000\r\n\r\n{{"q": "sea'.encode()
        connection.sendall(whole[: rng.randrange(1, len(whole))])
        time.sleep(rng.random())


class Writing:
    """A client that changes documents of its own, knows what must be there, and reads each change back."""

    def __init__(self, name: str, client: Client, rng: random.Random, record: Record) -> None:
        self.name, self.client, self.rng, self.record = name, client, rng, record
        self.texts: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.number = 0

    def step(self) -> None:
        """One change."""
        if len(self.texts) >= _OWN or (self.texts and self.rng.random() < 0.3):
            self._delete(self.rng.choice(sorted(self.texts)))
        else:
            self._add()

    def _add(self) -> None:
        documents = []
        for _ in range(self.rng.choice((1, 1, 5, 20))):
            self.number += 1
            id_ = f"{self.name}-{self.rng.randrange(2 * _OWN)}"
            text = f"numéro {self.number} " + " ".join(self.rng.choices(("mer", "sel", "pierre", "étoile"), k=50))
            documents.append({"id": id_, "lang": "fr", "title": id_, "text": text})
        wanted = {each["id"]: each["text"] for each in documents}
        status, _ = self.client.ask(
            "write", "PUT", "documents", {"documents": list({d["id"]: d for d in documents}.values())}
        )
        latest = {each["id"]: each for each in documents}
        if status == 200:
            self.texts |= {id_: each["text"] for id_, each in latest.items()}
            self.unsure -= wanted.keys()
            self.check(self.rng.choice(sorted(wanted)))
        elif status in (0, 504):
            self.unsure |= wanted.keys()

    def _delete(self, id_: str) -> None:
        status, _ = self.client.ask("delete", "DELETE", f"documents/fr/{id_}")
        if status in (200, 404):
            if status == 404 and id_ not in self.unsure:
                self.record.wrong.append(f"{id_} was acknowledged and is gone")
            self.texts.pop(id_, None)
            self.unsure.discard(id_)
            self.check(id_)
        elif status in (0, 504):
            self.unsure.add(id_)

    def check(self, id_: str) -> None:
        """Read a document back; workers may be a second behind each other."""
        if id_ in self.unsure:
            return
        for _ in range(60):
            status, found = self.client.ask("read back", "GET", f"documents/fr/{id_}")
            there = found["text"] if status == 200 else None
            if status in (200, 404) and there == self.texts.get(id_):
                return
            time.sleep(0.1)
        self.record.wrong.append(f"{id_}: {there!r:.60} instead of {self.texts.get(id_)!r:.60}")


def processes(root: int) -> list[int]:
    """A process and all that it has started."""
    children: dict[int, list[int]] = {}
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(each.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def watch(root: int, record: Record, started: float) -> None:
    """Note the memory that the processes hold for themselves and share, and their descriptors."""
    held, most = 0.0, 0
    for pid in processes(root):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
            held += sizes["Pss_Anon"] / 1024
            most = max(most, sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()))
    record.memory.append((time.monotonic() - started, held))
    record.descriptors = max(record.descriptors, most)


@contextlib.contextmanager
def memory_group(megabytes: int):
    """A control group with a memory limit; None where none can be made."""
    group = _GROUPS / f"isogloss-soak-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(megabytes << 20))
    except OSError:
        yield None
        return
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


@contextlib.contextmanager
def service(index: Path, group: Path | None, options: argparse.Namespace, log: Path):
    """The service as a process with its limits, and its address."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (options.files, options.files))
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        else:
            resource.setrlimit(resource.RLIMIT_DATA, (options.megabytes << 20,) * 2)

    command = [sys.executable, "-m", "isogloss", "serve", str(index), "--port", "0", "--workers", str(options.workers)]
    environment = {**os.environ, "ISOGLOSS_TOKEN": TOKEN, "OPENBLAS_NUM_THREADS": "1"}
    with open(log, "wb") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            preexec_fn=limit,  # noqa: PLW1509 - no thread is running yet
            text=True,
        )
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)


def soak(options: argparse.Namespace, scratch: Path) -> Record:
    """Run it all."""
    record = Record()
    index, log = scratch / "index", scratch / "log"
    made = [sys.executable, "-m", "isogloss", "index", "--quiet", "demo", "-o", str(index)]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    with memory_group(options.megabytes) as group, service(index, group, options, log) as (process, address):
        started = time.monotonic()
        until = started + 60 * options.minutes

        def client() -> Client:
            return Client(address, record)

        def repeat(step: Any, *arguments: Any) -> None:
            while time.monotonic() < until:
                step(*arguments)
                time.sleep(options.pause)

        writers = [Writing(f"w{n}", client(), random.Random(n), record) for n in range(2)]
        jobs = [(writer.step,) for writer in writers]
        jobs += [(search, client(), random.Random(100 + n)) for n in range(options.searchers)]
        jobs += [(leave, address, random.Random(7))]
        threads = [threading.Thread(target=repeat, args=job) for job in jobs]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            watch(process.pid, record, started)
            if process.poll() is not None:
                record.wrong.append(f"the service ended with {process.returncode}")
                break
            time.sleep(min(5.0, 6 * options.minutes))
        for thread in threads:
            thread.join()
        for writer in writers:
            for number in range(2 * _OWN):
                writer.check(f"{writer.name}-{number}")
        used(group, record)
    check(index, log.read_text(errors="replace").splitlines(), record)
    return record


def used(group: Path | None, record: Record) -> None:
    """Note how much of its memory limit a control group has used."""
    if group is not None:
        said = {name: (group / f"memory.{name}").read_text().strip() for name in ("max_usage_in_bytes", "failcnt")}
        record.statuses[f"memory {said}"] = 1


def check(index: Path, log: list[str], record: Record) -> None:
    """Note what is wrong with the files of the index and in the log of the service."""
    checked = subprocess.run(
        [sys.executable, "-m", "isogloss", "check", str(index)], check=False, capture_output=True, text=True
    )
    if checked.returncode:
        record.wrong.append(f"isogloss check: {checked.stdout}{checked.stderr}")
    record.wrong += [line[:500] for line in log if '"traceback"' in line or "Traceback" in line]
    record.wrong += [line[:500] for line in log if '"died' in line]


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")


def report(record: Record) -> bool:
    """Print what was seen; whether all is well."""
    for what, times in sorted(record.statuses.items()):
        say(f"{times:>9,}  {what}")
    for what, times in sorted(record.broken.items()):
        say(f"{times:>9,}  broken connection: {what}")
    held = [memory for _, memory in record.memory]
    quarter = max(1, len(held) // 4)
    before, after = statistics.median(held[quarter : 2 * quarter] or held), statistics.median(held[-quarter:])
    say(f"memory held: {held[0]:.0f} MB at first, {before:.0f} MB (second quarter), {after:.0f} MB (last quarter)")
    say(f"most: {max(held):.0f} MB; most descriptors of a process: {record.descriptors}")
    if after > _GROWTH * before:
        record.wrong.append("memory grows")
    for wrong in record.wrong[:20]:
        say(f"WRONG: {wrong}")
    say("all is well" if not record.wrong else f"{len(record.wrong)} things are wrong")
    return not record.wrong


def main() -> None:
    """Soak as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--searchers", type=int, default=4)
    parser.add_argument("--files", type=int, default=1024, help="descriptors of a process (default 1024)")
    parser.add_argument("--megabytes", type=int, default=1024, help="memory of the service (default 1024)")
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two requests of a client")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(not report(soak(options, Path(scratch))))


if __name__ == "__main__":
    main()

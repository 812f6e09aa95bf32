r"""A service under load on loopback: by clients that ask again when they are answered, then at fixed rates.

    taskset -c 0,1 python benchmarks/serving_rates.py INDEX --queries queries.tsv --rates 20,40,60,80
    python benchmarks/serving_rates.py INDEX --queries queries.tsv --add more.jsonl --at 40 --cells cells.jsonl
    python benchmarks/serving_rates.py INDEX --queries queries.tsv --clients 1,8,32,100 --rates "" --dear 8 \\
        --beside ../before/src

At a fixed rate a request is sent when it is due, whether or not those before it are answered, and its time counts from
when it was due. ``--add``: the service takes these documents (10,000 at most) while it is asked at the rate ``--at``.
``--dear``: four clients at one address ask for what people ask for, alone and while so many connections from another
address send the dearest requests that are allowed. ``--beside``: a service of other code is measured in turns with
this one. A client that is refused waits about ``--pause`` seconds, 1 as Retry-After says; one that sends dear requests
does not wait. All of this takes the same cores as the service.
The queries are the first column of a file. Each measurement is printed and, with ``--cells``, kept as a JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from serving import Running, running_service
from serving_load import Load, ask_at_rate, ask_for, resident

TOKEN = "a-token-for-this-benchmark"
WARM_SECONDS = 3.0
SETTLING_SECONDS = 1.0
VICTIMS = 4
OTHER = "127.0.0.2"
UPDATE_SECONDS = 600.0


def main() -> None:
    options = _options()
    queries = [line.partition("\t")[0] for line in Path(options.queries).read_text(encoding="utf-8").splitlines()]
    os.environ["ISOGLOSS_TOKEN"] = TOKEN
    with ExitStack() as stack:
        services = {
            code: stack.enter_context(running_service(Path(options.index), queries, options.workers, source))
            for code, source in (("this", ""), ("beside", options.beside))
            if code == "this" or source
        }
        for service in services.values():
            ask_for(service.base, service.path, queries, 8, WARM_SECONDS, service.pid, Load())
        for clients in options.clients:
            for code, service in services.items():
                _measure(options, {"code": code, "clients": clients}, service, clients)
        for rate in options.rates:
            for code, service in services.items():
                load = Load()
                ask_at_rate(service.base, service.path, queries, rate, options.seconds, load)
                _keep(options, {"code": code, "rate": rate}, load, service.pid)
        if options.dear:
            for kind, dear in _dear_requests(queries).items():
                for code, service in services.items():
                    _attacked(options, {"code": code, "clients": VICTIMS}, service, kind, dear)
        if options.add:
            service, load = services["this"], Load()
            with _adding(service.base, Path(options.add)) as added:
                ask_at_rate(
                    service.base, service.path, queries, options.at, options.seconds, load,
                    until=lambda: "adding_s" in added,
                )  # fmt: skip
            _keep(options, {"rate": options.at, **added}, load, service.pid)


def _measure(options: argparse.Namespace, how: dict[str, Any], service: Running, clients: int) -> float:
    """Answers a second for so many clients, after a second that does not count."""
    for seconds in (SETTLING_SECONDS, options.seconds):
        load = Load()
        ask_for(service.base, service.path, service.queries, clients, seconds, service.pid, load, options.pause)
    _keep(options, how, load, service.pid)
    return load.rate


def _attacked(
    options: argparse.Namespace, how: dict[str, Any], service: Running, kind: str, dear: tuple[str, list[str | bytes]]
) -> None:
    """What a few clients get alone, and while another sends dear requests."""
    alone = _measure(options, how, service, VICTIMS)
    path, requests = dear
    attack = Load()
    seconds = SETTLING_SECONDS + options.seconds
    attacker = threading.Thread(
        target=ask_for, args=(service.base, path, requests, options.dear, seconds + 1, service.pid, attack, 0.0, OTHER)
    )
    attacker.start()
    beside = _measure(options, how | {"attacked_by": kind}, service, VICTIMS)
    attacker.join()
    told = f"{len(attack.latencies)} answered, {len(attack.refusals)} refused"
    print(
        f"{how['code']}: beside {kind} ({told}) the others get {beside / alone:.2f} of what they get alone", flush=True
    )


def _dear_requests(queries: list[str]) -> dict[str, tuple[str, list[str | bytes]]]:
    """The dearest requests that are allowed, of several kinds: the beginning of their address, and the rest."""
    text, words = " ".join(queries), [word for query in queries for word in query.split()]
    long = [text[begin : begin + 3990] for begin in range(0, min(len(text), 400_000), 3990)]
    batches = [
        json.dumps({"queries": queries[begin : begin + 200], "k": 10}).encode()
        for begin in range(0, len(queries) - 200, 200)
    ]
    return {
        "long queries": ("api/v1/search?k=100&q=", [*long]),
        "explained hits": ("api/v1/search?k=100&explain=1&q=", [*queries]),
        "many hits of a word": ("api/v1/search?k=1000&q=", [*dict.fromkeys(words)]),
        "batches": ("api/v1/search", [*batches]),
    }


def _options() -> argparse.Namespace:
    def numbers(text: str) -> list[float]:
        return [float(each) for each in text.split(",") if each]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--queries", required=True, metavar="FILE")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each measurement (default 10)")
    parser.add_argument("--clients", type=lambda text: list(map(int, numbers(text))), default=[1, 8, 32])
    parser.add_argument("--rates", type=numbers, default=[20.0, 40.0, 60.0, 80.0, 120.0, 200.0])
    parser.add_argument("--pause", type=float, default=1.0, help="seconds that a client waits when refused (default 1)")
    parser.add_argument("--dear", type=int, default=0, metavar="N", help="connections that send the dearest requests")
    parser.add_argument("--beside", default="", metavar="SRC", help="the folder src of other code to compare with")
    parser.add_argument("--add", metavar="FILE", help="documents, JSON lines")
    parser.add_argument("--at", type=float, default=20.0, help="the rate while documents are added (default 20)")
    parser.add_argument("--name", default="", help="what the index is of, for --cells")
    parser.add_argument("--cells", metavar="FILE")
    return parser.parse_args()


@contextmanager
def _adding(base: str, file: Path) -> Iterator[dict[str, float]]:
    """Send documents; when all are taken, ``adding_s`` says how long that took."""
    body = file.read_bytes()
    told: dict[str, float] = {"added": body.count(b"\n")}
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/x-ndjson"}
    request = Request(f"{base}api/v1/documents", body, headers, method="PUT")

    def send() -> None:
        started = time.perf_counter()
        try:
            with urlopen(request, timeout=UPDATE_SECONDS) as answer:
                answer.read()
        except HTTPError as error:
            print(f"adding: {error}: {error.read().decode()}", flush=True)
        finally:
            told["adding_s"] = time.perf_counter() - started

    thread = threading.Thread(target=send)
    thread.start()
    yield told
    thread.join()


def _keep(options: argparse.Namespace, how: dict[str, Any], load: Load, pid: int) -> None:
    cell: dict[str, Any] = {
        "what": "serving", "system": options.name, "index": Path(options.index).name, "workers": options.workers,
        "cores": len(os.sched_getaffinity(0)), "when": f"{datetime.now(UTC):%Y-%m-%d}", **how,
        "answered": load.rate, "refused": len(load.refusals) / load.seconds, "resident_bytes": resident(pid),
    }  # fmt: skip
    for name, times in (("answer", load.latencies), ("refusal", load.refusals)):
        if times:
            middle, late = (1e3 * np.quantile(times, [0.5, 0.99])).tolist()
            cell |= {f"{name}_p50_ms": middle, f"{name}_p99_ms": late}
    print({name: round(value, 1) if isinstance(value, float) else value for name, value in cell.items()}, flush=True)
    if options.cells:
        with Path(options.cells).open("a") as file:
            file.write(json.dumps(cell) + "\n")


if __name__ == "__main__":
    main()

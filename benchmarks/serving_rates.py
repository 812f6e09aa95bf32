"""A service under load on loopback: by clients that ask again when they are answered, then at fixed rates.

    taskset -c 0,1 python benchmarks/serving_rates.py INDEX --queries queries.tsv --rates 20,40,60,80
    python benchmarks/serving_rates.py INDEX --queries queries.tsv --add more.jsonl --at 40 --cells cells.jsonl

At a fixed rate a request is sent when it is due, whether or not those before it are answered, and its time counts from
when it was due. ``--add``: the service takes these documents (10,000 at most) while it is asked at the rate ``--at``.
The queries are the first column of a file. Each measurement is printed and, with ``--cells``, kept as a JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from serving import running_service
from serving_load import Load, ask_at_rate, ask_for, resident

TOKEN = "a-token-for-this-benchmark"
WARM_SECONDS = 3.0
UPDATE_SECONDS = 600.0


def main() -> None:
    options = _options()
    queries = [line.partition("\t")[0] for line in Path(options.queries).read_text(encoding="utf-8").splitlines()]
    os.environ["ISOGLOSS_TOKEN"] = TOKEN
    with running_service(Path(options.index), queries, options.workers) as service:
        to = service.base, service.path, queries
        ask_for(*to, 8, WARM_SECONDS, service.pid, Load())
        for clients in options.clients:
            load = Load()
            ask_for(*to, clients, options.seconds, service.pid, load)
            _keep(options, {"clients": clients}, load, service.pid)
        for rate in options.rates:
            load = Load()
            ask_at_rate(*to, rate, options.seconds, load)
            _keep(options, {"rate": rate}, load, service.pid)
        if options.add:
            load = Load()
            with _adding(service.base, Path(options.add)) as added:
                ask_at_rate(*to, options.at, options.seconds, load, until=lambda: "adding_s" in added)
            _keep(options, {"rate": options.at, **added}, load, service.pid)


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

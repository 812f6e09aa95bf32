"""How cost grows with the number of documents: building, memory, disk and searching, for every system that matters.

    python benchmarks/scale.py DIRECTORY                                      10^4, 10^5 and 10^6 documents
    python benchmarks/scale.py DIRECTORY --systems bridge --sizes 2500000 --cells build,search
    python benchmarks/scale.py DIRECTORY --before OLD/src                     an older bridge too, to compare with
    python benchmarks/scale.py DIRECTORY --page [docs/results/scale.md]       only the tables of what is there

Each cell is measured in a process of its own (``scale_cells.py``) and is one line of DIRECTORY/cells.jsonl: a run that
was stopped goes on where it was. The data are made up (``scale_documents.py``). ``scale_checks.py`` compares results,
``serving.py --cells DIRECTORY/cells.jsonl`` measures a service.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scale_page import page, put_into

SIZES = [10_000, 100_000, 1_000_000]
SYSTEMS = ["tantivy", "bridge", "psq", "bm25", "smooth"]
BEFORE = "bridge before"
CELLS = ["build", "search", "batch"]
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    options = _options()
    kept = options.directory / "cells.jsonl"
    if options.page is None:
        options.directory.mkdir(parents=True, exist_ok=True)
        for size in options.sizes:
            for system in [*options.systems, *([BEFORE] if options.before else [])]:
                for what in ["tantivy"] if system == "tantivy" else options.cells:
                    _complete(kept, what, system, size, options)
    tables = page([json.loads(line) for line in kept.read_text().splitlines()])
    if options.page:
        put_into(Path(options.page), tables)
    else:
        print(tables, end="")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="how cost grows with the number of documents")
    parser.add_argument("directory", type=Path, help="where cells, documents and indexes are kept")
    parser.add_argument("--sizes", type=lambda text: [int(each) for each in text.split(",")], default=SIZES)
    parser.add_argument("--systems", type=lambda text: [each for each in text.split(",") if each], default=SYSTEMS)
    parser.add_argument("--cells", type=lambda text: text.split(","), default=CELLS)
    parser.add_argument("--before", metavar="SRC", help="the sources of an older version: its bridge is measured too")
    parser.add_argument(
        "--page", nargs="?", const="", metavar="FILE",
        help="measure nothing: print the tables of what is there, or put them into a page",
    )  # fmt: skip
    return parser.parse_args()


def _complete(kept: Path, what: str, system: str, size: int, options: argparse.Namespace) -> None:
    """Measure a cell, unless it is there."""
    cell: dict[str, Any] = {"what": what, "system": system, "documents": size}
    lines = kept.read_text().splitlines() if kept.exists() else []
    if any(cell.items() <= json.loads(line).items() for line in lines):
        return
    if what == "build":  # compiled code is made, or loaded, before anything is measured
        _run(["warm", system, "1000"], system, options)
    load = os.getloadavg()[0]
    measured = _run([what, system, str(size)], system, options)
    if measured is None:
        print(f"{system}, {size:,}, {what}: failed", flush=True)
        return
    cell |= {"when": f"{datetime.now(UTC):%Y-%m-%d}", "machine": _machine(), "load": load, **measured}
    with kept.open("a") as file:
        file.write(json.dumps(cell) + "\n")
    print(f"{system}, {size:,}, {what}: {measured}", flush=True)


def _run(arguments: list[str], system: str, options: argparse.Namespace) -> dict[str, float] | None:
    environment = {**os.environ, **_ONE_THREAD}
    if system == BEFORE:
        environment["PYTHONPATH"] = f"{options.before}:{os.environ.get('PYTHONPATH', '')}"
    program = str(Path(__file__).with_name("scale_cells.py"))
    done = subprocess.run(
        [sys.executable, program, *arguments, str(options.directory)], env=environment, stdout=subprocess.PIPE,
        check=False,
    )  # fmt: skip
    found: dict[str, float] | None = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    return found


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{os.cpu_count()} cores of {model or platform.machine()}, Python {platform.python_version()}"


if __name__ == "__main__":
    main()

"""How cost grows with the number of documents: build, memory, disk, search, encoding and training, on every backend.

    python benchmarks/scale.py --directory DIR                             10^4 to 10^7, an hour a backend at most
    python benchmarks/scale.py --directory DIR --sizes 10000,100000 --backends embedded,pgvector --minutes 5
    python benchmarks/scale.py --directory DIR --page [docs/results/scale.md]  only the tables of what is there

Each cell of the table is measured in processes of its own, which use one thread each, and is kept in DIR: a run that
was stopped goes on where it was. A cell for which memory or time would not do is left out, and the table says why. The
checks of Ray (``scale_ray.py``) need two cores. Vectors are those of ``clustered_vectors``.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from scale_cells import Cell, Limits, complete, make_room
from scale_measure import ENGINES, PHASES
from scale_page import page, put_into

SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
BACKENDS = [*PHASES, *ENGINES]
USUAL = [name for name in BACKENDS if name != "qdrant"]  # whose local mode takes seconds a query
_STOPPED = 143
JOBS = ["encoding", "training", "checks"]


def main() -> None:
    options = _options()
    cells = list(_cells(options))
    if not options.page:
        options.directory.mkdir(parents=True, exist_ok=True)
        for cell in sorted(cells, key=lambda each: each.rows):
            smaller = [other for other in cells if other.what == cell.what and other.rows < cell.rows]
            _show(cell, _measure(cell, smaller, options))
    tables = page([kept for cell in cells if (kept := cell.kept(options.directory))])
    if options.page and options.page != "-":
        put_into(Path(options.page), tables)
    else:
        print(tables, end="")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="how cost grows with the number of documents")
    parser.add_argument("--directory", type=Path, required=True, help="where cells, vectors and indexes are kept")
    parser.add_argument("--sizes", type=_numbers, default=SIZES, help="10000,30000,… to 10000000 by default")
    parser.add_argument("--backends", type=_names, default=USUAL, help=f"of {','.join(BACKENDS)}")
    parser.add_argument("--jobs", type=_names, default=JOBS, help=f'of {",".join(JOBS)}; "" for none')
    parser.add_argument("--minutes", type=float, default=60, help="for all sizes of a backend (default 60)")
    parser.add_argument("--memory", type=float, default=20, help="GiB that a cell may take (default 20)")
    parser.add_argument("--dimension", type=int, default=64)
    parser.add_argument(
        "--page", nargs="?", const="-", metavar="FILE",
        help="measure nothing: print the tables of what is there, or put them into a page, docs/results/scale.md say",
    )  # fmt: skip
    return parser.parse_args()


def _cells(options: argparse.Namespace) -> list[Cell]:
    """All that is asked for, backend by backend."""
    found = []
    for what in (*options.backends, *options.jobs):
        sizes = [0] if what == "checks" else sorted(options.sizes)
        found += [Cell(what, rows, options.dimension) for rows in sizes]
    return found


def _measure(cell: Cell, smaller: list[Cell], options: argparse.Namespace) -> str:
    if cell.what in BACKENDS:
        make_room(cell, options.directory)
    return complete(cell, smaller, options.directory, Limits(60 * options.minutes, options.memory * 2**30))


def _show(cell: Cell, told: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {cell.what}, {cell.rows:,}: {told}", flush=True)


def _numbers(text: str) -> list[int]:
    return [int(float(number)) for number in text.split(",") if number]


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_STOPPED))  # what is being measured is stopped on the way out
    main()

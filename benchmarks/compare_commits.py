"""The CPU time of pieces of work (``workloads.py``) in a commit and in the working tree, alternating in one run.

    python benchmarks/compare_commits.py --against COMMIT                    all pieces of work, seven runs each
    python benchmarks/compare_commits.py --against COMMIT bm25 searching     some

Each run is a process of its own on one thread. The ratio is that of the median CPU times; above 1 the working tree is
faster. Machines are noisy: the range is that of the ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from commits import Checkout, checked_out, working_tree
from workloads import WORK

SCRIPT = "benchmarks/workloads.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT", required=True)
    parser.add_argument("--runs", type=int, default=7, help="of each piece of work (default 7)")
    parser.add_argument("work", nargs="*", metavar="WORK", help=f"{', '.join(WORK)} (default: all)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.work if name not in WORK]
    if unknown or arguments.runs < 1:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(WORK)}" if unknown else "--runs: must be 1 or more")
    with checked_out(arguments.against) as before, working_tree() as after:
        print(f"{'':<16} {before.name[:12]:>12} {'working tree':>13} {'ratio':>7}  range")
        for name in arguments.work or WORK:
            times = [(seconds(before, name), seconds(after, name)) for _ in range(arguments.runs)]
            earlier, later = (statistics.median(column) for column in zip(*times, strict=True))
            ratios = [one / other for one, other in times]
            shown = f"{earlier:>10.2f} s {later:>11.2f} s {earlier / later:>7.2f}"
            print(f"{name:<16} {shown}  {min(ratios):.2f} to {max(ratios):.2f}", flush=True)


def seconds(checkout: Checkout, name: str) -> float:
    """The CPU seconds of one piece of work."""
    return float(checkout.python(checkout.script(SCRIPT), name).stdout.splitlines()[-1])


if __name__ == "__main__":
    main()

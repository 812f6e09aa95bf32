"""Compare golden outputs of a commit with those of the working tree, or write those that are committed.

    python tools/make_golden.py --against COMMIT                           all sets, bit for bit
    python tools/make_golden.py --against COMMIT texts rankings            some sets
    python tools/make_golden.py --against COMMIT --shared ../shared/data   and MRR on the collections there
    python tools/make_golden.py --write                                    tests/golden/expected

Each commit makes its outputs by its own ``tests/golden/make.py``, so that names may differ; a commit that has none is
run by that of the working tree. Scores may differ by 1e-6 of them where torch trains the model or an engine adds them
up (Qdrant does so in an order that changes from run to run).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from commits import ROOT, Checkout, checked_out, working_tree

sys.path.insert(0, str(ROOT))

from tests.golden.comparing import differences, shorten
from tests.golden.make import COMMITTED

MAKE = "tests/golden/make.py"
EXPECTED = ROOT / "tests" / "golden" / "expected"
TOLERANCES = {"torch": 1e-6, "engines": 1e-6}


def main() -> int:
    """Run what the command line says; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT", help="compare this commit with the working tree")
    parser.add_argument("--write", action="store_true", help="write the outputs that are committed")
    parser.add_argument("--shared", type=Path, metavar="DIR", help="also measure bridge on the collections of DIR")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep the outputs of both in DIR/before and DIR/after, in place of those of an earlier run",
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help="sets of tests/golden/make.py (default: all)")
    arguments = parser.parse_args()
    if bool(arguments.against) == arguments.write:
        parser.error("give --against COMMIT or --write")
    if arguments.write and (arguments.sets or arguments.shared):
        parser.error("--write writes all sets that are committed; leave out the names of sets and --shared")
    with tempfile.TemporaryDirectory(prefix="golden") as scratch:
        out = arguments.keep or Path(scratch)
        for name in ("before", "after"):
            shutil.rmtree(out / name, ignore_errors=True)
        if arguments.write:
            _write(out / "after")
            return 0
        options = [*arguments.sets, *(["--shared", str(arguments.shared.absolute())] if arguments.shared else [])]
        return _compare(arguments.against, out, options)


def _compare(commit: str, out: Path, options: list[str]) -> int:
    """Make the sets of both and print what differs."""
    with checked_out(commit) as before, working_tree() as after:
        _make(before, out / "before", options)
        _make(after, out / "after", options)
    all_differences = []
    names = sorted(path.name for path in (out / "after").iterdir() if path.is_dir())
    for name in names:
        lines = list(differences(out / "before" / name, out / "after" / name, TOLERANCES.get(name, 0.0)))
        files = sum(1 for _ in (out / "after" / name).iterdir())
        print(f"{name}: {files} files, {len(lines) or 'none'} of them differ{'s' if len(lines) == 1 else ''}")
        all_differences += [f"  {name}/{line}" for line in lines]
    for line in all_differences:
        print(line)
    return 1 if all_differences else 0


def _make(checkout: Checkout, out: Path, options: list[str]) -> None:
    print(f"making the golden outputs of {checkout.name}", file=sys.stderr)
    checkout.python(checkout.script(MAKE), out, *options)


def _write(out: Path) -> None:
    """Replace the outputs that are committed."""
    with working_tree() as after:
        _make(after, out, list(COMMITTED))
    shutil.rmtree(EXPECTED, ignore_errors=True)
    for name in COMMITTED:
        for path in (out / name).iterdir():
            shorten(path, EXPECTED / name / path.name)


if __name__ == "__main__":
    sys.exit(main())

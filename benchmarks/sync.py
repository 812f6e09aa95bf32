"""CPU seconds of ``isogloss sync``: ten of 10,000 files have changed, or none, or all were touched.

python benchmarks/sync.py DIR [--files 10000] [--system bridge] [--rounds 12]

The files have texts of ``scale_documents.py``. Each command is a process of its own; its seconds are those that the
system counts, of all its threads. The seconds of ``isogloss sync --help``, which is the start, are shown beside them.
In each round seven files are changed, two are new and one is deleted. Rounds go on until segments have been merged too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import sys
import time
from pathlib import Path

from scale_documents import ScaleDocuments

from isogloss.index.commit import Commit

_FOLDERS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--system", default="bridge")
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    docs, index = options.directory / f"docs-{options.files}", options.directory / f"index-{options.system}"
    write_files(ScaleDocuments(options.directory), docs, options.files)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {options.files:,} files, {options.system}")
    language = ("--language", "fr", "--system", options.system)
    show("index", run("index", str(docs), "-o", str(index), "--overwrite", *language))
    start = run("sync", "--help")
    show("start (--help)", start)
    time.sleep(2)  # so that no file has just been written
    show("sync, times not yet recorded", run("sync", str(index)), start)
    show("sync, nothing has changed", run("sync", str(index)), start)
    draw, all_seconds = random.Random(0), []
    for number in range(options.rounds):
        change(docs, draw, number)
        seconds = run("sync", str(index))
        all_seconds.append(seconds)
        segments = len(Commit.load(index).segments)
        show(f"sync, ten files have changed ({segments} segments after it)", seconds, start)
    show("the median of these", sorted(all_seconds)[len(all_seconds) // 2], start)
    show("the longest of these", max(all_seconds), start)
    for path in docs.rglob("*.txt"):
        os.utime(path)
    show("sync, all were touched", run("sync", str(index)), start)
    show("add, all are there already", run("add", str(index), str(docs), "--language", "fr"), start)


def write_files(source: ScaleDocuments, docs: Path, count: int) -> None:
    """Write one file for each document, in a hundred folders."""
    shutil.rmtree(docs, ignore_errors=True)
    source.directory.mkdir(parents=True, exist_ok=True)
    with open(source.documents(count), encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            path = docs / f"{number % _FOLDERS:02}" / f"{number:06}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.loads(line)["text"] + "\n", encoding="utf-8")


def change(docs: Path, draw: random.Random, number: int) -> None:
    """Seven files are changed, two are new, one is deleted."""
    files = draw.sample(sorted(docs.rglob("*.txt")), 10)
    for path in files[:7]:
        path.write_text(files[7].read_text(encoding="utf-8") + f"{path.stem} {number}\n", encoding="utf-8")
    for path in files[7:9]:
        path.with_name(f"new{number}-{path.name}").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    files[9].unlink()


def run(*arguments: str) -> float:
    """The CPU seconds of a command."""
    command = [sys.executable, "-m", "isogloss", *arguments, "--quiet"]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=quiet)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime


def show(what: str, seconds: float, start: float | None = None) -> None:
    """A line: CPU seconds, and those after the start."""
    after = "" if start is None else f"{seconds - start:8.2f} after start"
    print(f"{what:50} {seconds:8.2f} s of CPU{after}", flush=True)


if __name__ == "__main__":
    main()

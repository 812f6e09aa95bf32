"""Reading a WikiCLIR pair with every check, beside reading the same lines without any: seconds, ratio and memory.

python benchmarks/reading.py [SOURCE PAIR]
"""

from __future__ import annotations

import resource
import sys
from functools import partial
from pathlib import Path

from side_by_side import best_times, show

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.data.source import parse_pair
from isogloss.storage.lines import find_file, open_bytes


def main(arguments: list[str]) -> None:
    source, pair = arguments or ["demo", "en-fr"]
    dataset = load_dataset(open_source(source), parse_pair(pair))
    records = len(dataset.documents) + len(dataset.queries) + len(dataset.judgments)
    print(f"{source} {pair}: {records:,} records, {_megabytes():.0f} MB at most")
    ways = {"isogloss load_dataset": partial(load_dataset, open_source(source), parse_pair(pair))}
    if source.startswith("wikiclir:"):
        ways["lines split at tabs, no checks"] = partial(_plain, Path(source.removeprefix("wikiclir:")), pair)
    show("reading", best_times(ways), records, "records", "isogloss load_dataset")


def _plain(directory: Path, pair: str) -> list[list[str]]:
    query, document = parse_pair(pair)
    names = (f"wiki_{document}.documents", f"wiki_{query}.queries", f"{query}2{document}.rel")
    rows = []
    for name in names:
        with open_bytes(find_file(directory / name)) as file:
            rows += [line.decode("utf-8").rstrip("\n").split("\t") for line in file]
    return rows


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1:])

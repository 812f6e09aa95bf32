"""``Index.search_many`` against a loop of ``Index.search`` over the same queries, for several systems.

    python benchmarks/search_many.py wikiclir:DIR en-fr [--systems bm25 bridge] [--queries 200] [-k 10] [--cpu]

Both return hits without explanations, and the hits are the same. Queries are of the train split. Times are wall time;
``--cpu`` counts the CPU time of this process instead, for a machine that does other work meanwhile.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from side_by_side import best_times

from isogloss import Hits, Index
from isogloss.data.dataset import load_dataset

SYSTEMS = ("bm25", "bridge", "pretrained")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source")
    parser.add_argument("pair")
    parser.add_argument("--systems", nargs="+", default=SYSTEMS)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--passages", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    data = load_dataset(options.source, options.pair)
    queries = [data.queries[id_].text for id_ in data.splits["train"][: options.queries]]
    print(f"{options.source} {options.pair}: {len(data.documents):,} documents, {len(queries)} queries")
    print("\n| system | loop, ms a query | search_many, ms a query | search_many / loop |\n|---|--:|--:|--:|")
    clock = time.process_time if options.cpu else time.perf_counter
    for system in options.systems:
        passages = {} if options.passages is None else {"passages": options.passages}
        documents, (query_language, language) = list(data.documents), data.pair
        with Index.make(documents, language, system=system, query_language=query_language, **passages) as index:
            _compare(system, index, queries, options.k, options.repeats, clock)


def _compare(system: str, index: Index, queries: list[str], k: int, repeats: int, clock: Callable[[], float]) -> None:
    for each in index.searcher.languages.values():
        each.system.warm()
    ways = {
        "loop": lambda: [index.search(query, k) for query in queries],
        "many": lambda: index.search_many(queries, k),
    }
    assert _ids(ways["loop"]()) == _ids(ways["many"]())
    times = best_times(ways, repeats, clock)
    loop, many = (1000 * times[name] / len(queries) for name in ("loop", "many"))
    print(f"| {system} | {loop:.2f} | {many:.2f} | {many / loop:.2f} |", flush=True)


def _ids(found: list[Hits]) -> list[list[str]]:
    return [[hit.id for hit in hits] for hits in found]


if __name__ == "__main__":
    main()

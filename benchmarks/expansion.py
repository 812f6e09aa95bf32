"""What the first stage of ``bridge`` may leave out: unlikely translations, and how many documents it has to fetch.

    python benchmarks/expansion.py wikiclir:DIR en-fr [--lexicon FILE] [--queries 300]

``bridge`` knows the starter table and the lexicon, no pages. Queries are of the train split, which nothing is trained
on here. "The same" compares with the run of the first line: of the first hundred documents, the share that both have;
of the first ten, the share of queries with the same ones in the same order. The last lines compare the pruned search
of the expanded lists with one that reads all of them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.retrieval.impacts import search_impacts
from isogloss.systems.bridge import expansion, retrieving
from isogloss.systems.bridge.system import Bridge
from isogloss.systems.registry import make_system

LEAST = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
FETCHED = ((100, 100), (3, 3), (5, 5), (7, 7), (10, 10), (5, 10))
Rankings = list[list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source")
    parser.add_argument("pair")
    parser.add_argument("--lexicon", default="")
    parser.add_argument("--queries", type=int, default=300)
    options = parser.parse_args()
    data = load_dataset(options.source, options.pair)
    system = make_system("bridge", data.pair, {"lexicon": options.lexicon} if options.lexicon else {}, data.source)
    assert isinstance(system, Bridge)
    system.fit(replace(data, splits={"train": []}))
    system.warm()
    queries = _queries(data, options.queries)
    print(f"{options.source} {options.pair}: {len(data.documents):,} documents, {len(queries)} train queries\n")
    print("| P(w given t) above | postings a document | MRR | same 100 | same 10 |\n|--:|--:|--:|--:|--:|")
    _compare("LEAST", LEAST, expansion, system, data, queries)
    print("\n| fetched, times the re-scored | postings a document | MRR | same 100 | same 10 |\n|--:|--:|--:|--:|--:|")
    _compare("FETCHED", FETCHED, retrieving, system, data, queries)
    print(f"\npruned and exhaustive differ in {_differences(system, data, queries)} of {len(queries)} queries")


def _queries(data: Dataset, count: int) -> list[str]:
    train = data.splits["train"]
    return [train[i] for i in np.sort(np.random.default_rng(1).permutation(len(train))[:count]).tolist()]


def _compare(
    name: str, values: tuple[object, ...], module: object, system: Bridge, data: Dataset, queries: list[str]
) -> None:
    before, first = getattr(module, name), None
    for value in values:
        setattr(module, name, value)
        system.index(data.documents, ("text",))
        found = [system.search(data.queries[query].text, 100).rows.tolist() for query in queries]
        first = first or found
        (part,) = system.documents.parts
        same = np.mean([len({*one} & {*other}) / max(1, len(one)) for one, other in zip(first, found, strict=True)])
        ordered = np.mean([one[:10] == other[:10] for one, other in zip(first, found, strict=True)])
        size = len(part.lists.levels) / len(data.documents)
        print(f"| {value} | {size:.0f} | {_mrr(data, queries, found):.4f} | {same:.3f} | {ordered:.3f} |", flush=True)
    setattr(module, name, before)


def _mrr(data: Dataset, queries: list[str], found: Rankings) -> float:
    total = 0.0
    for query, rows in zip(queries, found, strict=True):
        right = {
            data.documents.row_of[id_] for id_, g in data.judgments[query].items() if g >= data.judgments.top_grade
        }
        total += next((1 / rank for rank, row in enumerate(rows, start=1) if row in right), 0.0)
    return total / max(1, len(queries))


def _differences(system: Bridge, data: Dataset, queries: list[str]) -> int:
    """How many queries find other documents, or other scores, without compiled and pruned search."""
    system.index(data.documents, ("text",))
    lists, order, different = system.documents.lists, system.id_order, 0
    for query in queries:
        asked = system.documents.impact_query(system.retriever.query_features(data.queries[query].text).statistics)
        ways = [search_impacts(lists, asked, 500, order, None, compiled) for compiled in (True, False)]
        different += not all(np.array_equal(one, other) for one, other in zip(*ways, strict=True))
    return different


if __name__ == "__main__":
    main()

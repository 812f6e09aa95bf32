"""Whether results depend on how they are computed: ``python benchmarks/scale_checks.py DIRECTORY [DOCUMENTS]``.

1. The pruned search of bridge's first stage against one that scores all documents: rows and scores, 2,000 queries.
2. An index made at once against one of five additions, and five in another order: ids and scores of ten hits.

The documents are those of ``scale.py``; DOCUMENTS is a multiple of 50,000. What was counted is a line of
DIRECTORY/cells.jsonl.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scale_documents import ScaleDocuments

from isogloss import Index
from isogloss.retrieval.impacts import search_impacts
from isogloss.systems.bridge.system import Bridge

QUERIES, PARTS, K, FETCHED = 2_000, 5, 10, 300


def main(directory: Path, count: int) -> None:
    made = ScaleDocuments(directory)
    queries = [english for english, _ in made.queries()][:QUERIES]
    whole = _index(made, [(0, count)], directory / "check-whole")
    found = {"what": "check", "documents": count, "queries": len(queries), "pruned": _pruned(whole, queries)}
    size = count // PARTS
    firsts = [size * number for number in range(PARTS)]
    expected = [_hits(whole, query) for query in queries]
    for name, order in (("parts", firsts), ("another_order", firsts[::-1])):
        parted = _index(made, [(first, size) for first in order], directory / f"check-{name}")
        answers = [_hits(parted, query) for query in queries]
        pairs = list(zip(expected, answers, strict=True))
        found[name] = sum(_ids(one) != _ids(other) for one, other in pairs)
        found[f"{name}_scores"] = sum(one != other for one, other in pairs)
    with (directory / "cells.jsonl").open("a") as file:
        file.write(json.dumps(found) + "\n")
    print(found)


def _index(made: ScaleDocuments, parts: Sequence[tuple[int, int]], path: Path) -> Index:
    (first, size), *others = parts
    index = Index.make(f"jsonl:{made.documents(size, first)}", "fr", path=path, overwrite=True)
    for first, size in others:
        index.add(f"jsonl:{made.documents(size, first)}", "fr")
    for language_index in index.searcher.languages.values():
        language_index.system.warm()
    return index


def _hits(index: Index, query: str) -> list[tuple[str, float]]:
    return [(hit.document.id, hit.score) for hit in index.search(query, K, explain=False)]


def _ids(hits: list[tuple[str, float]]) -> list[str]:
    return [id_ for id_, _ in hits]


def _pruned(index: Index, queries: Sequence[str]) -> int:
    """How many queries the two searches answer differently."""
    (language_index,) = index.searcher.languages.values()
    system, different = language_index.system, 0
    assert isinstance(system, Bridge)
    for query in queries:
        asked = system.documents.impact_query(system.retriever.query_features(query).statistics)
        lists, order = system.documents.lists, system.id_order
        ways = [search_impacts(lists, asked, FETCHED, order, None, compiled) for compiled in (True, False)]
        different += not all(np.array_equal(a, b) for a, b in zip(*ways, strict=True))
    return different


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50_000)

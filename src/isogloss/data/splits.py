"""Splits of queries (train, dev, test), and random negatives.

Queries are split 3:1:1 by query or by group, the same for the same seed; or as the data list them.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.data.problems import Problems
from isogloss.storage.lines import Location

SPLITS = ("train", "dev", "test")
_SHARES = (3, 1, 1)


def split_queries(
    queries: Sequence[str], seed: int = 0, groups: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """Split query ids 3:1:1; queries of one group stay together. The order of the input does not matter.

    >>> {name: len(part) for name, part in split_queries([str(i) for i in range(10)]).items()}
    {'train': 6, 'dev': 2, 'test': 2}
    """
    group_of = {query: groups.get(query, query) if groups else query for query in queries}
    names = sorted(set(group_of.values()))
    shuffled = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
    bounds = np.rint(np.cumsum(_SHARES) / sum(_SHARES) * len(shuffled)).astype(int)
    split_of = {
        group: split
        for split, first, last in zip(SPLITS, (0, *bounds), bounds, strict=False)
        for group in shuffled[first:last]
    }
    parts: dict[str, list[str]] = {split: [] for split in SPLITS}
    for query in queries:
        parts[split_of[group_of[query]]].append(query)
    return parts


def draw_from_splits(splits: Mapping[str, Sequence[str]], count: int, seed: int = 0) -> dict[str, list[str]]:
    """``count`` random ids of all splits together, as many of each as its share; all where there are no more.

    >>> {name: len(ids) for name, ids in draw_from_splits({"train": list("abcdef"), "dev": list("xyz")}, 6).items()}
    {'train': 4, 'dev': 2}
    """
    sizes = np.asarray([len(ids) for ids in splits.values()])
    bounds = np.rint(np.cumsum(sizes) / max(1, sizes.sum()) * min(count, sizes.sum())).astype(int)
    drawn = {}
    for (name, ids), number in zip(splits.items(), np.diff(bounds, prepend=0).tolist(), strict=True):
        chosen = np.random.default_rng(seed).permutation(len(ids))[:number]
        drawn[name] = [ids[i] for i in np.sort(chosen).tolist()]
    return drawn


def check_splits(
    listed: Mapping[str, Iterable[tuple[Location, str]]], queries: Collection[str], problems: Problems
) -> dict[str, list[str]]:
    """The query ids of each split that the data list: each exists, and is in one split, once.

    A query in two splits would be both trained on and tested; one that occurs twice would count twice.
    """
    split_of: dict[str, str] = {}
    for split, lines in listed.items():
        for location, query in lines:
            if query not in queries:
                problems.error(location, "unknown query id", f"query id {query!r} does not exist")
            elif query not in split_of:
                split_of[query] = split
            elif split_of[query] == split:
                problems.error(location, "duplicate query id", f"query id {query!r} occurs a second time")
            else:
                what = f"query id {query!r} is in the split {split_of[query]!r} already"
                problems.error(location, "query in two splits", what)
    return {split: [query for query, found in split_of.items() if found == split] for split in listed}


def sample_negatives(
    query: str, judged_rows: Collection[int], documents: int, count: int, seed: int = 0
) -> NDArray[np.int64]:
    """Rows of ``count`` random documents that are not judged for the query (fewer if the collection has no more).

    The sample depends on the seed and the query's id only, not on the order or number of the queries.
    """
    rng = np.random.default_rng([seed, zlib.crc32(query.encode("utf-8"))])
    judged = set(judged_rows)
    available = documents - len(judged)
    if available <= 4 * count:
        pool = np.setdiff1d(np.arange(documents), np.fromiter(judged, dtype=np.int64, count=len(judged)))
        return rng.permutation(pool)[:count]
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        for row in rng.integers(documents, size=2 * count).tolist():
            if row not in judged and len(drawn) < count:
                drawn[row] = None
    return np.fromiter(drawn, dtype=np.int64, count=count)

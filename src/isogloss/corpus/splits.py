"""Train, dev and test: 3:1:1, by query or by group, the same for the same seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

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

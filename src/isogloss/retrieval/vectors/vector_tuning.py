"""How far an approximate index has to look, found when it is made, against an exact search.

For ten results and for a hundred, the cheapest of some settings (lists to look into, candidates to score again) that
finds what it should on a sample of queries. What is cheap is reckoned, not timed, so that it does not depend on what
else the machine does:

    cost = lists looked into * rows a list * codes a row * A  +  candidates * (dimension + B) * C
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from isogloss.retrieval.ranking import Ranking
from isogloss.retrieval.vectors.approximate import ApproximateIndex
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.recall import recall
from isogloss.retrieval.vectors.vector_rescoring import ranked, rescored
from isogloss.retrieval.vectors.vector_storage import Floats

DEPTHS = (10, 100)
"""Numbers of results that are tuned for. More than the last are searched exactly."""
TARGET = 0.984
"""The recall to reach on the sample: .98 for other queries, with a margin."""
_CANDIDATES = (2, 3, 4, 6, 8, 16)  # times the results
_MOST_LISTS = 1 / 3  # of all: beyond, an exact search is as fast
_SCAN_COST, _FETCH_COST, _SCORE_COST = 0.07, 400, 0.5  # A, B, C, in ns: measured with compiled code


class Level(NamedTuple):
    """Up to ``k`` results: the lists to look into, the candidates to score again, the recall that was measured."""

    k: int
    probes: int
    candidates: int
    recall: float


def tune(index: ApproximateIndex, kept: ExactIndex, queries: Floats, wanted: Sequence[Ranking]) -> list[Level]:
    """The settings for each depth that can be reached at a reasonable price.

    ``wanted`` is what an exact search in the vectors as given finds, ``kept`` the vectors as they are kept.
    """
    counts = [len(queries) * DEPTHS[0] // k for k in DEPTHS]  # as many results are looked at in each depth
    depths = zip(DEPTHS, counts, strict=True)
    levels = [_cheapest(index, kept, queries[:count], wanted[:count], k) for k, count in depths]
    return [level for level in levels if level]


def _cheapest(
    index: ApproximateIndex, kept: ExactIndex, queries: Floats, wanted: Sequence[Ranking], k: int
) -> Level | None:
    """The fewest lists that reach the target with the most candidates, then more lists while fewer candidates pay."""
    tried: dict[int, list[Level]] = {}

    def reaching(probes: int) -> list[Level]:
        if probes not in tried:
            levels = _levels(index, kept, queries, wanted, k, probes)
            tried[probes] = [level for level in levels if level.recall >= TARGET]
        return tried[probes]

    choices = _probes(index.count)
    best: tuple[float, Level] | None = None
    for probes in choices[bisect_left(choices, True, key=lambda probes: bool(reaching(probes))) :]:
        if best and _cost(index, kept, probes, _CANDIDATES[0] * k) >= best[0]:
            break
        costs = [(_cost(index, kept, probes, level.candidates), level) for level in reaching(probes)]
        best = min([*costs, *([best] if best else [])], default=None)
    return best[1] if best else None


def _levels(
    index: ApproximateIndex, kept: ExactIndex, queries: Floats, wanted: Sequence[Ranking], k: int, probes: int
) -> Iterator[Level]:
    """What so many lists give with few and many candidates: the few are the first of the many."""
    candidates = index.candidates(queries, max(_CANDIDATES) * k, probes)
    scores = rescored(kept.matrix, queries, candidates)
    for times in _CANDIDATES:
        found = ranked(scores[:, : times * k], candidates[:, : times * k], k, kept.id_order)
        yield Level(k, probes, times * k, recall(found, wanted, k))


def _probes(lists: int) -> list[int]:
    """Numbers of lists to try: each an eighth more than the last."""
    choices = [1]
    while choices[-1] < lists * _MOST_LISTS:
        choices.append(max(choices[-1] + 1, choices[-1] * 9 // 8))
    return choices


def _cost(index: ApproximateIndex, kept: ExactIndex, probes: int, candidates: int) -> float:
    scanned = probes * len(kept) / index.count * index.codes
    return scanned * _SCAN_COST + candidates * (kept.dimension + _FETCH_COST) * _SCORE_COST

"""Approximate search of dense vectors in an engine: where it pays, and how much of an exact search it finds.

    recall@k = |first k of HNSW  and  first k exactly| / k        over queries made of the vectors themselves

``ef``, the number of candidates that a search through an HNSW graph follows, is raised until the recall is the target.
A depth at which it is not reached is searched exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from isogloss.engines.base import EngineHit, Matrix
from isogloss.retrieval.vectors.approximate import DEPTHS
from isogloss.storage.errors import InputError

MANY = 50_000
"""Documents of a language from which on ``auto`` searches approximately: there an exact search is slow to people."""
CHOICES = ("auto", "yes", "no")
MAX_EF = 1_000
_EF = (40, 64, 100, 160, 250, 400, 640, MAX_EF)

Metadata = dict[str, Any]
Answers = list[list[EngineHit]]
Exact = Callable[[Matrix, int], Answers]
"""The best k for each query."""
Approximate = Callable[[Matrix, int, int], Answers]
"""The same by a graph, of which so many candidates are followed."""


def chosen_languages(counts: Mapping[str, int], how: str, can: bool = True) -> list[str]:
    """The languages that ``auto``, ``yes`` or ``no`` is an HNSW index for; ``can``: whether vectors fit one.

    >>> chosen_languages({"fr": 60_000, "sw": 104}, "auto")
    ['fr']
    """
    if how not in CHOICES:
        raise InputError(f"approximate: {how!r} is none of {', '.join(CHOICES)}")
    if how == "yes":
        return [language for language, count in counts.items() if count]
    return [language for language, count in counts.items() if count >= MANY] if can and how == "auto" else []


def measured_levels(queries: Matrix, exact: Exact, approximate: Approximate, target: float) -> list[Metadata]:
    """For each depth the least ``ef`` that reaches the target, and its recall."""
    return [_measured(queries[: len(queries) * DEPTHS[0] // k], k, exact, approximate, target) for k in DEPTHS]


def _measured(queries: Matrix, k: int, exact: Exact, approximate: Approximate, target: float) -> Metadata:
    wanted = exact(queries, k)
    for ef in _EF:
        if ef >= k:
            recall = _recall(approximate(queries, k, ef), wanted)
            if recall >= target:
                break
    return {"k": k, "ef_search": ef, "recall": round(recall, 4), "reached": recall >= target}


def _recall(found: Answers, exact: Answers) -> float:
    ids = ([{hit.id for hit in answer} for answer in answers] for answers in (found, exact))
    pairs = list(zip(*ids, strict=True))
    count = sum(len(wanted) for _, wanted in pairs)
    return sum(len(one & wanted) for one, wanted in pairs) / count if count else 1.0


def ef_search_for(metadata: Mapping[str, Any] | None, k: int) -> int | None:
    """How many candidates to follow for so many results; None if the language is to be searched exactly.

    >>> levels = [{"k": 10, "ef_search": 64, "recall": 0.99, "reached": True}]
    >>> ef_search_for({"levels": levels}, 5), ef_search_for({"levels": levels}, 11), ef_search_for(None, 5)
    (64, None, None)
    """
    levels = [level for level in (metadata or {}).get("levels", ()) if level["reached"] and level["k"] >= k]
    return int(min(levels, key=lambda level: level["k"])["ef_search"]) if levels else None


def reached_recalls(metadata: Mapping[str, Mapping[str, Any] | None]) -> dict[str, float]:
    """The recall@10 of each language that is searched approximately."""
    levels = {language: (each or {}).get("levels") for language, each in metadata.items()}
    return {language: found[0]["recall"] for language, found in levels.items() if found and found[0]["reached"]}

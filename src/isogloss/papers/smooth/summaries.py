"""The paper's measures over some seeds; differences between trials, tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from isogloss.evaluation.significance import Comparison, PerQuery, compare, holm
from isogloss.papers.smooth.published import MEASURES
from isogloss.papers.smooth.trial_store import Result
from isogloss.papers.summaries import Summary, summarise

ROUNDS = 10_000
_LEVEL = 0.05


def summarise_results(results: Sequence[Result], protocol: str = "sampled") -> dict[str, Summary]:
    """The paper's measures over some seeds."""
    return {name: summarise([result.mean(name, protocol) for result in results]) for name in MEASURES}


def seed_average(results: Sequence[Result], measure: str, protocol: str = "sampled") -> PerQuery:
    """A measure query by query, averaged over seeds."""
    return np.asarray(np.mean([result.values(measure, protocol) for result in results], axis=0))


def against_first(groups: Mapping[str, Sequence[Result]], protocol: str = "sampled") -> list[Comparison]:
    """The first group against each other one, paired over the queries; Holm's correction runs over all comparisons."""
    (first, mine), *others = [(name, results) for name, results in groups.items() if results] or [("", [])]
    found = [
        compare(
            first, other, measure, seed_average(mine, measure, protocol), seed_average(theirs, measure, protocol),
            ROUNDS, 0,
        )
        for other, theirs in others
        for measure in MEASURES
    ]  # fmt: skip
    corrected = zip(
        found, holm([each.t_test for each in found]), holm([each.randomisation for each in found]), strict=True
    )
    return [replace(each, t_test_holm=t, randomisation_holm=r) for each, t, r in corrected]


def is_significant(comparison: Comparison) -> bool:
    """By both tests, after the correction, at 5%."""
    return max(comparison.t_test_holm, comparison.randomisation_holm) < _LEVEL

"""One way of training against others, paired over the queries, under both protocols.

Where the values of single queries are not at hand (a published record has means only), it is paired over the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from isogloss.evaluation.significance import Comparison, PerQuery, compare, holm
from isogloss.papers.reproduction.pages import markdown_table
from isogloss.papers.smooth.experiments.plan import Result
from isogloss.papers.smooth.experiments.published import MEASURES

PROTOCOLS = {
    "sampled": "the judged documents and 40 random others (the paper's protocol)",
    "full": "the whole collection, to a depth of 1000",
}
ROUNDS = 10_000
_LEVEL = 0.05
_OVER_SEEDS = (
    "† significant at 5% by the paired t-test over the seeds alone, after Holm's correction for all comparisons of "
    "this kind: of these rows the values of single queries are not at hand."
)

Rows = Mapping[str, Sequence[Result]]
Comparisons = Mapping[str, Sequence[Comparison]]
"""By protocol."""


class OverSeeds(Comparison):
    """Paired over the seeds, by the t-test alone: there are too few of them to flip signs."""


def against_first(groups: Rows, protocol: str) -> list[Comparison]:
    """The first group against each other one; Holm's correction runs over all comparisons over the queries or seeds."""
    (first, ours), *others = [(name, results) for name, results in groups.items() if results] or [("", [])]
    by_query: list[Comparison] = []
    by_seed: list[Comparison] = []
    for other, theirs in others:
        if all(result.has_arrays for result in (*ours, *theirs)):
            for measure in MEASURES:
                left, right = (_seed_average(results, measure, protocol) for results in (ours, theirs))
                by_query.append(compare(first, other, measure, left, right, ROUNDS, 0))
        elif len(ours) == len(theirs) > 1:
            for measure in MEASURES:
                left, right = (_means(results, measure, protocol) for results in (ours, theirs))
                found = compare(first, other, measure, left, right, 0, 0)
                by_seed.append(OverSeeds(**{**asdict(found), "randomisation": found.t_test}))
    return _corrected(by_query) + _corrected(by_seed)


def _corrected(found: Sequence[Comparison]) -> list[Comparison]:
    corrected = zip(
        found, holm([each.t_test for each in found]), holm([each.randomisation for each in found]), strict=True
    )
    return [replace(each, t_test_holm=t, randomisation_holm=r) for each, t, r in corrected]


def compare_under_both(groups: Rows) -> Comparisons:
    """The first against the others on what each protocol ranks."""
    return {protocol: against_first(groups, protocol) for protocol in PROTOCOLS}


def is_significant(comparison: Comparison) -> bool:
    """By both tests, after the correction, at 5%."""
    return max(comparison.t_test_holm, comparison.randomisation_holm) < _LEVEL


def differences_tables(comparisons: Comparisons) -> list[str]:
    """A table a protocol: the first against each other one by measure; * where the tests find a difference."""
    parts = []
    for protocol, found in comparisons.items():
        parts += [f"Differences, {protocol}:", _differences(found)] if found else []
    if any(isinstance(each, OverSeeds) for found in comparisons.values() for each in found):
        parts.append(_OVER_SEEDS)
    return parts or ["There is nothing to compare."]


def comparisons_json(comparisons: Comparisons) -> dict[str, list[dict[str, Any]]]:
    """As plain values."""
    by_t_test = {"over": "seeds", "randomisation": None, "randomisation_holm": None}
    return {
        protocol: [{**asdict(each), **(by_t_test if isinstance(each, OverSeeds) else {})} for each in found]
        for protocol, found in comparisons.items()
    }


def _differences(found: Sequence[Comparison]) -> str:
    cells = {(each.right, each.measure): f"{each.difference:+.3f}{_mark(each)}" for each in found}
    rows = [
        (f"{found[0].left} − {other}", *(cells[other, measure] for measure in MEASURES))
        for other in dict.fromkeys(each.right for each in found)
    ]
    return markdown_table(("difference", *MEASURES), rows)


def _mark(comparison: Comparison) -> str:
    if not is_significant(comparison):
        return ""
    return "†" if isinstance(comparison, OverSeeds) else "*"


def _means(results: Sequence[Result], measure: str, protocol: str) -> PerQuery:
    """A measure seed by seed, averaged over queries."""
    return np.asarray([result.mean(measure, protocol) for result in results])


def _seed_average(results: Sequence[Result], measure: str, protocol: str) -> PerQuery:
    """A measure query by query, averaged over seeds."""
    return np.asarray(np.mean([result.values(measure, protocol) for result in results], axis=0))

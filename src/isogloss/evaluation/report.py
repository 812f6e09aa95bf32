"""Evaluating systems on a task, and the results as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from isogloss.evaluation.measures import PerQuery, gather_gains, measure
from isogloss.evaluation.protocols import Task
from isogloss.evaluation.run import Run
from isogloss.evaluation.significance import Comparison, compare_systems

COMPARED_MEASURES = ("MRR_mr", "NDCG@5", "MAP")


@dataclass(frozen=True)
class Result:
    """One system's values on a task, query by query in the task's order."""

    run: Run
    values: Mapping[str, PerQuery]
    seconds: float
    options: Mapping[str, Any] = field(default_factory=dict)

    def means(self) -> dict[str, float]:
        """Each measure averaged over the task's queries."""
        return {name: float(values.mean()) for name, values in self.values.items()}


def evaluate_run(run: Run, task: Task, seconds: float = 0.0, options: Mapping[str, Any] | None = None) -> Result:
    """Measure a run by the task's judgments; a judged query that is missing from it scores 0."""
    gains = gather_gains(run, task.judgments, [query.id for query in task.queries])
    return Result(run, measure(gains), seconds, options or {})


def compare_results(results: Mapping[str, Result], seed: int = 0) -> list[Comparison]:
    """Significance of the differences between all pairs of systems on the main measures."""
    return compare_systems({name: result.values for name, result in results.items()}, COMPARED_MEASURES, seed=seed)


def as_json(task: Task, split: str, results: Mapping[str, Result], comparisons: list[Comparison]) -> dict[str, Any]:
    """The evaluation as plain values, with what is needed to repeat it."""
    made: dict[str, Any] = {
        "data": task.dataset.source.name, "pair": "-".join(task.dataset.pair), "split": split,
        "protocol": task.protocol, "query_field": task.query_field,
        "depth": task.depth, "negatives": task.negatives, "seed": task.seed,
        "documents": len(task.dataset.documents), "unjudged_queries": task.unjudged,
        "systems": [
            {
                "name": name, "measures": result.means(), "queries": len(task.queries), "seconds": result.seconds,
                "options": dict(result.options),
            }
            for name, result in results.items()
        ],
    }  # fmt: skip
    if comparisons:
        made["comparisons"] = [asdict(comparison) for comparison in comparisons]
    return made

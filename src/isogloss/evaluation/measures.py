"""The measures of the papers, each a function over the gains of all queries at once.

``gains[q, i]`` is the grade of the document ranked i-th (from 0) for query q, 0 past the end of its list. ``judged``
are the grades of all judged documents of each query, descending. A *relevant* (MR) document has the top grade
(2 in WikiCLIR), a *partially relevant* one (SR) any grade from 1; ``_mr`` measures see the first kind, ``_r`` both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isogloss.data.judgments import Judgments
from isogloss.evaluation.run import Run

PerQuery = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gains:
    """Ranked and ideal gains of some queries; ``top`` is the grade of a relevant (MR) document."""

    gains: NDArray[np.int32]
    judged: NDArray[np.int32]
    top: int

    def relevant(self, grade: int, depth: int | None = None) -> NDArray[np.bool_]:
        """Which of the first documents have at least the grade."""
        found: NDArray[np.bool_] = self.gains[:, :depth] >= grade
        return found

    def number(self, grade: int) -> NDArray[np.int64]:
        """The number of judged documents of each query with at least the grade."""
        number: NDArray[np.int64] = (self.judged >= grade).sum(axis=1, dtype=np.int64)
        return number


def success(gains: Gains, depth: int) -> PerQuery:
    r"""P_mr@k: 1 if a relevant document is among the first k, else 0 (the paper's "precision for MR")."""
    return np.asarray(gains.relevant(gains.top, depth).any(axis=1), dtype=np.float64)


def precision(gains: Gains, depth: int) -> PerQuery:
    r"""P_r@k = (relevant or partially relevant among the first k) / k."""
    return _ratio(gains.relevant(1, depth).sum(axis=1), np.full(len(gains.gains), depth))


def recall(gains: Gains, depth: int, grade: int | None = 1) -> PerQuery:
    r"""R@k = (relevant among the first k) / (relevant at all); 0 where there is none. ``grade`` None: MR only."""
    grade = gains.top if grade is None else grade
    return _ratio(gains.relevant(grade, depth).sum(axis=1), gains.number(grade))


def r_precision(gains: Gains) -> PerQuery:
    r"""Rprec = (relevant among the first R) / R, with R the number of relevant documents of the query."""
    number = gains.number(1)
    before_r = np.arange(gains.gains.shape[1])[None, :] < number[:, None]
    return _ratio((gains.relevant(1) & before_r).sum(axis=1), number)


def average_precision(gains: Gains) -> PerQuery:
    r"""AP = (1/R) sum over relevant documents found at rank i of (relevant among the first i) / i."""
    relevant = gains.relevant(1)
    precisions = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    return _ratio(_added(precisions * relevant), gains.number(1))


def reciprocal_rank(gains: Gains, grade: int | None = 1) -> PerQuery:
    r"""RR = 1 / (rank of the first document of at least the grade), 0 if none is found. ``grade`` None: MR only."""
    relevant = gains.relevant(gains.top if grade is None else grade)
    return np.where(relevant.any(axis=1), 1.0 / (relevant.argmax(axis=1) + 1.0), 0.0)


def ndcg(gains: Gains, depth: int) -> PerQuery:
    r"""nDCG@k = DCG@k / ideal DCG@k, DCG@k = sum_{i=1..k} gain_i / log2(i + 1), linear gains 2/1/0."""
    return _ratio(_dcg(gains.gains[:, :depth]), _dcg(gains.judged[:, :depth]))


MEASURES: dict[str, Callable[[Gains], PerQuery]] = {
    "P_mr@1": partial(success, depth=1),
    "P_mr@5": partial(success, depth=5),
    "P_r@5": partial(precision, depth=5),
    "NDCG@5": partial(ndcg, depth=5),
    "MAP": average_precision,
    "MRR_mr": partial(reciprocal_rank, grade=None),
    "MRR_r": partial(reciprocal_rank, grade=1),
    "R_mr@10": partial(recall, depth=10, grade=None),
    "P@10": partial(precision, depth=10),
    "Rprec": r_precision,
    "nDCG@10": partial(ndcg, depth=10),
    "R@100": partial(recall, depth=100),
    "R@1000": partial(recall, depth=1000),
}


def gather_gains(run: Run, judgments: Judgments, queries: Sequence[str]) -> Gains:
    """The grades of a run's documents for some queries; a query missing from the run has none."""
    ranked = [_grades(judgments, query, run.documents(query)) for query in queries]
    judged = [np.sort(np.fromiter(judgments[query].values(), np.int32))[::-1] for query in queries]
    return Gains(_padded(ranked), _padded(judged), judgments.top_grade)


def measure(gains: Gains, names: Sequence[str] | None = None) -> dict[str, PerQuery]:
    """Every measure (or the named ones), query by query."""
    return {name: MEASURES[name](gains) for name in names or MEASURES}


def _grades(judgments: Judgments, query: str, documents: list[str]) -> NDArray[np.int32]:
    grades = judgments[query]
    return np.fromiter((grades.get(document, 0) for document in documents), np.int32, count=len(documents))


def _padded(rows: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    matrix = np.zeros((len(rows), max((len(row) for row in rows), default=0) or 1), dtype=np.int32)
    for number, row in enumerate(rows):
        matrix[number, : len(row)] = row
    return matrix


def _dcg(gains: NDArray[np.int32]) -> PerQuery:
    return _added(gains / np.log2(np.arange(2, gains.shape[1] + 2)))


def _added(parts: PerQuery) -> PerQuery:
    """Row sums in the order of the ranks: equal rankings have equal values, whatever the padding."""
    return np.asarray(np.cumsum(parts, axis=1)[:, -1])


def _ratio(part: NDArray[np.number], whole: NDArray[np.number]) -> PerQuery:
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0))

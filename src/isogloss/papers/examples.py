"""What is trained on and measured on, as arrays: graded pairs of a split, and ranked lists with their measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Query
from isogloss.data.splits import sample_negatives
from isogloss.evaluation.measures import Gains, PerQuery, measure
from isogloss.text.ids import Ids, TextIds


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pair ``i`` is the query ``query_of[i]``, the document ``document_of[i]`` and its grade 0 .. K - 1."""

    queries: TextIds
    documents: TextIds
    query_of: Ids
    document_of: Ids
    grades: Ids

    def __len__(self) -> int:
        return len(self.grades)


@dataclass(frozen=True)
class Examples:
    """Pair ``i`` is ``queries[query_of[i]]``, the document in row ``document_of[i]`` and its grade; query by query."""

    queries: list[Query]
    query_of: Ids
    document_of: Ids
    grades: Ids
    negative: NDArray[np.bool_]
    """Which pairs were drawn at random."""


def graded_examples(dataset: Dataset, split: str, negatives: int, seed: int, most_queries: int = 0) -> Examples:
    """The judged documents of each query and ``negatives`` others: what the ``sampled`` protocol ranks with this seed.

    Queries without a judgment are left out. ``most_queries``: only so many, spread over the split (0: all).
    """
    queries = [query for query in dataset.split(split) if query.id in dataset.judgments]
    if most_queries and len(queries) > most_queries:
        queries = [queries[i] for i in np.linspace(0, len(queries) - 1, most_queries).astype(int)]
    row_of, documents = dataset.documents.row_of, len(dataset.documents)
    rows, grades, counts, drawn = [], [], [], []
    for query in queries:
        judged = {row_of[document]: grade for document, grade in dataset.judgments[query.id].items()}
        others = sample_negatives(query.id, judged, documents, negatives, seed).tolist()
        rows += [*judged, *others]
        grades += [*judged.values(), *([0] * len(others))]
        drawn += [False] * len(judged) + [True] * len(others)
        counts.append(len(judged) + len(others))
    query_of = np.repeat(np.arange(len(queries), dtype=np.int32), counts)
    return Examples(
        queries, query_of, np.asarray(rows, np.int32), np.asarray(grades, np.int32), np.asarray(drawn, bool)
    )


def redraw(examples: Examples, documents: int, seed: int, epoch: int) -> Ids:
    """Other random documents in place of the negatives, none of them judged for its query: the new ``document_of``."""
    judged = ~examples.negative
    taken = np.unique(examples.query_of[judged].astype(np.int64) * documents + examples.document_of[judged])
    rng = np.random.default_rng([seed, epoch, 1])  # other numbers than those that order the epoch
    drawn = examples.document_of.copy()
    missing = np.flatnonzero(examples.negative)
    while len(missing):
        drawn[missing] = rng.integers(documents, size=len(missing), dtype=np.int32)
        keys = examples.query_of[missing].astype(np.int64) * documents + drawn[missing]
        missing = missing[np.isin(keys, taken)]
    return drawn


def ranked_gains(query_of: Ids, grades: Ids, scores: NDArray[np.floating], ties: Ids, top: int) -> Gains:
    """The gains of each query's documents by falling score; pairs stand query by query, equal scores go by ``ties``."""
    order = np.lexsort((ties, -scores, query_of))
    starts = np.flatnonzero(np.diff(query_of, prepend=-1))
    counts = np.diff(np.append(starts, len(query_of)))
    rows = np.repeat(np.arange(len(starts)), counts)
    columns = np.arange(len(query_of)) - np.repeat(starts, counts)
    gains = np.zeros((len(starts), int(counts.max(initial=1))), dtype=np.int32)
    gains[rows, columns] = grades[order]
    return Gains(gains, -np.sort(-gains, axis=1), top)


def measure_scores(
    query_of: Ids, grades: Ids, scores: NDArray[np.floating], ties: Ids, top: int, names: tuple[str, ...] = ()
) -> dict[str, PerQuery]:
    """Every measure (or the named ones), query by query."""
    return measure(ranked_gains(query_of, grades, scores, ties, top), names)


@dataclass(frozen=True, slots=True)
class RankedLists:
    """Lists of documents to rank, where there are no texts, as on a GPU machine.

    Entry ``i``: the query ``query_of[i]``, the document ``document_of[i]`` and its grade; query by query.

    Equal scores are ordered by ``ties``; ``top`` is the grade of a relevant (MR) document.
    """

    queries: TextIds
    query_of: Ids
    document_of: Ids
    grades: Ids
    ties: Ids
    top: int

    def __len__(self) -> int:
        return len(self.grades)

    def measure(self, scores: NDArray[np.floating], names: tuple[str, ...] = ()) -> dict[str, PerQuery]:
        """Every measure (or the named ones), query by query, of a score an entry."""
        return measure_scores(self.query_of, self.grades, scores, self.ties, self.top, names)

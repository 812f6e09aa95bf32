"""The graded pairs of a split: its judged documents, and random others as irrelevant ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isogloss.corpus.dataset import Dataset
from isogloss.corpus.negatives import sample_negatives
from isogloss.corpus.records import Query
from isogloss.training.pairs import Ids


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
    places = np.flatnonzero(examples.negative)
    while len(places):
        drawn[places] = rng.integers(documents, size=len(places), dtype=np.int32)
        keys = examples.query_of[places].astype(np.int64) * documents + drawn[places]
        places = places[np.isin(keys, taken)]
    return drawn

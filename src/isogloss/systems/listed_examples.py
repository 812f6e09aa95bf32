"""Which documents are ranked for a split's queries while something is learned, as ``evaluate`` would rank them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isogloss.corpus.dataset import Dataset
from isogloss.corpus.judgments import Judgments
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import Query
from isogloss.training.examples import Examples, graded_examples

_NEGATIVES = 40


def listed_examples(dataset: Dataset, split: str, most_queries: int = 0) -> tuple[Examples, int]:
    """The candidate lists of a split where the data have them, else its judged documents with 40 random others.

    With the grade of a relevant (MR) document. ``most_queries``: only so many, spread over the split (0: all).
    """
    if dataset.source.candidates(dataset.pair, split, Problems(stop_at_errors=False)) is None:
        return graded_examples(dataset, split, _NEGATIVES, 0, most_queries), dataset.judgments.top_grade
    lists = dataset.candidates(split)
    queries = [query for query in dataset.split(split) if query.id in lists]
    if most_queries and len(queries) > most_queries:
        queries = [queries[i] for i in np.linspace(0, len(queries) - 1, most_queries).astype(int)]
    return examples_of(dataset, queries, lists), lists.top_grade


def examples_of(dataset: Dataset, queries: Sequence[Query], lists: Judgments) -> Examples:
    """The lists of some queries: document and label, query by query."""
    row_of = dataset.documents.row_of
    counts = [len(lists[query.id]) for query in queries]
    listed = [(row_of[document], label) for query in queries for document, label in lists[query.id].items()]
    rows, labels = np.asarray(listed, np.int32).reshape(-1, 2).T
    query_of = np.repeat(np.arange(len(queries), dtype=np.int32), counts)
    return Examples(list(queries), query_of, rows.copy(), labels.copy(), np.zeros(len(rows), bool))

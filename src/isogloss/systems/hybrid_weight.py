"""How much the dense part of ``hybrid`` is to say: what suits train queries best that it has not learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isogloss.corpus.dataset import Dataset
from isogloss.search.fusion import Shared, best_weight
from isogloss.systems.hybrid_lists import Lists

_FEWEST_QUERIES = 20
_MOST_QUERIES = 500


def hold_out(training: Dataset) -> tuple[Dataset, list[str]]:
    """A dataset without a fifth of its train queries, and those of the fifth that are judged; none if they are few."""
    queries = training.splits.get("train", [])
    order = np.random.default_rng(0).permutation(len(queries)).tolist()
    fifth = len(queries) // 5
    held = [queries[i] for i in order[:fifth] if queries[i] in training.judgments]
    if len(held) < _FEWEST_QUERIES:
        return training, []
    kept = [queries[i] for i in sorted(order[fifth:])]
    return replace(training, splits={"train": kept}), held[:_MOST_QUERIES]


def tuned_weight(training: Dataset, queries: list[str], lists: Lists) -> float:
    """The weight that finds the relevant documents of some queries best; the parts have not learned from these."""
    documents, judgments = training.documents, training.judgments
    for part in lists.parts.values():
        part.index(documents, ("text",))
    seen = []
    for query in queries:
        rows = lists.candidates(training.queries[query].text)
        shares = lists.shares(training.queries[query].text, rows)
        meant = [documents.row_of[id_] for id_, grade in judgments[query].items() if grade == judgments.top_grade]
        seen.append(Shared(*shares, documents.id_order[rows], np.isin(rows, meant)))
    return best_weight(seen)

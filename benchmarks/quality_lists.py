"""What a matcher is measured on, and what its epochs are chosen by: lists as the protocol ``sampled`` draws them.

Measured are the dev queries, with the very lists that all systems rank under that protocol. Epochs are chosen on train
queries, which are then not learned from: a tenth of them, at most 200.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Judgment
from isogloss.data.judgments import Judgments
from isogloss.data.source import Pair
from isogloss.evaluation.protocols import judged_queries, make_task
from isogloss.papers.examples import graded_examples
from isogloss.papers.layerwise.experiments.data import MEASURED, VALIDATION, Drawing, TrialData, source_with_lists

MOST_HELD = 200
"""Train queries that epochs are chosen by."""
_SHARE_HELD = 10
_SPLIT, _PROTOCOL = "dev", "sampled"


class SampledData(TrialData):
    """A pair with these lists, as trials of the layer-wise paper's machinery see it."""

    def __init__(self, source: str, pair: Pair) -> None:
        super().__init__(source, pair, Drawing())

    def with_lists(self, dataset: Dataset) -> Dataset:
        return with_sampled_lists(dataset)


def with_sampled_lists(dataset: Dataset) -> Dataset:
    """The dataset with the splits ``train``, ``measured`` (dev) and ``dev`` (held out of train), and lists of both."""
    task = make_task(dataset, _SPLIT, _PROTOCOL)
    learned = sorted(query.id for query in judged_queries(dataset, "train", dataset.judgments))
    order = np.random.default_rng(task.seed).permutation(len(learned))
    held = {learned[i] for i in order[: max(1, min(MOST_HELD, len(learned) // _SHARE_HELD))].tolist()}
    splits = {
        "train": [query for query in dataset.splits["train"] if query not in held],
        MEASURED: [query.id for query in task.queries],
        VALIDATION: [query for query in dataset.splits["train"] if query in held],
    }
    parted = replace(dataset, splits=splits)
    lists = {split: _sampled(parted, split, task.negatives, task.seed) for split in (MEASURED, VALIDATION)}
    return replace(parted, source=source_with_lists(dataset.source, lists))


def _sampled(dataset: Dataset, split: str, negatives: int, seed: int) -> Judgments:
    examples, ids = graded_examples(dataset, split, negatives, seed), dataset.documents.ids
    entries = zip(examples.query_of.tolist(), examples.document_of.tolist(), examples.grades.tolist(), strict=True)
    lines = (Judgment(examples.queries[query].id, ids[row], grade) for query, row, grade in entries)
    return Judgments(lines, dataset.judgments.top_grade)

"""Candidate lists for the ``candidates`` protocol: the best of a system, labelled by the judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from isogloss.base.files import atomic_file
from isogloss.corpus.dataset import Dataset
from isogloss.corpus.judgments import Judgments
from isogloss.corpus.records import Judgment
from isogloss.evaluation.system import System


def draw_candidates(system: System[Any], dataset: Dataset, split: str, count: int, k: int, seed: int = 0) -> Judgments:
    """Lists of ``k`` documents for ``count`` random judged queries, in random order; label 1 is judged relevant."""
    judged = [query for query in dataset.split(split) if query.id in dataset.judgments]
    rng = np.random.default_rng(seed)
    drawn = [judged[i] for i in np.sort(rng.permutation(len(judged))[:count])]
    lines = []
    for query, ranking in zip(drawn, system.search_all(drawn, k), strict=True):
        grades = dataset.judgments[query.id]
        for row in rng.permutation(ranking.rows).tolist():
            document = dataset.documents.ids[row]
            lines.append(Judgment(query.id, document, int(grades.get(document, 0) > 0)))
    return Judgments(lines, top_grade=1)


def write_candidates(path: Path, lists: Judgments, overwrite: bool = False) -> None:
    """Write ``query id, document id, label`` lines."""
    with atomic_file(path, overwrite) as file:
        file.writelines(f"{query}\t{document}\t{label}\n" for query, document, label in lists)

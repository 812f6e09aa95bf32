"""Candidate lists for the ``candidates`` protocol: the best of a system, labelled by the judgments."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isogloss.base.files import atomic_file
from isogloss.corpus.dataset import Dataset
from isogloss.corpus.judgments import Judgments
from isogloss.corpus.records import Judgment
from isogloss.evaluation.protocols import judged_queries
from isogloss.evaluation.system import System


def draw_candidates(system: System, dataset: Dataset, split: str, count: int, k: int, seed: int = 0) -> Judgments:
    """Lists of the system's best ``k`` for ``count`` random judged queries, shuffled; label 1 is judged relevant.

    Where the system finds fewer the list is shorter; where it finds nothing the query has no list.
    """
    judged = judged_queries(dataset, split, dataset.judgments)
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

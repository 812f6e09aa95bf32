"""Which documents are ranked for each query.

``full``: the whole collection. ``sampled``: the judged documents and N random others, fixed by the seed (smooth paper).
``candidates``: a list of documents whose labels are the judgments (layer-wise paper); ``draw_candidates`` makes such
lists from the best documents of a system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import FIELDS, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.splits import sample_negatives
from isogloss.evaluation.run import Run
from isogloss.retrieval.ranking import Ranking, Scores, top_k
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.progress import track
from isogloss.storage.wording import way


class Ranker(Protocol):
    """What ranks documents: every :class:`isogloss.systems.base.System` is one."""

    name: ClassVar[str]

    def search_all(self, queries: Sequence[Query], k: int, label: str = ...) -> Iterator[Ranking]:
        """The best ``k`` of all documents for each query."""

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        """The scores of some documents."""


PROTOCOLS = ("full", "sampled", "candidates")


@dataclass(frozen=True)
class Task:
    """The judged queries, their judgments, and the documents that are ranked for each.

    The text of each query is what is asked: the query's own text, or its title (``query_field``).
    """

    dataset: Dataset
    protocol: str
    queries: list[Query]
    judgments: Judgments
    unjudged: int
    depth: int
    negatives: int
    seed: int
    query_field: str = "text"

    def run(self, system: Ranker) -> Run:
        """The run of a system."""
        return Run(system.name, self.dataset.documents.ids, self._rankings(system))

    def _rankings(self, system: Ranker) -> Iterator[tuple[str, Ranking]]:
        label = f"searching with {system.name}"
        if self.protocol == "full":
            rankings = system.search_all(self.queries, self.depth, label)
            yield from zip((query.id for query in self.queries), rankings, strict=True)
            return
        id_order = self.dataset.documents.id_order
        for query in track(self.queries, label):
            rows = self._rows(query)
            yield query.id, top_k(system.score(query.text, rows), len(rows), id_order, rows)

    def _rows(self, query: Query) -> NDArray[np.int64]:
        row_of = self.dataset.documents.row_of
        listed = [row_of[document] for document in self.judgments[query.id]]
        if self.protocol == "candidates":
            return np.asarray(listed, dtype=np.int64)
        others = sample_negatives(query.id, listed, len(row_of), self.negatives, self.seed)
        return np.concatenate([np.asarray(listed, dtype=np.int64), others])


def make_task(
    dataset: Dataset, split: str, protocol: str, negatives: int = 40, seed: int = 0, depth: int = 1000,
    query_field: str = "text",
) -> Task:  # fmt: skip
    """The task of a protocol on a split. Queries without a judgment (or a list) are counted and left out."""
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol: {protocol!r} is not one of {', '.join(PROTOCOLS)}")
    if query_field not in FIELDS:
        raise InputError(f"query field: {query_field!r} is not one of {', '.join(FIELDS)}")
    judgments = dataset.candidates(split) if protocol == "candidates" else dataset.judgments
    queries = judged_queries(dataset, split, judgments)
    unjudged = len(dataset.split(split)) - len(queries)
    if query_field == "title":
        queries = _asked_by_title(queries, dataset, split)
    return Task(dataset, protocol, queries, judgments, unjudged, depth, negatives, seed, query_field)


def _asked_by_title(queries: Sequence[Query], dataset: Dataset, split: str) -> list[Query]:
    """The queries with their titles as texts; that one has no title is an error."""
    without = sum(not query.title.strip() for query in queries)
    if without:
        what = f"{without:,} of {len(queries):,} queries of the split {split!r} have no title"
        asked = way("--query-field text", "query_field='text'")
        raise InputError(f"{dataset.source.name}: {what}; ask with their texts ({asked})")
    return [replace(query, text=query.title) for query in queries]


def judged_queries(dataset: Dataset, split: str, judgments: Judgments) -> list[Query]:
    """The queries of a split that have a judgment (or a list); that there is none is an error."""
    judged = [query for query in dataset.split(split) if query.id in judgments]
    if not judged:
        pair = "-".join(dataset.pair)
        raise InputError(f"{dataset.source.name}: no query of the split {split!r} is judged for {pair}")
    return judged


def draw_candidates(system: Ranker, dataset: Dataset, split: str, count: int, k: int, seed: int = 0) -> Judgments:
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

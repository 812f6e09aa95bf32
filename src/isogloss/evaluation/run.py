"""A run: the ranking of each query; TREC run files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from isogloss.data.documents import id_order
from isogloss.retrieval.ranking import Ranking, top_k
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import Location, read_lines


class Run:
    """Rankings by query id. Rows refer to ``ids``, the document ids."""

    def __init__(self, name: str, ids: Sequence[str], rankings: Iterable[tuple[str, Ranking]] = ()) -> None:
        self.name = name
        self.ids = ids
        self.rankings: dict[str, Ranking] = dict(rankings)

    def documents(self, query: str) -> list[str]:
        """The ranked document ids of a query, best first; none for a query that is not in the run."""
        ranking = self.rankings.get(query)
        return [self.ids[row] for row in ranking.rows.tolist()] if ranking else []

    def write(self, path: Path, overwrite: bool = False) -> None:
        """Write ``query Q0 document rank score name`` lines.

        Ties are in our order; trec_eval, which ignores the ranks, orders them its own way.
        """
        _refuse_spaces(path, "query", self.rankings)
        _refuse_spaces(path, "document", self.ids)
        with atomic_file(path, overwrite) as file:
            for query in self.rankings:
                file.writelines(self._lines(query))

    def _lines(self, query: str) -> Iterator[str]:
        scores = self.rankings[query].scores
        exact = "{:.9g}".format if scores.dtype == np.float32 else repr  # as many digits as the ranking needs
        for rank, (document, score) in enumerate(zip(self.documents(query), scores.tolist(), strict=True), start=1):
            yield f"{query} Q0 {document} {rank} {exact(score)} {self.name}\n"

    @classmethod
    def read(cls, path: Path) -> Run:
        """Read a TREC run file. The order is that of the scores, ties by document id; ranks are ignored."""
        name, row_of = path.stem, dict[str, int]()
        found: dict[str, dict[int, float]] = {}
        for location, line in read_lines(path):
            if not line.strip():
                continue
            query, document, score, name = _parse(location, line)
            scores, row = found.setdefault(query, {}), row_of.setdefault(document, len(row_of))
            if row in scores:
                raise InputError(f"{location}: document {document!r} is ranked a second time for query {query!r}")
            scores[row] = score
        order = id_order(list(row_of))
        rankings = (
            (query, top_k(np.fromiter(scores.values(), float), len(scores), order, np.fromiter(scores, np.int64)))
            for query, scores in found.items()
        )
        return cls(name, list(row_of), rankings)


def _parse(location: Location, line: str) -> tuple[str, str, float, str]:
    try:
        query, _, document, _, score, name = line.split()
        number = float(score)
    except ValueError:
        raise InputError(f"{location}: expected query, Q0, document, rank, score and name, got {line[:60]!r}") from None
    if not math.isfinite(number):
        raise InputError(f"{location}: the score {score!r} is not a finite number")
    return query, document, number, name


def _refuse_spaces(path: Path, what: str, ids: Iterable[str]) -> None:
    for id_ in ids:
        if len(id_.split()) != 1:
            raise InputError(f"{path}: the {what} id {id_!r} has white space, which a TREC run file cannot have")

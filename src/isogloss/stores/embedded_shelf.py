"""The documents of one language in the house's own files, at one commit: segments that are each searched on their own.

What the segments have found is put together by score, and by id where scores are equal. Only then are ids of different
segments compared: nobody has to keep the order of all of them, which every commit would have to work out anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.corpus.collection import id_order
from isogloss.evaluation.ranking import Ranking, Rows, Scores, top_k
from isogloss.evaluation.system import Allowed
from isogloss.index.field_lists import matching_rows
from isogloss.index.segment_reader import OpenRows
from isogloss.index.segments import Segment
from isogloss.index.store import JoinedStore
from isogloss.index.vectors import VectorIndex, about_parts
from isogloss.stores.store import Answer, Filters, Found, Matrix

VECTORS = "index"
"""Where the vectors of a segment are in its part."""


class EmbeddedShelf:
    """Segments and the vectors of each; ``known`` are vectors that are open already, by the names of their segments."""

    def __init__(self, rows: OpenRows, known: Mapping[str, VectorIndex]) -> None:
        self.live, self.store = rows.live, JoinedStore(rows.stores)
        self.vectors = {each.name: known.get(each.name) or _opened(each) for each in rows.segments}
        self._fields = rows.fields
        if len({vectors.dimension for vectors in self.vectors.values()}) > 1:
            raise ValueError("the segments have vectors of different dimensions")

    @property
    def count(self) -> int:
        """How many documents are not deleted."""
        return len(self.store) if self.live is None else int(np.count_nonzero(self.live))

    @property
    def dimension(self) -> int:
        """The number of components of the vectors."""
        return next(iter(self.vectors.values())).dimension

    def find(self, id_: str) -> int | None:
        """The row of a document that is not deleted."""
        row = self.store.find(id_)
        return row if row is not None and (self.live is None or self.live[row]) else None

    def search(self, queries: Matrix, k: int, filters: Filters | None) -> list[Answer]:
        """The best ``k`` for each query."""
        allowed, spans = self._allowed(filters), [slice(*ends) for ends in pairwise(self.store.starts)]
        found = [
            vectors.search_batch(queries, k, None if allowed is None else allowed[span])
            for vectors, span in zip(self.vectors.values(), spans, strict=True)
        ]
        return [Answer(self._best(rankings, k)) for rankings in zip(*found, strict=True)]

    def about(self) -> dict[str, Any]:
        """How the vectors are kept."""
        return about_parts([part for vectors in self.vectors.values() for part in vectors.parts])

    def _allowed(self, filters: Filters | None) -> Allowed | None:
        if not filters:
            return self.live
        matching = matching_rows(self._fields, filters)
        return matching if self.live is None else matching & self.live

    def _best(self, rankings: Sequence[Ranking], k: int) -> tuple[Found, ...]:
        """Of what the segments have found the best."""
        starts = self.store.starts
        rows = np.concatenate([ranking.rows + start for ranking, start in zip(rankings, starts, strict=False)])
        scores = np.concatenate([ranking.scores for ranking in rankings])
        best = top_k(scores, k, self._places(rows, scores))
        return tuple(map(Found, map(self.store.id_of, rows[best.rows].tolist()), best.scores.tolist()))

    def _places(self, rows: Rows, scores: Scores) -> Rows:
        """The places of the ids of rows with equal scores among each other."""
        places, ascending = np.zeros(len(rows), dtype=np.int64), np.sort(scores)
        twice = ascending[1:][ascending[1:] == ascending[:-1]]
        if len(twice):
            tied = np.flatnonzero(np.isin(scores, twice))
            places[tied] = id_order([self.store.id_of(row) for row in rows[tied].tolist()])
        return places


def save_merged(folder: Path, segments: list[Segment], keep: Allowed, order: Rows) -> None:
    """Write the vectors to keep of several segments into the part of one."""
    VectorIndex.load([segment.part / VECTORS for segment in segments], order).save(folder / VECTORS, keep)


def _opened(segment: Segment) -> VectorIndex:
    return VectorIndex.load([segment.part / VECTORS], segment.store.id_order)

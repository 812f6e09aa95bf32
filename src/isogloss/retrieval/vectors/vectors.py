"""The vectors of an index: kept small, searched exactly or nearly so, in one part or several.

    score(q, d) = q . d        of the vectors as they are kept, summed in float64, rounded once to float32

A part is a directory of vectors that were indexed together and never change. Rows are those of the parts, one part
after the other. However a part finds its best, they are scored as above, so that the scores of parts can be compared,
and equal scores are ordered by id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from isogloss.retrieval.ranking import Allowed, Ranking, Rows, top_k
from isogloss.retrieval.vectors.exact import Vector
from isogloss.retrieval.vectors.vector_part import Settings, VectorPart
from isogloss.retrieval.vectors.vector_storage import Floats, Matrix, float32_rows
from isogloss.storage.errors import InputError

Result = TypeVar("Result")


class VectorIndex:
    """Vectors ranked by inner product; ties by ``id_order``, the place of each row's id among all ids.

    Nothing is kept between calls, so that threads may share an index.

    >>> index = VectorIndex.build(np.eye(3, dtype=np.float32), np.arange(3))
    >>> index.search(np.asarray([0.0, 2.0, 1.0]), k=2)
    Ranking(rows=array([1, 2]), scores=array([2., 1.], dtype=float32))
    >>> index.search(np.asarray([0.0, 2.0, 1.0]), k=2, allowed=np.asarray([True, False, True])).rows
    array([2, 0])
    """

    def __init__(self, parts: Sequence[VectorPart], id_order: Rows) -> None:
        """``build`` and ``load`` make parts. Without any, nothing is ever found."""
        self.parts = list(parts)
        self.id_order = id_order
        self._starts = np.cumsum([0, *map(len, self.parts)])
        self._spans = [slice(*ends) for ends in pairwise(self._starts.tolist())]
        if len(self) != len(id_order):
            raise ValueError(f"parts of {len(self)} rows do not fit an order of {len(id_order)} ids")
        if len({part.exact.dimension for part in self.parts}) > 1:
            raise ValueError("the parts have vectors of different dimensions")

    @classmethod
    def build(cls, matrix: Matrix, id_order: Rows, storage: str = "auto", approximate: str = "auto") -> VectorIndex:
        """Index the rows of a matrix.

        ``storage`` is ``float32``, ``float16``, ``int8`` or ``auto``: the smallest that loses next to nothing.
        ``approximate`` is ``yes``, ``no`` or ``auto``: where an exact search would take long.
        """
        return cls([VectorPart.build(matrix, id_order, Settings(storage, approximate).checked())], id_order)

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def dimension(self) -> int:
        """The number of components of a vector; 0 without parts."""
        return self.parts[0].exact.dimension if self.parts else 0

    def about(self) -> dict[str, Any]:
        """What it is, and what was measured when it was made."""
        return about_parts(self.parts)

    def search(self, query: Vector, k: int, allowed: Allowed | None = None) -> Ranking:
        """The ``k`` best rows for a query, of those that are allowed."""
        return self.search_batch(np.asarray(query)[np.newaxis], k, allowed)[0]

    def search_batch(self, queries: Matrix, k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """The ``k`` best rows for each query (a row each), on all cores."""
        if allowed is not None and allowed.shape != (len(self),):
            raise ValueError(f"a mask of shape {allowed.shape} does not fit {len(self)} rows")
        if len(self.parts) == 1:
            return self.parts[0].search_batch(queries, k, allowed)
        found = self._each(lambda part, rows: part.search_batch(queries, k, None if allowed is None else allowed[rows]))
        return [self._merged(rankings, k) for rankings in zip(*found, strict=True)] if found else _nothing(len(queries))

    def scores(self, query: Vector) -> Floats:
        """The score of every row."""
        return np.concatenate([_NO_SCORES, *self._each(lambda part, _: part.exact.scores(query))])

    def score(self, query: Vector, rows: Rows) -> Floats:
        """The scores of some rows, the same as in ``scores`` to the last bit."""
        found = np.empty(len(rows), dtype=np.float32)
        for part, places, inside in self._places(np.asarray(rows, dtype=np.int64)):
            found[places] = part.exact.score(query, inside)
        return found

    def rows(self, numbers: Rows) -> Floats:
        """Some vectors as they are kept."""
        found = np.empty((len(numbers), self.dimension), dtype=np.float32)
        for part, places, inside in self._places(np.asarray(numbers, dtype=np.int64)):
            found[places] = float32_rows(part.exact.matrix[inside])
        return found

    def joined(self, keep: Allowed | None = None) -> VectorIndex:
        """All rows, or those to keep, in one part made anew; the ids of what is kept stay in their order."""
        if len(self.parts) == 1 and (keep is None or keep.all()):
            return self
        kept = np.arange(len(self)) if keep is None else np.flatnonzero(keep)
        order = np.argsort(np.argsort(self.id_order[kept]))
        largest = max(self.parts, key=len, default=None)
        settings = largest.settings if largest else Settings()
        given_recall = min((part.given_recall * part.storage_recall for part in self.parts), default=1.0)
        return VectorIndex([VectorPart.build(self.rows(kept), order, settings, given_recall)], order)

    def save(self, directory: Path | str, keep: Allowed | None = None) -> None:
        """Write the rows, or those to keep, into a directory as one part; it is made where there is none."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        self.joined(keep).parts[0].save(directory)

    @classmethod
    def load(cls, directories: Sequence[Path], id_order: Rows) -> VectorIndex:
        """Map parts that ``save`` wrote, in an order that ``id_order`` is the order of the ids of."""
        parts: list[VectorPart] = []
        for directory in directories:
            try:
                parts.append(VectorPart.load(Path(directory), id_order[sum(map(len, parts)) :]))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(f"{directory}: not a whole vector index ({error}); make it again") from error
        return cls(parts, id_order)

    def _each(self, what: Callable[[VectorPart, slice], Result]) -> list[Result]:
        return [what(part, span) for part, span in zip(self.parts, self._spans, strict=True)]

    def _merged(self, rankings: Sequence[Ranking], k: int) -> Ranking:
        rows = [ranking.rows + start for ranking, start in zip(rankings, self._starts, strict=False)]
        return top_k(np.concatenate([each.scores for each in rankings]), k, self.id_order, np.concatenate(rows))

    def _places(self, rows: Rows) -> list[tuple[VectorPart, Rows, Rows]]:
        """For each part that holds some of the rows: where they are among the rows, and in the part."""
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(f"rows from {rows.min()} to {rows.max()} of {len(self)}")
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        found = ((number, np.flatnonzero(numbers == number)) for number in np.unique(numbers).tolist())
        return [(self.parts[number], places, rows[places] - self._starts[number]) for number, places in found]


def about_parts(parts: Sequence[VectorPart]) -> dict[str, Any]:
    """What parts are, and what was measured when they were made.

    ``recall`` is what share of the exact first ten of the vectors as they were given is found: the mean of the parts,
    by their rows.
    """
    about, rows = [part.about() for part in parts], sum(map(len, parts))
    return {
        "kind": _listed(part["kind"] for part in about),
        "storage": _listed(part["storage"] for part in about),
        "rows": rows,
        "dimension": parts[0].exact.dimension if parts else 0,
        "recall": sum(part["recall"] * part["rows"] for part in about) / rows if rows else 1.0,
        "bytes": sum(part["bytes"] for part in about),
        "parts": about,
    }


_NO_SCORES: Floats = np.zeros(0, dtype=np.float32)


def _nothing(count: int) -> list[Ranking]:
    return [Ranking(np.zeros(0, dtype=np.int64), _NO_SCORES)] * count


def _listed(names: Any) -> str:
    return " and ".join(sorted(set(names))) or "exact"

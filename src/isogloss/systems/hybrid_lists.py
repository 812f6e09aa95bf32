"""What the two parts of ``hybrid`` say of a query's documents, made comparable."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.evaluation.ranking import Ranking, Scores
from isogloss.evaluation.system import Allowed, System
from isogloss.search.fusion import FUSIONS, Doubles

_KEPT = 128  # lists of the last queries: the hits of each are explained one by one


class BothShares(NamedTuple):
    """The shares of some documents, in the order of their rows."""

    dense: Doubles
    lexical: Doubles


class Lists:
    """The lists of both parts, each as long as ``depth`` allows.

    They are those of the whole collection, whatever a search is restricted to: so a document has one score for a query.
    """

    def __init__(self, parts: Mapping[str, System], fusion: str, depth: int) -> None:
        self.parts, self._depth = dict(parts), depth
        self._shares, self._bound = FUSIONS[fusion]
        self._found = lru_cache(_KEPT)(self._find)
        self._known: dict[tuple[str, str], Ranking] = {}

    def shares(self, query: str, rows: NDArray[np.int64]) -> BothShares:
        """What each part gives some documents."""
        return BothShares(
            *(self._shares(self._found(side, query), rows, self.scores(side, query, rows)) for side in self.parts)
        )

    def scores(self, side: str, query: str, rows: NDArray[np.int64]) -> Scores:
        """The scores that a part gives some documents, remembered where they are a query's candidates."""
        known = self._known.get((side, query))
        if known is not None and len(rows) and np.isin(rows, known.rows).all():
            return known.scores[np.searchsorted(known.rows, rows)]
        found = self.parts[side].score(query, rows)
        if len(rows) > 1 and (np.diff(rows) > 0).all():
            self._known = {} if len(self._known) > _KEPT else self._known
            self._known[side, query] = Ranking(rows, found)
        return found

    def all_shares(self, query: str) -> BothShares:
        """What each part gives every document."""
        scores = [part.scores(query) for part in self.parts.values()]
        found = zip(self.parts, scores, strict=True)
        return BothShares(*(self._shares(self._found(side, query), np.arange(len(each)), each) for side, each in found))

    def bounds(self, query: str) -> BothShares:
        """The most that each part can give."""
        bounds = [self._bound(self._found(side, query), part.best_possible(query)) for side, part in self.parts.items()]
        return BothShares(*(np.asarray([bound]) for bound in bounds))

    def candidates(self, query: str, k: int = 0, allowed: Allowed | None = None) -> NDArray[np.int64]:
        """The rows that either part finds, at least ``k`` each if there are as many, in ascending order."""
        if allowed is None and k <= self._depth:
            found = [self._found(side, query) for side in self.parts]
        else:
            found = [part.search(query, max(k, self._depth), allowed) for part in self.parts.values()]
        return np.unique(np.concatenate([ranking.rows for ranking in found])).astype(np.int64)

    def _find(self, side: str, query: str) -> Ranking:
        return self.parts[side].search(query, self._depth)

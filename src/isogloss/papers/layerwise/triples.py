"""Examples of pairwise losses: (query, positive) pairs, and a negative document for each, drawn epoch by epoch.

Everything depends on the seed, the epoch and the batch alone, so that a training can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError
from isogloss.text.ids import Ids, TextIds

_STREAM = 1  # other numbers than those that order the epoch


@dataclass(frozen=True, slots=True)
class Triples:
    """Pair ``i`` is the query ``query_of[i]`` and the document ``positive_of[i]``, which is relevant to it."""

    queries: TextIds
    documents: TextIds
    query_of: Ids
    positive_of: Ids

    def __len__(self) -> int:
        return len(self.query_of)


class Positives:
    """Tells whether a document is one of the positives of a query, or has the very words of one."""

    def __init__(self, triples: Triples) -> None:
        self._text_of = _distinct_texts(triples.documents)
        self._keys = np.unique(self._key(triples.query_of, triples.positive_of))

    def has(self, queries: Ids, documents: Ids) -> NDArray[np.bool_]:
        """Row by row."""
        return np.isin(self._key(queries, documents), self._keys)

    def fewest_others(self) -> int:
        """How many documents are left for the query that has the most positives."""
        queries, texts = np.divmod(self._keys, len(self._text_of))
        documents = np.bincount(self._text_of, minlength=len(self._text_of))
        return len(self._text_of) - int(np.bincount(queries, weights=documents[texts]).max(initial=0))

    def _key(self, queries: Ids, documents: Ids) -> NDArray[np.int64]:
        return queries.astype(np.int64) * len(self._text_of) + self._text_of[documents]


def _distinct_texts(texts: TextIds) -> NDArray[np.int64]:
    """A number for each text, the same for those of the same words."""
    numbers: dict[bytes, int] = {}
    bounds = zip(texts.offsets[:-1].tolist(), texts.offsets[1:].tolist(), strict=True)
    found = (numbers.setdefault(texts.ids[start:end].tobytes(), len(numbers)) for start, end in bounds)
    return np.fromiter(found, dtype=np.int64, count=len(texts))


class Negatives:
    """Gives negatives for each pair: never a positive of its query, nor a document of the same words as one.

    ``draws`` of them, a column each; the same document may be drawn twice.
    """

    def __init__(self, triples: Triples, seed: int, draws: int = 1) -> None:
        self.triples, self.seed, self.draws = triples, seed, draws
        self.positives = Positives(triples)
        if len(triples) and self.positives.fewest_others() < 1:
            raise InputError("negatives: a query has all documents as positives, so there is no negative for it")
        self._epoch, self._drawn = -1, np.zeros((0, draws), np.int32)

    def begin_epoch(self, epoch: int) -> None:
        """Draw for an epoch (from 0), unless that was done."""
        if epoch != self._epoch:
            rng = np.random.default_rng([self.seed, epoch, _STREAM])
            self._epoch, self._drawn = epoch, np.stack([self._draw(rng) for _ in range(self.draws)], axis=1)

    def of(self, pairs: NDArray[np.int64]) -> Ids:
        """The negatives of the pairs that are one batch: a row a pair."""
        return self._drawn[pairs]

    def state(self) -> dict[str, NDArray[Any]]:
        """What was drawn, and for which epoch."""
        return {"negatives": self._drawn, "negatives_epoch": np.asarray(self._epoch)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a state."""
        self._epoch, self._drawn = int(state["negatives_epoch"]), np.asarray(state["negatives"], np.int32)

    def _draw(self, rng: np.random.Generator) -> Ids:
        """One document a pair: any but the query's positives, each as likely as the others."""
        drawn, missing = np.empty(len(self.triples), np.int32), np.arange(len(self.triples))
        while len(missing):
            drawn[missing] = rng.integers(len(self.triples.documents), size=len(missing), dtype=np.int32)
            missing = missing[self.positives.has(self.triples.query_of[missing], drawn[missing])]
        return drawn


class RandomNegatives(Negatives):
    """Any document of the collection that is no positive of the query."""


class InBatchNegatives(Negatives):
    """The positives of the next pairs of the batch that are none of the query's own; random documents for lack of them.

    The batches are new in every epoch, and so are the negatives. Documents are drawn as often as they are positives.
    """

    def of(self, pairs: NDArray[np.int64]) -> Ids:
        found, queries = self._drawn[pairs], self.triples.query_of[pairs]
        missing, number = np.arange(len(pairs)), np.zeros(len(pairs), np.int64)  # of those found for each
        for shift in range(1, len(pairs)):
            others = self.triples.positive_of[pairs[(missing + shift) % len(pairs)]]
            usable = ~self.positives.has(queries[missing], others)
            rows = missing[usable]
            found[rows, number[rows]] = others[usable]
            number[rows] += 1
            missing = missing[number[missing] < self.draws]
            if not len(missing):
                break
        return found


class HardNegatives(Negatives):
    """One of the query's candidates (the best of some system, for example), less its positives.

    ``candidates`` has a row a query, filled up with -1; ``share`` of the negatives are hard, the rest random, and so
    are those of queries without a candidate that is no positive. With ``mine`` the candidates are found anew before
    each epoch: by the model that is being trained.
    """

    def __init__(
        self, triples: Triples, seed: int, candidates: Ids, share: float = 1.0, mine: Callable[[], Ids] | None = None,
        draws: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(triples, seed, draws)
        if candidates.shape[0] != len(triples.queries):
            what = f"{candidates.shape[0]} rows of candidates for {len(triples.queries)} queries"
            raise InputError(f"negatives: there are {what}; give a row for each query")
        self.candidates, self.share, self.mine = candidates, share, mine

    def begin_epoch(self, epoch: int) -> None:
        if self.mine and 0 < epoch != self._epoch:
            self.candidates = self.mine()
        super().begin_epoch(epoch)

    def _draw(self, rng: np.random.Generator) -> Ids:
        drawn = super()._draw(rng)
        hard = np.flatnonzero(rng.random(len(drawn)) < self.share)
        queries = self.triples.query_of[hard]
        rows = self.candidates[queries]
        usable = (rows >= 0) & ~self.positives.has(np.broadcast_to(queries[:, None], rows.shape), rows)
        keys = np.where(usable, rng.random(rows.shape), -1.0)  # the largest of some random numbers: any of the usable
        chosen = keys.argmax(axis=1) if rows.shape[1] else np.zeros(len(rows), np.int64)
        found = usable.any(axis=1)
        drawn[hard[found]] = rows[found, chosen[found]]
        return drawn

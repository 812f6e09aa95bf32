"""The segments of a language while a commit is being made, each with its share of the order of all ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from isogloss.index.commit import LanguageEntry, SegmentEntry
from isogloss.index.id_orders import extended_order
from isogloss.index.segments import Segment
from isogloss.index.store import Rows

Mask = NDArray[np.bool_]


@dataclass
class Piece:
    """A segment as it will be: which of its documents are not deleted, and how its ids compare with all others."""

    segment: Segment
    entry: SegmentEntry
    live: Mask
    order: Rows

    def lose(self, rows: Rows) -> int:
        """Delete some documents, each named once; how many had not been before."""
        lost = int(np.count_nonzero(self.live[rows]))
        if lost:
            self.live = self.live.copy()
            self.live[rows] = False
        return lost


@dataclass
class Draft:
    """The segments of a language, in the order of their rows."""

    entry: LanguageEntry = field(default_factory=LanguageEntry)
    pieces: list[Piece] = field(default_factory=list)
    has_gaps: bool = False
    """Whether the places of some ids among all are taken by none, or by several."""

    @classmethod
    def of(cls, entry: LanguageEntry, segments: Mapping[str, Segment], live: Mask | None, order: Rows) -> Draft:
        """What a commit says of a language; ``live`` and ``order`` speak of all its rows."""
        ends = np.cumsum([part.documents for part in entry.segments])
        pieces = []
        for part, end in zip(entry.segments, ends.tolist(), strict=True):
            rows = slice(end - part.documents, end)
            alive = np.ones(part.documents, dtype=bool) if live is None else live[rows]
            pieces.append(Piece(segments[part.name], part, alive, order[rows]))
        return cls(entry, pieces)

    def named(self, names: Iterable[str]) -> list[Piece]:
        """The segments with these names, in the order of their rows."""
        wanted = set(names)
        return [piece for piece in self.pieces if piece.entry.name in wanted]

    def append(self, segment: Segment) -> None:
        """Put a new segment behind the others."""
        added = Piece(segment, SegmentEntry(segment.name, len(segment.store)), *_whole(segment))
        if self.pieces:
            order = extended_order(self.order, [piece.segment.store for piece in self.pieces], segment.store)
            for piece, share in zip([*self.pieces, added], self._shares(order, segment), strict=True):
                piece.order = share
        self.pieces.append(added)

    def put_in_place_of(self, old: Sequence[str], kept: Mapping[str, Mask], segment: Segment) -> None:
        """A segment made of the kept documents of others replaces them; what they have lost since is lost in it."""
        there = {piece.entry.name: piece for piece in self.pieces}
        live, order = [], []
        for name, mask in kept.items():  # a part that is no longer there has lost all its documents
            piece = there.get(name)
            live.append(np.zeros(np.count_nonzero(mask), bool) if piece is None else piece.live[mask])
            order.append(np.zeros(np.count_nonzero(mask), np.int64) if piece is None else piece.order[mask])
        entry = SegmentEntry(segment.name, len(segment.store))
        merged = Piece(segment, entry, np.concatenate(live), np.concatenate(order))
        place = min((i for i, piece in enumerate(self.pieces) if piece.entry.name in old), default=0)
        rest = [piece for piece in self.pieces if piece.entry.name not in old]
        self.pieces = [*rest[:place], merged, *rest[place:]]
        self.has_gaps = True

    @property
    def order(self) -> Rows:
        """The place of each row's id among all ids."""
        values = np.concatenate([np.zeros(0, np.int64), *(piece.order for piece in self.pieces)])
        if not self.has_gaps:
            return values
        order = np.empty(len(values), dtype=np.int64)
        order[np.argsort(values, kind="stable")] = np.arange(len(values))
        return order

    def without_empty(self) -> None:
        """Let go of segments that have lost all their documents."""
        kept = [piece for piece in self.pieces if piece.live.any()]
        self.has_gaps |= len(kept) < len(self.pieces)
        self.pieces = kept

    @property
    def is_rearranged(self) -> bool:
        """Whether the rows are others than they were, and so is their order."""
        return [piece.entry.name for piece in self.pieces] != [segment.name for segment in self.entry.segments]

    def _shares(self, order: Rows, added: Segment) -> list[Rows]:
        counts = [*(piece.entry.documents for piece in self.pieces), len(added.store)]
        return np.split(order, np.cumsum(counts)[:-1])


def with_deleted(entry: SegmentEntry, live: Mask, file: str) -> SegmentEntry:
    """The entry of a segment that has lost documents."""
    return replace(entry, deleted=int(np.count_nonzero(~live)), deleted_file=file)


def _whole(segment: Segment) -> tuple[Mask, Rows]:
    return np.ones(len(segment.store), dtype=bool), segment.store.id_order

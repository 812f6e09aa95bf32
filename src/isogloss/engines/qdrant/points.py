"""PointStore: what isogloss needs of Qdrant, whether it runs in this process or as a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.engines.qdrant.turns import Turns
from isogloss.systems.sparse import SparseVector

DENSE, SPARSE = "dense", "sparse"
"""The names of the vectors of a point."""
KEYWORDS, INTEGERS = ("language", "document", "keys"), ("passage",)
"""What of the payload can be filtered by."""

Payload = Mapping[str, Any]
Where = Sequence[tuple[str, str | int | list[str]]]
"""Conditions: a key of the payload, and its value or those of which it has one."""


class StoredPoint(NamedTuple):
    """A point with its vectors, where it has them, and its payload."""

    id: str
    payload: Payload
    dense: NDArray[np.float32] | None = None
    sparse: SparseVector | None = None


class FoundPoint(NamedTuple):
    """A point, its document, and its score."""

    id: str
    document: str
    score: float


class PointStore(Protocol):
    """The points of one index."""

    mode: str
    """Which Qdrant it is, for people."""
    turns: Turns
    """Of all in this process that use these points."""

    def finish(self) -> None:
        """Mark them as complete."""

    def upsert(self, points: Sequence[StoredPoint]) -> None:
        """Add or replace points."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""

    def flush(self) -> None:
        """Return when all changes are on disk."""

    def query(
        self, query: NDArray[np.float32] | SparseVector, where: Where, limit: int, ef: int | None
    ) -> list[FoundPoint]:
        """The best points, best first; exactly, or through HNSW with this ef."""

    def sparse(self, ids: Sequence[str]) -> dict[str, SparseVector]:
        """The sparse vectors of points."""

    def payloads(self, ids: Sequence[str], keys: Sequence[str]) -> dict[str, Payload]:
        """These keys of the payloads of the points that are there."""

    def scroll(self, where: Where, keys: Sequence[str], dense: bool = False) -> Iterator[StoredPoint]:
        """The points with their payloads, one after the other; with their dense vectors if ``dense``."""

    def counts(self, key: str, where: Where) -> dict[str, int]:
        """How many points have each value of a key."""

    def use_graph(self, wanted: bool, dimension: int, sparse: bool) -> None:
        """Build an HNSW graph of the dense vectors, or have none; returns when it is built.

        ``dimension`` and ``sparse`` are those that the points were created with.
        """

    def close(self) -> None:
        """Let go of it."""

    def drop(self) -> None:
        """Delete all of it, and let go."""


def sparse_vector(dimensions: Sequence[int], weights: Sequence[float]) -> SparseVector:
    """A sparse vector as Qdrant has it, whose dimensions are in any order."""
    order = np.argsort(dimensions)
    return SparseVector(np.asarray(dimensions, np.uint32)[order], np.asarray(weights, np.float32)[order])

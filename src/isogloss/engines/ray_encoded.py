"""What a dense system makes of documents, as arrays that can be joined row by row: whoever has joined them can index.

vectors    a row a document, or a row a passage where passages are indexed
counts     how many passages each document has
spans      where each passage begins and ends in its document
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.systems.base import System
from isogloss.systems.dense import DenseSystem
from isogloss.systems.passages import Passages

Arrays = Mapping[str, NDArray[Any]]


def makes_vectors(system: System) -> bool:
    """Whether documents become vectors, each by itself or by what all of them say of words."""
    return isinstance(system.inner if isinstance(system, Passages) else system, DenseSystem)


def dense_part(system: System) -> DenseSystem:
    """The system that makes the vectors."""
    found = system.inner if isinstance(system, Passages) else system
    if not isinstance(found, DenseSystem):
        raise ValueError(f"{system.name} makes no vectors")
    return found


def encode(system: System, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The arrays of some documents."""
    dense = dense_part(system)
    if not isinstance(system, Passages):
        return {"vectors": dense.encode_documents(texts)}
    counts, spans, passages = system.cut(texts)
    return {"vectors": dense.encode_documents(passages), "counts": counts, "spans": spans}


class Counted(NamedTuple):
    """What some documents add to what all of them decide about the encoding of each; of how many texts."""

    counts: NDArray[np.int64]
    texts: int


def count_words(system: System, texts: Sequence[str]) -> Counted:
    """Count the words of some documents, or of their passages."""
    counted = system.cut(texts).passages if isinstance(system, Passages) else texts
    return Counted(dense_part(system).count_words(counted), len(counted))


def index_encoded(system: System, arrays: Arrays) -> None:
    """Make the documents of these arrays the ones that are scored; ``system.id_order`` speaks of them already."""
    if isinstance(system, Passages):
        system.take(arrays["counts"], arrays["spans"])
    dense_part(system).index_vectors(arrays["vectors"])

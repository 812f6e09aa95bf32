"""The vectors that ``scale.py`` measures with, in files: documents, queries, and what an exact search finds for them.

They are those of ``clustered_vectors``, made once for each size; measurements map them and read them in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from clustered_vectors import Floats, clustered
from numpy.typing import NDArray

from isogloss.data.documents import Document

QUERIES, K = 160, 10
LANGUAGE = "fr"
_BLOCK = 100_000


class Vectors(NamedTuple):
    """Documents (mapped), queries, and for each query the rows of its best documents."""

    matrix: Floats
    queries: Floats
    best: NDArray[np.int64]

    def recall(self, found: list[list[str]]) -> float:
        """Of the best, the share that was found, for as many queries as there are answers."""
        pairs = zip(found, self.best.tolist(), strict=False)
        return sum(len(set(ids) & {id_of(row) for row in rows}) for ids, rows in pairs) / (len(found) * K)

    def batches(self, size: int) -> Iterator[tuple[list[Document], Floats]]:
        """Documents and their vectors, in batches."""
        for start in range(0, len(self.matrix), size):
            part = np.array(self.matrix[start : start + size])
            yield [document_of(row) for row in range(start, start + len(part))], part


def id_of(row: int) -> str:
    return f"d{row:010}"


def document_of(row: int) -> Document:
    """A document of next to no text: what texts take comes on top, and is the same everywhere."""
    return Document(id_of(row), f"page {row}", language=LANGUAGE)


def make_vectors(folder: Path, rows: int, dimension: int) -> None:
    """Write them, unless they are there; ``best`` is written last."""
    matrix, queries, best = _paths(folder, rows, dimension)
    if best.exists():
        return
    made, asked = clustered(rows, dimension, QUERIES)
    np.save(matrix, made)
    np.save(queries, asked)
    np.save(best, _exact(made, asked))


def load_vectors(folder: Path, rows: int, dimension: int) -> Vectors:
    matrix, queries, best = _paths(folder, rows, dimension)
    return Vectors(np.load(matrix, mmap_mode="r"), np.load(queries), np.load(best))


def _paths(folder: Path, rows: int, dimension: int) -> list[Path]:
    return [folder / f"{name}-{rows}x{dimension}.npy" for name in ("vectors", "queries", "best")]


def _exact(matrix: Floats, queries: Floats) -> NDArray[np.int64]:
    """The best rows by plain products, block by block."""
    scores = np.full((len(queries), K), -np.inf, dtype=np.float32)
    rows = np.zeros((len(queries), K), dtype=np.int64)
    for start in range(0, len(matrix), _BLOCK):
        found = queries @ matrix[start : start + _BLOCK].T
        best = np.argpartition(found, found.shape[1] - K, axis=1)[:, -K:]
        scores = np.hstack([scores, np.take_along_axis(found, best, axis=1)])
        rows = np.hstack([rows, best + start])
        order = np.argsort(-scores, axis=1)[:, :K]
        scores, rows = np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)
    return rows

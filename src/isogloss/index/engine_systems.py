"""What an engine is given of the documents of an index: their points, made by the vectors of a system.

    system                          points
    dense (aligned, smooth, …)      one dense vector each
    sparse (bm25, …)                one sparse vector each, by statistics that are frozen when the index is made
    hybrid of both                  both

With the option ``passages`` a document has one point for each passage; otherwise one point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from isogloss.data.documents import Collection, Document, joined_fields
from isogloss.engines.base import Matrix, Points
from isogloss.index.language_systems import Encode
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.systems.base import System
from isogloss.systems.dense import DenseSystem
from isogloss.systems.hybrid import Hybrid
from isogloss.systems.passages import Passages
from isogloss.systems.sparse import SparseSystem

BATCH = 10_000
"""Documents whose points are made and sent to an engine at a time."""

_WAY = "choose bridge, bm25, bm25-dict, psq, aligned, smooth, dssm, pretrained or a hybrid, or leave the engine out"


@dataclass(frozen=True)
class EngineSystem:
    """A system, and what of it makes the vectors; ``cutter`` cuts texts into passages, where those are indexed.

    ``encoder`` is the dense system, or what lets it index passages.
    """

    system: System
    dense: DenseSystem | None = None
    sparse: SparseSystem | None = None
    cutter: Passages | None = None
    encoder: System | None = None

    @property
    def hybrid(self) -> Hybrid | None:
        """The system, if it fuses the lists of both vectors."""
        return self.system if isinstance(self.system, Hybrid) else None

    @property
    def dimension(self) -> int:
        """The number of components of dense vectors; 0 if there are none."""
        return self.dense.encode_queries([""]).shape[1] if self.dense is not None else 0

    def points(
        self, documents: Collection, fields: tuple[str, ...], dimension: int, is_new: bool = False,
        encode: Encode | None = None,
    ) -> Iterator[tuple[Sequence[Document], Points]]:  # fmt: skip
        """Batches of documents with their points, whose dense vectors are padded to this dimension.

        ``is_new``: the collection begins with these documents, so that sparse weights depend on their statistics.
        """
        if self.sparse is not None and is_new:
            self._observe(documents, fields)
        matrix = self._encoded(documents, fields, encode)
        starts = range(0, len(documents), BATCH)
        sizes = [len(documents.documents[start : start + BATCH]) for start in starts]
        done = 0
        for start in track(starts, f"storing {len(documents):,} documents", total=len(documents), sizes=iter(sizes)):
            batch = documents.documents[start : start + BATCH]
            counts, texts = self._cut([joined_fields(document, fields) for document in batch])
            rows = slice(done, done := done + int(counts.sum()))
            dense = None if matrix is None else padded(matrix[rows], dimension)
            yield batch, Points(counts, dense, None if self.sparse is None else self.sparse.sparse_documents(texts))

    def of_one(self, id_: str, text: str) -> System:
        """A copy of the system with one document indexed, to explain its score and to find its best passage."""
        alone = copy(self.system)
        alone.index(Collection([Document(id_, text)]), ("text",))
        return alone

    def _observe(self, documents: Collection, fields: tuple[str, ...]) -> None:
        assert self.sparse is not None
        for start in range(0, len(documents), BATCH):
            batch = documents.documents[start : start + BATCH]
            self.sparse.observe(self._cut([joined_fields(document, fields) for document in batch])[1])
        self.sparse.freeze()

    def _encoded(self, documents: Collection, fields: tuple[str, ...], encode: Encode | None) -> Matrix | None:
        """The dense vectors of all points."""
        if self.dense is None or self.encoder is None:
            return None
        (encode or type(self.encoder).index)(self.encoder, documents, fields)
        return self.dense.document_matrix

    def _cut(self, texts: Sequence[str]) -> tuple[np.ndarray, Sequence[str]]:
        if self.cutter is None:
            return np.ones(len(texts), np.int64), texts
        cut = self.cutter.cut(texts)
        return cut.counts, cut.passages


def for_engine(system: System) -> EngineSystem:
    """The system, if an engine can store its documents; otherwise an ``InputError``."""
    made, parts = EngineSystem(system), [*system.parts.values()] if isinstance(system, Hybrid) else [system]
    for part in parts:
        cutter, inner = (part, part.inner) if isinstance(part, Passages) else (None, part)
        if part is not parts[0] and (made.cutter is None) != (cutter is None):
            raise InputError(f"{system.name}: one part cuts passages and one does not; {_WAY}")
        made = replace(made, cutter=cutter)
        if isinstance(inner, SparseSystem) and made.sparse is None:
            made = replace(made, sparse=inner)
        elif isinstance(inner, DenseSystem) and inner.ranks_by_product and made.dense is None:
            made = replace(made, dense=inner, encoder=part)
        else:
            what = "makes neither a vector nor a sparse vector of each text, which is all that an engine can search"
            raise InputError(f"{inner.name}: {what}; {_WAY}")
    if len({part.options.passages for part in parts}) > 1:
        raise InputError(f"{system.name}: its parts cut passages of different lengths; {_WAY}")
    return made


def padded(vectors: Matrix, dimension: int) -> Matrix:
    """Vectors with zeros appended up to this dimension; longer vectors are refused."""
    zeros = dimension - vectors.shape[1]
    if zeros < 0:
        what = f"vectors of {vectors.shape[1]} components do not fit an engine index made for {dimension}"
        raise InputError(f"{what}; make the index again with all its languages")
    return np.pad(vectors, ((0, 0), (0, zeros))).astype(np.float32, copy=False)

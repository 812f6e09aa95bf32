"""What the dense systems share: both sides become vectors, an exact index ranks by their inner product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isogloss.base.progress import track
from isogloss.corpus.records import Query
from isogloss.evaluation.ranking import Ranking, Scores
from isogloss.evaluation.system import System
from isogloss.index.exact import ExactIndex
from isogloss.vectors.word_vectors import Matrix

_BATCH = 256


class DenseSystem(System):
    """A system that maps queries and documents to vectors; similarity is their inner product."""

    _index: ExactIndex

    @abstractmethod
    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """One row a query, scaled so that the inner product with a document's row is the score."""

    @abstractmethod
    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """One row a document."""

    def index_texts(self, texts: Sequence[str]) -> None:
        self.index_vectors(self.encode_documents(texts))

    def index_vectors(self, vectors: Matrix) -> None:
        """Make the documents with these vectors the ones that are scored."""
        order = self.id_order if len(self.id_order) == len(vectors) else np.arange(len(vectors))
        self._index = ExactIndex(vectors, order)

    @property
    def document_matrix(self) -> Matrix:
        """The vectors of the indexed documents, row by row."""
        return np.asarray(self._index.matrix, dtype=np.float32)

    def scores(self, query: str) -> Scores:
        return self._index.scores(self.encode_queries([query])[0])

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        return self._index.score(self.encode_queries([query])[0], rows)

    def search(self, query: str, k: int) -> Ranking:
        """The best ``k``; nothing for a query without a known word, to which all documents are alike."""
        vector = self.encode_queries([query])[0]
        return self._index.search(vector, k if vector.any() else 0)

    def search_all(self, queries: Sequence[Query], k: int, label: str = "searching") -> Iterator[Ranking]:
        batches = [queries[start : start + _BATCH] for start in range(0, len(queries), _BATCH)]
        for batch in track(batches, label, total=len(queries), sizes=map(len, batches)):
            vectors = self.encode_queries([query.text for query in batch])
            for vector, ranking in zip(vectors, self._index.search_batch(vectors, k), strict=True):
                yield ranking if vector.any() else Ranking(ranking.rows[:0], ranking.scores[:0])

    def save(self, directory: Path) -> None:
        self._index.save(directory / "index")

    def load(self, directory: Path) -> Self:
        self._index = ExactIndex.load(directory / "index")
        return self

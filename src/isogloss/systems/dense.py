"""The base of dense systems: queries and documents become vectors, and an index ranks by the inner product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Query
from isogloss.retrieval.ranking import Allowed, Ranking, Scores
from isogloss.retrieval.vectors.vector_index import VectorIndex
from isogloss.storage.array_types import Matrix
from isogloss.storage.progress import track
from isogloss.systems.base import Contribution, System, TextScorer
from isogloss.systems.explanations import CutText, explain_by_leaving_out

_BATCH = 256


class DenseSystem(System, TextScorer):
    """A system that maps queries and documents to vectors; similarity is their inner product."""

    joins = True
    ranks_by_product: bool = True
    """Whether the score is the inner product of the two vectors, so that any vector engine can rank."""
    is_quick: bool = False
    """Whether it encodes thousands of documents a second, as averages of word vectors do."""
    _index: VectorIndex
    _is_new: bool
    _live: Allowed | None = None

    @abstractmethod
    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """One row a query, scaled so that the inner product with a document's row is the score."""

    @abstractmethod
    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """One row a document."""

    @property
    def weighs(self) -> bool:
        """Whether vectors depend on statistics of all documents: call ``count_words`` and ``weigh`` first."""
        return False

    def count_words(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The statistics that vectors depend on; those of several lists of texts add up."""
        return np.zeros(0, dtype=np.int64)

    def weigh(self, counts: NDArray[np.int64], texts: int) -> None:
        """Encode documents with the statistics of so many texts from now on."""

    def index_texts(self, texts: Sequence[str]) -> None:
        self.index_vectors(self.encode_documents(texts))

    def index_vectors(self, vectors: Matrix) -> None:
        """Index documents by their vectors."""
        order = self.id_order if len(self.id_order) == len(vectors) else np.arange(len(vectors))
        self._index = VectorIndex.build(vectors, order, storage="float32", approximate="no")
        self._is_new, self._live = True, None

    @property
    def document_matrix(self) -> Matrix:
        """The vectors of the indexed documents, row by row."""
        return self._index.rows(np.arange(len(self._index)))

    def document_vector(self, row: int) -> Matrix:
        """The vector of one indexed document."""
        (vector,) = self._index.rows(np.asarray([row]))
        return np.asarray(vector)

    def about(self) -> dict[str, Any]:
        """How the vectors are stored and searched, and the measured recall."""
        return self._index.about()

    def scores(self, query: str) -> Scores:
        return self._index.scores(self.encode_queries([query])[0])

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        return self._index.score(self.encode_queries([query])[0], rows)

    def score_texts(self, queries: Sequence[str], documents: Sequence[str]) -> Matrix:
        return self.encode_queries(queries) @ self.encode_documents(documents).T

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        score = float(self.score(query, np.asarray([row]))[0])
        return self.explain_vector(query, text, self.document_vector(row), score)

    def explain_text(self, query: str, text: str, score: float) -> list[Contribution]:
        return self.explain_vector(query, text, self.encode_documents([text])[0], score)

    def explain_vector(self, query: str, text: str, vector: Matrix, score: float) -> list[Contribution]:
        """Explain the score of a text with this vector: by leaving words out, unless a system knows better."""
        return explain_by_leaving_out(CutText.of(query), CutText.of(text), self.score_texts, score)

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        """The best ``k``; nothing for a query without a known word, for which all documents score alike."""
        vector = self.encode_queries([query])[0]
        return self._index.search(vector, k if vector.any() else 0, self._live if allowed is None else allowed)

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        vectors = self.encode_queries(queries)
        found = self._index.search_batch(vectors, k, self._live if allowed is None else allowed)
        return [
            ranking if vector.any() else Ranking(ranking.rows[:0], ranking.scores[:0])
            for vector, ranking in zip(vectors, found, strict=True)
        ]

    def search_all(self, queries: Sequence[Query], k: int, label: str = "searching") -> Iterator[Ranking]:
        batches = [queries[start : start + _BATCH] for start in range(0, len(queries), _BATCH)]
        for batch in track(batches, label, total=len(queries), sizes=map(len, batches)):
            yield from self.search_texts([query.text for query in batch], k)

    def count_only(self, live: Allowed) -> None:
        self._live = live

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        """New vectors are compressed as far as the ranking allows; saved parts are joined as they are."""
        kept = self._index
        if self._is_new:
            kept = VectorIndex.build(self.document_matrix, self._index.id_order)
        kept.save(directory / "index", keep)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        self._index = VectorIndex.load([directory / "index" for directory in directories], id_order)
        self._take_order(id_order, len(self._index))
        self._is_new, self._live = False, None
        return self

"""The features x(q, d) of a query q and a document d, which ``bridge`` computes in the second stage.

    passage forward    forward(q, p)          p is the passage of d with the highest forward(q, p)
    document forward   forward(q, d)          d as one text: all its passages
    passage reverse    reverse(q, p) / |p|
    document reverse   reverse(q, d) / |d|
    passage length     ln |p| / |q|
    document length    ln |d| / |q|
    vectors            cosine of the vectors of q and p: sums of the vectors of words and of phrases (word bigrams)
    passage bm25       bm25(q, p)
    document bm25      bm25(q, d)
    pretrained         cosine of a pretrained encoder's vectors of q and d, where one is used

``forward`` and ``reverse`` are log-likelihoods under the translation model (:mod:`isogloss.systems.bridge.matching`).
Passages overlap, so most words of a document count twice in d; only its first and last words do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isogloss.systems.bridge.documents import Documents
from isogloss.systems.bridge.matching import DocumentMatches, QueryTable
from isogloss.systems.bridge.text_vectors import encode
from isogloss.text.ids import TextIds
from isogloss.translation.model import Floats, Ids, Numbers, QueryStatistics

FEATURES = (
    "passage forward", "document forward", "passage reverse", "document reverse", "passage length", "document length",
    "vectors", "passage bm25", "document bm25", "pretrained",
)  # fmt: skip
Values = NDArray[np.float64]
_SHORTEST = 1e-6  # a shorter sum is divided by this
_SEEN = 2  # phrases of fewer texts have no vector
_MOST = 20_000  # phrases of a language: it bounds the size of a model


@dataclass(frozen=True)
class Phrases:
    """The word bigrams of a language that have a vector of their own.

    The language has ``words`` words; phrase i has the number ``words`` + i. ``keys`` are ascending: the number of the
    first word times ``words``, plus that of the second.
    """

    words: int
    keys: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, texts: TextIds, words: int) -> Phrases:
        """The bigrams that occur in most texts.

        >>> Phrases.of(TextIds(np.array([4, 2, 1, 4, 2], np.int32), np.array([0, 3, 5])), 10).keys.tolist()
        [42]
        """
        keys, firsts = _bigrams(texts, words)
        text = np.repeat(np.arange(len(texts)), texts.lengths)[firsts]
        each = np.lexsort((text, keys))
        first = np.ones(len(each), bool)
        first[1:] = (np.diff(keys[each]) != 0) | (np.diff(text[each]) != 0)
        found, counts = np.unique(keys[each][first], return_counts=True)
        often = np.argsort(-counts, kind="stable")[:_MOST]
        return cls(words, np.sort(found[often[counts[often] >= _SEEN]]))

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, texts: TextIds) -> tuple[Numbers, Ids]:
        """The positions in ``texts.ids`` where a phrase begins, and its number."""
        keys, firsts = _bigrams(texts, self.words)
        if not len(self.keys):
            return firsts[:0], np.zeros(0, np.int32)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known: NDArray[np.bool_] = self.keys[rows] == keys
        return firsts[known], (self.words + rows[known]).astype(np.int32)

    def added_to(self, texts: TextIds) -> TextIds:
        """The words of each text, followed by its phrases."""
        positions, numbers = self.find(texts)
        if not len(positions):
            return texts
        text = np.repeat(np.arange(len(texts)), texts.lengths)
        order = np.argsort(np.concatenate([text, text[positions]]), kind="stable")
        begins = np.bincount(positions, minlength=len(texts.ids))
        return TextIds(
            np.concatenate([texts.ids, numbers])[order],
            texts.offsets + np.append(0, np.cumsum(begins))[texts.offsets],
        )


def _bigrams(texts: TextIds, words: int) -> tuple[Numbers, Numbers]:
    """The keys of all bigrams of the texts, and the position of the first word of each."""
    last = np.zeros(len(texts.ids), bool)
    last[texts.offsets[1:][texts.lengths > 0] - 1] = True
    firsts = np.flatnonzero(~last)
    return texts.ids[firsts].astype(np.int64) * words + texts.ids[firsts + 1], firsts


@dataclass(frozen=True)
class Tables:
    """The vectors of both languages: those of the translation model's words, of *unknown*, then of phrases."""

    query: Floats
    document: Floats
    query_phrases: Phrases
    document_phrases: Phrases

    @property
    def trained(self) -> bool:
        """Whether there are vectors: without pages all are 0, and of one dimension."""
        return bool(self.query.shape[1] > 1)

    def of_documents(self, texts: TextIds) -> Floats:
        """The vectors of texts of the document language."""
        found: Floats = encode(self.document, self.document_phrases.added_to(texts))
        return found


class VectorsInContext:
    """The vectors of both languages, by which :mod:`isogloss.translation.glossing` chooses between translations."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def of_text(self, numbers: Sequence[int]) -> Floats:
        texts = TextIds(np.asarray(numbers, np.int32), np.asarray([0, len(numbers)]))
        found: Floats = self._tables.of_documents(texts)[0]
        return found

    def of_words(self, numbers: NDArray[np.int32]) -> Floats:
        rows = self._tables.query[numbers]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        found: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        return found


@dataclass(frozen=True)
class Features:
    """One row a document, one column a feature; ``passages`` is the number of each document's best passage.

    ``vectors`` are the vectors of these passages, where there are any.
    """

    values: Values
    passages: Numbers
    vectors: Floats | None = None


@dataclass(frozen=True)
class QueryFeatures:
    """What features are computed from on the side of the query.

    ``positions`` has the position of each word of the query among the distinct words of ``statistics``.
    """

    statistics: QueryStatistics
    positions: Numbers
    vector: Floats
    pretrained: Floats | None = None

    @classmethod
    def of(
        cls, terms: Sequence[str], statistics: QueryStatistics, tables: Tables, pretrained: Floats | None = None
    ) -> QueryFeatures:
        """The features of a query with these terms; its vector has length 1, or is 0 where no word has a vector."""
        position_of = {term: position for position, term in enumerate(statistics.words)}
        positions = np.fromiter((position_of[term] for term in terms), np.int64, len(terms))
        total: Floats = query_word_vectors(statistics, positions, tables).sum(axis=0)
        return cls(statistics, positions, total / max(float(np.linalg.norm(total)), _SHORTEST), pretrained)


def query_word_vectors(statistics: QueryStatistics, positions: Numbers, tables: Tables) -> Floats:
    """What each distinct word adds to the vector of a query: its own vector, and half of that of each of its phrases.

    Verbatim terms have no vector.
    """
    positions = positions[~np.isin(positions, list(statistics.verbatim))]
    text = TextIds(statistics.numbers[positions].astype(np.int32), np.asarray([0, len(positions)], np.int64))
    begins, phrases = tables.query_phrases.find(text)
    rows = np.zeros((len(statistics.words), tables.query.shape[1]), np.float32)
    np.add.at(rows, positions, tables.query[text.ids])
    for words in (positions[begins], positions[begins + 1]):
        np.add.at(rows, words, tables.query[phrases] / 2)
    return rows


def compute_features(
    query: QueryFeatures, table: QueryTable, documents: Documents, rows: Numbers, matches: DocumentMatches,
    tables: Tables,
) -> Features:  # fmt: skip
    """The features of some documents, from their match statistics."""
    values = np.zeros((len(rows), len(FEATURES)))
    passage, whole = np.maximum(1, matches.lengths).T
    length = max(1.0, query.statistics.length)
    values[:, 0] = forward_parts(table, matches.passage_counts, matches.lengths[:, 0]).sum(axis=1)
    values[:, 1] = forward_parts(table, matches.counts, matches.lengths[:, 1]).sum(axis=1)
    values[:, 2] = matches.passage_reverse.sum(axis=1) / passage
    values[:, 3] = matches.reverse.sum(axis=1) / whole
    values[:, 4], values[:, 5] = np.log(passage / length), np.log(whole / length)
    values[:, 7] = table.bm25(matches.passage_frequencies, matches.lengths[:, 0], table.mean_length).sum(axis=1)
    values[:, 8] = table.bm25(matches.frequencies, matches.lengths[:, 1], table.mean_document).sum(axis=1)
    vectors = np.zeros((len(rows), tables.document.shape[1]), np.float32) if tables.trained else None
    for part, part_rows, which in documents.split(rows):
        if vectors is not None:  # compiled code, which takes half a second to load
            vectors[which] = tables.of_documents(part.words_of(part_rows, matches.best[which]))
        if query.pretrained is not None and part.vectors is not None:
            values[which, 9] = products(part.vectors[part_rows], query.pretrained)
    if vectors is not None:
        values[:, 6] = products(vectors, query.vector)
    return Features(values, matches.best, vectors)


def forward_parts(table: QueryTable, counts: Values, lengths: Values) -> Values:
    """The summands of forward(q, d): one row a text, one column a word of the query."""
    parts: Values = np.log1p(table.odds * counts / np.maximum(1, lengths)[:, None]) * table.each
    return parts


def products(vectors: NDArray[np.floating], vector: NDArray[np.floating]) -> Values:
    """The inner product of each row and a vector: equal rows have equal products, which BLAS does not promise."""
    found: Values = np.einsum("ij,j->i", vectors, vector, optimize=False).astype(np.float64, copy=False)
    return found

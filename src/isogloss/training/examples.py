"""The graded pairs of a split: its judged documents, and random others as irrelevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Query
from isogloss.data.splits import sample_negatives
from isogloss.evaluation.measures import Gains, PerQuery, measure
from isogloss.text.ids import Ids, TextIds

if TYPE_CHECKING:
    from isogloss.text.batches import TokenizedTexts


# What is learned from: pairs of a query and a document, and how relevant the one is to the other.


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pair ``i`` is the query ``query_of[i]``, the document ``document_of[i]`` and its grade 0 .. K - 1."""

    queries: TextIds
    documents: TextIds
    query_of: Ids
    document_of: Ids
    grades: Ids

    def __len__(self) -> int:
        return len(self.grades)


@dataclass(frozen=True)
class Examples:
    """Pair ``i`` is ``queries[query_of[i]]``, the document in row ``document_of[i]`` and its grade; query by query."""

    queries: list[Query]
    query_of: Ids
    document_of: Ids
    grades: Ids
    negative: NDArray[np.bool_]
    """Which pairs were drawn at random."""


def graded_examples(dataset: Dataset, split: str, negatives: int, seed: int, most_queries: int = 0) -> Examples:
    """The judged documents of each query and ``negatives`` others: what the ``sampled`` protocol ranks with this seed.

    Queries without a judgment are left out. ``most_queries``: only so many, spread over the split (0: all).
    """
    queries = [query for query in dataset.split(split) if query.id in dataset.judgments]
    if most_queries and len(queries) > most_queries:
        queries = [queries[i] for i in np.linspace(0, len(queries) - 1, most_queries).astype(int)]
    row_of, documents = dataset.documents.row_of, len(dataset.documents)
    rows, grades, counts, drawn = [], [], [], []
    for query in queries:
        judged = {row_of[document]: grade for document, grade in dataset.judgments[query.id].items()}
        others = sample_negatives(query.id, judged, documents, negatives, seed).tolist()
        rows += [*judged, *others]
        grades += [*judged.values(), *([0] * len(others))]
        drawn += [False] * len(judged) + [True] * len(others)
        counts.append(len(judged) + len(others))
    query_of = np.repeat(np.arange(len(queries), dtype=np.int32), counts)
    return Examples(
        queries, query_of, np.asarray(rows, np.int32), np.asarray(grades, np.int32), np.asarray(drawn, bool)
    )


def redraw(examples: Examples, documents: int, seed: int, epoch: int) -> Ids:
    """Other random documents in place of the negatives, none of them judged for its query: the new ``document_of``."""
    judged = ~examples.negative
    taken = np.unique(examples.query_of[judged].astype(np.int64) * documents + examples.document_of[judged])
    rng = np.random.default_rng([seed, epoch, 1])  # other numbers than those that order the epoch
    drawn = examples.document_of.copy()
    places = np.flatnonzero(examples.negative)
    while len(places):
        drawn[places] = rng.integers(documents, size=len(places), dtype=np.int32)
        keys = examples.query_of[places].astype(np.int64) * documents + drawn[places]
        places = places[np.isin(keys, taken)]
    return drawn


# Tokenised texts to rows of a table of word vectors.


def choose_words(texts: TokenizedTexts, most: int, least_count: int = 1) -> list[str]:
    """The ``most`` most frequent words that occur at least ``least_count`` times, in the order of their UTF-8 bytes."""
    counts = np.bincount(texts.ids, minlength=len(texts.terms))
    order = np.lexsort((np.asarray(texts.terms, dtype=object), -counts))
    kept = [texts.terms[i] for i in order[:most] if counts[i] >= least_count]
    return sorted(kept, key=lambda word: word.encode("utf-8", "surrogatepass"))


def text_ids(texts: TokenizedTexts, words: Sequence[str], longest: int = 0) -> TextIds:
    """The known words of each text's first ``longest`` ones (0: of all); ids are the places in ``words``."""
    row_of = {word: row for row, word in enumerate(words)}
    rows = np.fromiter((row_of.get(term, -1) for term in texts.terms), dtype=np.int32, count=len(texts.terms))
    lengths = np.diff(texts.offsets)
    text_of = np.repeat(np.arange(len(texts)), lengths)
    ids = rows[texts.ids] if len(rows) else np.zeros(0, np.int32)
    kept = ids >= 0
    if longest:
        kept &= np.arange(len(ids)) - texts.offsets[text_of] < longest
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.bincount(text_of[kept], minlength=len(texts)), out=offsets[1:])
    return TextIds(ids[kept], offsets)


# Measuring on arrays: given pairs ranked by their scores, query by query. What training measures on dev.


def ranked_gains(query_of: Ids, grades: Ids, scores: NDArray[np.floating], ties: Ids, top: int) -> Gains:
    """The gains of each query's documents by falling score; pairs stand query by query, equal scores go by ``ties``."""
    order = np.lexsort((ties, -scores, query_of))
    starts = np.flatnonzero(np.diff(query_of, prepend=-1))
    counts = np.diff(np.append(starts, len(query_of)))
    rows = np.repeat(np.arange(len(starts)), counts)
    columns = np.arange(len(query_of)) - np.repeat(starts, counts)
    gains = np.zeros((len(starts), int(counts.max(initial=1))), dtype=np.int32)
    gains[rows, columns] = grades[order]
    return Gains(gains, -np.sort(-gains, axis=1), top)


def measure_scores(
    query_of: Ids, grades: Ids, scores: NDArray[np.floating], ties: Ids, top: int, names: tuple[str, ...] = ()
) -> dict[str, PerQuery]:
    """Every measure (or the named ones), query by query."""
    return measure(ranked_gains(query_of, grades, scores, ties, top), names)


# Lists of documents to be ranked, as arrays: what is measured on where there are no texts, on a GPU machine say.


@dataclass(frozen=True, slots=True)
class RankedLists:
    """Entry ``i``: the query ``query_of[i]``, the document ``document_of[i]`` and its grade; query by query.

    Equal scores are ordered by ``ties``; ``top`` is the grade of a relevant (MR) document.
    """

    queries: TextIds
    query_of: Ids
    document_of: Ids
    grades: Ids
    ties: Ids
    top: int

    def __len__(self) -> int:
        return len(self.grades)

    def measure(self, scores: NDArray[np.floating], names: tuple[str, ...] = ()) -> dict[str, PerQuery]:
        """Every measure (or the named ones), query by query, of a score an entry."""
        return measure_scores(self.query_of, self.grades, scores, self.ties, self.top, names)

"""``bridge`` in an engine: sparse vectors of documents, frozen statistics, and documents by their texts alone.

The vector of a document has a weight for each word w of queries,

    z(d, w) = ln(1 + o_w c(w, d))        c: the level of the expansion (:mod:`isogloss.systems.bridge.expansion`)

and one for each of its terms that the translation model does not know, with P = 1. That of a query has n(w, q) / |q|,
so that their product is the score of the first stage. o_w and what else depends on the collection is frozen when the
index is made. The second stage needs the texts of the fetched documents, and nothing that an engine does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.impacts import ImpactLists
from isogloss.retrieval.ranking import Allowed, Ranking
from isogloss.storage.arrays import has_array, load_array, save_array
from isogloss.systems.bridge.documents import Documents, Part, Vectors, number_tokens
from isogloss.systems.bridge.expansion import (
    VALUES,
    Tokens,
    dimension_of,
    document_counts,
    expanded,
)
from isogloss.systems.bridge.matching import CollectionStatistics, passage_terms, rare_words
from isogloss.systems.sparse import SparseVector, dimensions_of
from isogloss.text.batches import tokenize_texts
from isogloss.text.passages import CutTexts, cut_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.model import Numbers, QueryStatistics, TranslationModel, odds_of

_TOTALS, _WORDS, _OTHERS, _COUNTS = "totals", "words", "others", "counts"
_NO_SPANS = np.zeros((0, 2), np.int32)
_UNKNOWN, _VERBATIM = "\0", "\0\0"  # no word begins so


class CollectionCounts:
    """How often the passages of a collection have each term, and how many documents do.

    ``words`` has a row for the former and one for the latter, and a column for each term of the translation model.
    Other terms are known by their hashes.
    """

    def __init__(self, translation: TranslationModel) -> None:
        self.translation, self.passages, self.documents = translation, 0, 0
        self.words = np.zeros((2, translation.unknown + 1), np.int64)
        self._others, self._counts = np.zeros(0, np.uint32), np.zeros((2, 0), np.int64)

    def observe(self, tokens: Tokens, others: Sequence[str], passages: int) -> None:
        """Add documents."""
        times = np.bincount(passage_terms(tokens, np.arange(len(tokens)))[0], minlength=tokens.terms)
        both, known = np.stack([times, document_counts(tokens)]), tokens.unknown + 1
        self.words += both[:, :known]
        self.words[:, -1] += both[:, known:].sum(axis=1)
        found = np.append(self._others, dimensions_of(others))
        self._others, places = np.unique(found, return_inverse=True)
        counts = np.concatenate([self._counts, both[:, known:]], axis=1)
        self._counts = np.stack([np.bincount(places, each, len(self._others)) for each in counts]).astype(np.int64)
        self.passages += passages
        self.documents += len(tokens)

    @cached_property
    def statistics(self) -> CollectionStatistics:
        """Those of the frozen collection."""
        return CollectionStatistics(self.translation, self.words[0], self.passages, self.documents)

    @cached_property
    def word_dimensions(self) -> NDArray[np.uint32]:
        """The dimension of each query word, and of *unknown* after the last."""
        return dimensions_of([*self.translation.query_words, _UNKNOWN])

    def of_terms(self, terms: Sequence[str]) -> Numbers:
        """How often passages have each of some terms (a column), and how many documents do."""
        counts = np.zeros((2, len(terms)), np.int64)
        if len(self._others) and len(terms):
            wanted = dimensions_of(terms)
            places = np.minimum(np.searchsorted(self._others, wanted), len(self._others) - 1)
            counts = np.where(self._others[places] == wanted, self._counts[:, places], 0)
        for column, term in enumerate(terms):
            number = self.translation.find_term(term)
            if number is not None:
                counts[:, column] = self.words[:, number]
        return counts

    def save(self, directory: Path) -> None:
        """Write them into an existing directory."""
        totals = np.asarray([self.passages, self.documents], np.int64)
        arrays: dict[str, NDArray[np.generic]] = {
            _TOTALS: totals, _WORDS: self.words, _OTHERS: self._others, _COUNTS: self._counts
        }  # fmt: skip
        for name, array in arrays.items():
            save_array(directory / f"collection.{name}.npy", array)

    @classmethod
    def load(cls, directory: Path, translation: TranslationModel) -> CollectionCounts | None:
        """Read what ``save`` wrote; None where it wrote nothing."""
        if not has_array(directory / f"collection.{_TOTALS}.npy"):
            return None
        names = (_TOTALS, _WORDS, _OTHERS, _COUNTS)
        totals, words, others, counts = (load_array(directory / f"collection.{name}.npy") for name in names)
        if words.shape != (2, translation.unknown + 1) or counts.shape != (2, len(others)) or totals.shape != (2,):
            raise ValueError("collection.words.npy does not fit the translation model")
        made = cls(translation)
        made.words, made._others, made._counts = words, others, counts
        made.passages, made.documents = totals.tolist()
        return made


class FetchedDocuments(Documents):
    """Documents that an engine has found, the best first; the statistics are those of the frozen collection."""

    def __init__(self, part: Part, frozen: CollectionCounts) -> None:
        super().__init__([part])
        self._frozen = frozen

    @classmethod
    def of(
        cls, frozen: CollectionCounts, texts: Sequence[str], words: int, terms: Tokenizer, vectors: Vectors
    ) -> FetchedDocuments:
        """Read texts. Spans of passages are found for a single text: several are only re-scored, which is faster."""
        translation, cut = frozen.translation, CutTexts(tokenize_texts(texts, terms, label="reading"), _NO_SPANS)
        if len(texts) == 1:
            cut = cut_texts(texts, words, terms, "reading")
        tokens, others = number_tokens(translation, cut.terms, words)
        lists = ImpactLists.build(len(tokens), dimension_of(translation, tokens.terms), [])
        times = np.bincount(passage_terms(tokens, np.arange(len(tokens)))[0], minlength=tokens.terms)
        return cls(Part(translation, others, tokens, times, cut.spans, lists, vectors), frozen)

    @property
    def statistics(self) -> CollectionStatistics:
        return self._frozen.statistics

    def count_of(self, term: str) -> int:
        return int(self._frozen.of_terms([term])[0, 0])

    def other_counts(self, terms: Sequence[str]) -> Numbers:
        known = self._frozen.translation.document_words.find_all(terms) >= 0
        return np.where(known, 0, self._frozen.of_terms(terms)[0])

    def rows_with(self, term: str, most: int) -> list[int]:
        (part,), count = self.parts, int(self._frozen.of_terms([term])[1, 0])
        number = part.number_of(term)
        if number is None or count > most:
            return []
        positions = np.flatnonzero(part.tokens.ids == number)
        rows: list[int] = np.unique(np.searchsorted(part.tokens.offsets, positions, side="right") - 1).tolist()
        return rows

    def best(self, query: QueryStatistics, count: int, id_order: Numbers, allowed: Allowed | None) -> Ranking:
        """All of them, in their order; what they score is not known, so no score bounds a likelihood."""
        rows = np.arange(len(self))
        rows = rows[:count] if allowed is None else rows[allowed][:count]
        return Ranking(rows, (np.iinfo(np.int32).max - rows).astype(np.int32))


def sparse_documents(
    frozen: CollectionCounts, texts: Sequence[str], words: int, terms: Tokenizer
) -> list[SparseVector]:
    """A vector for each text."""
    translation = frozen.translation
    tokens, others = number_tokens(translation, cut_texts(texts, words, terms, "expanding").terms, words)
    run = expanded(tokens, translation)
    size = frozen.statistics.background.size
    first = dimension_of(translation, tokens.unknown + 1)
    is_word, is_other = run.dimensions <= translation.unknown_word, run.dimensions >= first
    odds, dimensions = np.zeros(len(run.levels), np.float32), np.zeros(len(run.levels), np.uint32)
    odds[is_word] = frozen.statistics.background.query_odds[run.dimensions[is_word]]
    dimensions[is_word] = frozen.word_dimensions[run.dimensions[is_word]]
    if len(others):
        own = run.dimensions[is_other] - first
        odds[is_other] = odds_of((frozen.of_terms(list(others))[0] + 1) / size)[own]
        dimensions[is_other] = dimensions_of([_VERBATIM + term for term in others])[own]
    weights = np.log1p(odds * VALUES[run.levels])
    kept = is_word | is_other
    text_of = np.repeat(np.arange(len(tokens), dtype=np.uint64), np.diff(run.ends, prepend=0))[kept]
    keys, places = np.unique((text_of << np.uint64(32)) | dimensions[kept], return_inverse=True)
    summed = np.bincount(places, weights[kept], len(keys)).astype(np.float32)
    starts = np.searchsorted(keys >> np.uint64(32), np.arange(len(tokens) + 1, dtype=np.uint64))
    found = keys.astype(np.uint32)
    return [
        SparseVector(found[begin:end], summed[begin:end])
        for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def sparse_query(frozen: CollectionCounts, query: QueryStatistics) -> SparseVector:
    """The vector of a query: without the most common words, where there are others."""
    weights: dict[str, float] = {}
    for position in rare_words(frozen.statistics.background.of(query)).tolist():
        word, share = query.words[position], float(query.times[position]) / max(1.0, query.length)
        translated = query.numbers[position] != frozen.translation.unknown_word
        if position in query.verbatim:
            name = _VERBATIM + query.verbatim[position]
            weights[name] = weights.get(name, 0.0) + share
        if translated or position not in query.verbatim:
            name = word if translated else _UNKNOWN
            weights[name] = weights.get(name, 0.0) + share
    return SparseVector.of(weights)

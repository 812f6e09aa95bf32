"""Match statistics: how likely a query and indexed passages are as translations of each other.

n(w, q) counts word w in the query q, n(t, p) term t in the passage p. P(w | t), P(t | w) and lambda are those of the
translation model (:mod:`isogloss.translation.model`), P(w) and P(t) the background probabilities of the collection.

    forward(q, p) = 1/|q| sum_w n(w, q) ln(1 + (1 - lambda) / (lambda P(w)) sum_t P(w | t) n(t, p) / |p|)
    reverse(q, p) =       sum_t n(t, p) ln(1 + (1 - lambda) / (lambda P(t)) sum_w P(t | w) n(w, q) / |q|)

``forward`` is by how much the passage raises the log-likelihood of the query, per query word; ``reverse`` is by how
much the query raises the log-likelihood of the passage. Both are 0 where nothing matches. BM25 over structured queries
(Darwish and Oard 2003) takes the translations of a word for one term:

    bm25(q, p) = 1/|q| sum_w n(w, q) idf(w) f (k + 1) / (f + k (1 - b + b |p| / mean |p|)),  f = sum_t g(w, t) n(t, p)

g(w, t) ~ sqrt(P(w | t) P(t | w)) adds up to 1 over t; idf(w) is that of sum_t g(w, t) n(t), n(t) counting t in the
collection. A query word that stands in the documents as a
term that the translation model does not know (a name, a number) matches this *verbatim* term too.

The first stage computes ``forward`` of all passages through inverted lists. The second stage computes all statistics
of few passages from their tokens.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.postings import Postings
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.strings import StringTable
from isogloss.text.batches import TokenizedTexts
from isogloss.text.ids import TextIds
from isogloss.translation.model import Floats, Ids, Numbers, QueryStatistics, TranslationModel

_UNKNOWN = "\0"  # the term of the inverted list of unknown words: no word has such a letter
_COMMON = 4 / 0.02  # (1 - lambda) / (lambda P(w)) of a word that is every fiftieth
_UNLIKELY = 0.01  # P(w | t)
_K, _B = 1.2, 0.75  # of BM25
_VERBATIM = 0.1  # P(t | w) of a word that has translations, t being the word itself


class MatchStatistics(NamedTuple):
    """The statistics of a query and some texts, one row a text."""

    forward: Floats
    """The summand of each query word (a column) in forward(q, p)."""
    counts: Floats
    """sum_t P(w | t) n(t, p) of each query word (a column)."""
    frequencies: Floats
    """sum_t g(w, t) n(t, p) of each query word (a column)."""
    reverse: Floats
    lengths: Floats


class CollectionStatistics:
    """What matching needs of the collection: the background, mean lengths of passages and documents, and IDF.

    ``counts`` are those of the translation model's terms, in all ``passages`` of all ``documents``.
    """

    def __init__(self, translation: TranslationModel, counts: Numbers, passages: int, documents: int) -> None:
        self.background = translation.background_of(counts)
        self.mean_length, self.mean_document = (
            max(1.0, float(counts.sum()) / max(1, n)) for n in (passages, documents)
        )
        self._passages = passages
        both = np.sqrt(translation.query_probabilities * translation.document_probabilities, dtype=np.float64)
        sums = [np.append(0.0, np.cumsum(each)) for each in (both * counts[translation.terms], both)]
        matched, whole = (np.diff(each[translation.offsets]) for each in sums)
        self._frequencies = matched / np.maximum(whole, 1e-9)

    def idf(self, query: QueryStatistics) -> Floats:
        """ln(1 + (N - n + .5) / (n + .5)) of each word of a query; n of a word without translations is the term's."""
        frequencies = self._frequencies[query.numbers]
        for position, count in query.verbatim_counts.items():
            translated = query.numbers[position] != len(self._frequencies) - 1
            frequencies[position] = max(count, frequencies[position]) if translated else count
        frequencies = np.minimum(frequencies, self._passages)
        idf: Floats = np.log1p((self._passages - frequencies + 0.5) / (frequencies + 0.5)).astype(np.float32)
        return idf


class PassageIndex:
    """Tokenised passages, with inverted lists.

    ``tokens`` are the passages one after the other, as rows of the inverted lists' terms; ``known`` has the translation
    model's number of each of these terms, ``times`` how often the tokens have it.
    """

    def __init__(
        self, translation: TranslationModel, postings: Postings, tokens: Ids, offsets: Numbers, known: Ids,
        times: Numbers,
    ) -> None:  # fmt: skip
        self.translation, self.postings = translation, postings
        self.tokens, self.offsets, self.known, self.times = tokens, offsets, known, times
        self._rows = np.full(translation.unknown + 1, -1, np.int64)
        self._rows[known] = np.arange(len(known))
        self._rows[translation.unknown] = -1 if (row := postings.terms.find(_UNKNOWN)) is None else row
        self._inverse_lengths = (1 / np.maximum(1, np.diff(offsets))).astype(np.float32)

    @classmethod
    def build(cls, translation: TranslationModel, texts: TokenizedTexts) -> Self:
        """Index tokenised passages."""
        number_of = {word: number for number, word in enumerate(translation.document_words)}
        numbers = np.fromiter(
            (number_of.get(term, translation.unknown) for term in texts.terms), np.int32, len(texts.terms)
        )
        unknown = np.append(0, np.cumsum(numbers[texts.ids] == translation.unknown))[texts.offsets]
        postings = _with_unknown(Postings.build(texts), np.diff(unknown).astype(np.int32))
        row_of = {term: row for row, term in enumerate(postings.terms)}
        rows = np.fromiter((row_of[term] for term in texts.terms), np.int32, len(texts.terms))
        known = np.full(len(row_of), translation.unknown, np.int32)
        known[rows] = numbers
        tokens = rows[texts.ids] if len(rows) else texts.ids
        return cls(translation, postings, tokens, texts.offsets, known, np.bincount(tokens, minlength=len(known)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def count_of(self, term: str, live: NDArray[np.bool_] | None = None) -> int:
        """How often the passages, or the ``live`` ones, have a term."""
        posting = self.postings[term]
        return int((posting.frequencies if live is None else posting.frequencies[live[posting.documents]]).sum())

    def counts(self, live: NDArray[np.bool_] | None = None) -> Numbers:
        """How often the passages, or the ``live`` ones, have each term of the translation model."""
        times = self.times
        if live is not None:  # mostly few are not
            gone = TextIds(self.tokens, self.offsets).words_of(np.flatnonzero(~live))
            times = times - np.bincount(gone, minlength=len(times))
        return np.bincount(self.known, times, self.translation.unknown + 1).astype(np.int64)

    def forward(self, query: QueryStatistics, odds: Floats, pruned: bool = False) -> Floats:
        """forward(q, p) of every passage, through the inverted lists; ``odds`` of the background of each word.

        ``pruned``: without the most common words and the least likely translations, four times as fast. The final
        results of 600 dev queries of two sets were the same.
        """
        total = np.zeros(len(self), np.float32)
        found = (self.postings.terms.find(term) for term in query.verbatim_terms)
        verbatim = np.asarray([row for row in found if row is not None], np.int64)
        shares = query.times / max(1.0, query.length)
        common = odds < _COMMON if pruned else np.zeros(len(odds), bool)
        for position in np.flatnonzero(~common if not common.all() else common).tolist():
            passages, counts = self._counts(query, position, verbatim, _UNLIKELY if pruned else 0.0)
            if len(passages):
                sums = np.bincount(passages, counts, len(self)).astype(np.float32)
                here = np.flatnonzero(sums > 0)
                total[here] += shares[position] * np.log1p(odds[position] * sums[here] * self._inverse_lengths[here])
        return total

    def _counts(self, query: QueryStatistics, position: int, verbatim: Numbers, least: float) -> tuple[Ids, Floats]:
        """The passages in the inverted list of each translation of a query word, and P(w | t) n(t, p).

        Terms in the rows ``verbatim`` translate no other word. The list of unknown words contains them, so their counts
        are subtracted there.
        """
        numbers, probabilities, _ = self.translation.translations(int(query.numbers[position]))
        if position in query.verbatim and query.numbers[position] == len(self.translation.query_words):
            numbers, probabilities = numbers[:0], probabilities[:0]
        rows = self._rows[numbers]
        used = (rows >= 0) & (probabilities > least)
        if len(verbatim):
            own = self.postings.terms.find(query.verbatim.get(position, ""))
            of_unknown = probabilities[numbers == self.translation.unknown].sum()
            weights = (verbatim == own) - of_unknown * (of_unknown > least)
            rows, used = np.append(rows, verbatim), np.append(used, weights != 0)
            probabilities = np.append(probabilities, weights).astype(np.float32)
        rows, probabilities = rows[used], probabilities[used]
        starts = self.postings.offsets[rows]
        lengths = self.postings.offsets[rows + 1] - starts
        entries = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return self.postings.documents[entries], self.postings.frequencies[entries] * np.repeat(probabilities, lengths)

    def words_of(self, passages: Numbers, query: QueryStatistics | None = None) -> tuple[Numbers, Numbers]:
        """The words of some passages as the translation model's numbers, and where each passage begins.

        Verbatim terms of a query have the numbers after *unknown*, in the order of ``query.verbatim_terms``.
        """
        lengths = self.offsets[passages + 1] - self.offsets[passages]
        starts = np.append(0, np.cumsum(lengths))
        tokens = self.tokens[np.arange(starts[-1]) + np.repeat(self.offsets[passages] - starts[:-1], lengths)]
        words = self.known[tokens].astype(np.int64)
        for number, term in enumerate(query.verbatim_terms if query else (), self.translation.unknown + 1):
            row = self.postings.terms.find(term)
            if row is not None:
                words[tokens == row] = number
        return words, starts

    def match(self, table: QueryTable, query: QueryStatistics, passages: Numbers) -> MatchStatistics:
        """All statistics of some passages."""
        return match(table, *self.words_of(passages, query))

    def save(self, directory: Path) -> None:
        """Write all but the translation model into a directory."""
        self.postings.save(directory)
        save_array(directory / "texts.tokens.npy", self.tokens)
        save_array(directory / "texts.offsets.npy", self.offsets)
        save_array(directory / "texts.known.npy", self.known)
        save_array(directory / "texts.times.npy", self.times)

    @classmethod
    def load(cls, translation: TranslationModel, directory: Path) -> Self:
        arrays = (load_array(directory / f"texts.{name}.npy") for name in ("tokens", "offsets", "known", "times"))
        return cls(translation, Postings.load(directory), *arrays)

    def only(self, keep: NDArray[np.bool_]) -> TokenizedTexts:
        """Some of the passages, as they were tokenised, with the terms that they contain."""
        lengths = np.diff(self.offsets)
        kept = np.repeat(keep, lengths)
        rows, ids = np.unique(self.tokens[kept], return_inverse=True)
        terms = [self.postings.terms[row] for row in rows.tolist()]
        return TokenizedTexts(terms, ids.astype(np.int32), np.append(0, np.cumsum(lengths[keep])))


class QueryTable:
    """The translation probabilities of a query's words, one row a word, one column a term t that matches any of them.

    ``forward`` is P(w | t), ``both`` is g(w, t), ``shares`` is P(t | w) n(w, q) / |q|, and ``reverse`` the sum of
    ``shares`` over w.
    ``columns`` has the column of each term of the translation model and, after *unknown*, of the verbatim terms; the
    first column is that of all terms that match nothing.
    """

    def __init__(
        self, translation: TranslationModel, query: QueryStatistics, collection: CollectionStatistics | None = None
    ) -> None:
        background = collection.background if collection else translation.background
        self.odds = background.of(query)
        self.idf = collection.idf(query) if collection else np.zeros(len(query.words), np.float32)
        self.mean_length, self.mean_document = (
            (collection.mean_length, collection.mean_document) if collection else (1.0, 1.0)
        )
        self.each: Floats = query.times / max(1.0, query.length)
        number_of = {term: number for number, term in enumerate(query.verbatim_terms, translation.unknown + 1)}
        pairs = [np.zeros((4, 0))]
        for row, number in enumerate(query.numbers.tolist()):
            translated = number != len(translation.query_words)
            if translated or row not in query.verbatim:
                found = translation.translations(number)
                pairs.append(np.stack([np.full(len(found[0]), row), *found]))
            if row in query.verbatim:
                column = number_of[query.verbatim[row]]
                pairs.append(np.asarray([[row], [column], [1.0], [_VERBATIM if translated else 1.0]]))
        of_words, of_terms, forward, reverse = np.concatenate(pairs, axis=1)
        words = of_words.astype(np.int64)
        numbers, column_of = np.unique(of_terms.astype(np.int64), return_inverse=True)
        self.columns = np.zeros(translation.unknown + 1 + len(number_of), np.int32)
        self.columns[numbers] = np.arange(1, len(numbers) + 1)
        self.forward, self.shares = np.zeros((2, len(query.words), len(numbers) + 1), np.float32)
        self.forward[words, column_of + 1] = forward
        self.shares[words, column_of + 1] = reverse * self.each[words]
        self.reverse: Floats = self.shares.sum(axis=0)
        both = np.sqrt(self.forward * self.shares)
        self.both: Floats = both / np.maximum(both.sum(axis=1, keepdims=True), 1e-9)
        self.document_odds = np.zeros(len(numbers) + 1, np.float32)
        self.document_odds[1:] = background.document_odds[np.minimum(numbers, translation.unknown)]
        self.terms = numbers

    def bm25(self, frequencies: Floats, lengths: Floats, mean_length: float) -> Floats:
        """The summand of each word of the query (a row) in bm25(q, d) of each text (a column)."""
        saturated = frequencies * (_K + 1) / (frequencies + _K * (1 - _B + _B * lengths / mean_length))
        return ((self.each * self.idf)[:, None] * saturated).astype(np.float32)


def match(table: QueryTable, words: Numbers, starts: Numbers) -> MatchStatistics:
    """The statistics of a query and texts: ``words`` of all texts, and where each text starts among them."""
    columns = table.columns[words]
    counts = _sums(table.forward[:, columns], starts)
    frequencies = _sums(table.both[:, columns], starts)
    lengths = np.diff(starts).astype(np.float32)
    gains = np.log1p(table.odds[:, None] * counts / np.maximum(1, lengths))
    reverse = np.log1p(table.document_odds[columns] * table.reverse[columns])
    forward = gains * table.each[:, None]
    return MatchStatistics(forward.T, counts.T, frequencies.T, _sums(reverse[None], starts)[0], lengths)


def _sums(values: Floats, starts: Numbers) -> Floats:
    """Sums over runs of columns; 0 where a run is empty."""
    padded = np.concatenate([values, np.zeros((len(values), 1), values.dtype)], axis=1)
    sums = np.add.reduceat(padded, starts[:-1], axis=1) if len(starts) > 1 else values[:, :0]
    sums[:, np.diff(starts) == 0] = 0
    return sums


def _with_unknown(postings: Postings, counts: Ids) -> Postings:
    """With a list of the unknown words, ``counts`` in each text: the first list, because no term sorts before it."""
    unknown = StringTable.of([_UNKNOWN])
    terms = StringTable(
        np.append(unknown.data, postings.terms.data), np.append(0, postings.terms.offsets + unknown.offsets[-1])
    )
    documents = np.flatnonzero(counts).astype(np.int32)
    return Postings(
        terms,
        np.append(0, postings.offsets + len(documents)),
        np.concatenate([documents, postings.documents]),
        np.concatenate([counts[documents], postings.frequencies]),
        postings.lengths + counts,
    )

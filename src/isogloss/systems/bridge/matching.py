"""Match statistics: how likely a query and indexed passages are as translations of each other.

n(w, q) counts word w in the query q, n(t, p) term t in the passage p. P(w | t), P(t | w) and lambda are those of the
translation model (:mod:`isogloss.translation.model`), P(w) and P(t) its background probabilities.

    forward(q, p) = 1/|q| sum_w n(w, q) ln(1 + (1 - lambda) / (lambda P(w)) sum_t P(w | t) n(t, p) / |p|)
    reverse(q, p) =       sum_t n(t, p) ln(1 + (1 - lambda) / (lambda P(t)) sum_w P(t | w) n(w, q) / |q|)

``forward`` is by how much the passage raises the log-likelihood of the query, per query word; ``reverse`` is by how
much the query raises the log-likelihood of the passage. Both are 0 where nothing matches. A query word that the
translation model does not know but some document contains (a name, a number) is a *verbatim* term: it matches only
itself.

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
from isogloss.translation.model import Floats, Ids, Numbers, QueryStatistics, TranslationModel

_UNKNOWN = "\0"  # the term of the inverted list of unknown words: no word has such a letter
_COMMON = 4 / 0.02  # (1 - lambda) / (lambda P(w)) of a word that is every fiftieth
_UNLIKELY = 0.01  # P(w | t)


class MatchStatistics(NamedTuple):
    """The statistics of a query and some texts, one row a text."""

    forward: Floats
    """The summand of each query word (a column) in forward(q, p)."""
    counts: Floats
    """sum_t P(w | t) n(t, p) of each query word (a column)."""
    reverse: Floats
    lengths: Floats


class PassageIndex:
    """Tokenised passages, with inverted lists.

    ``tokens`` are the passages one after the other, as rows of the inverted lists' terms; ``known`` has the translation
    model's number of each of these terms.
    """

    def __init__(
        self, translation: TranslationModel, postings: Postings, tokens: Ids, offsets: Numbers, known: Ids
    ) -> None:
        self.translation, self.postings = translation, postings
        self.tokens, self.offsets, self.known = tokens, offsets, known
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
        return cls(translation, postings, rows[texts.ids] if len(rows) else texts.ids, texts.offsets, known)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def has(self, term: str) -> bool:
        """Whether any passage contains a term."""
        return self.postings.terms.find(term) is not None

    def forward(self, query: QueryStatistics, pruned: bool = False) -> Floats:
        """forward(q, p) of every passage, through the inverted lists.

        ``pruned``: without the most common words and the least likely translations, four times as fast. The final
        results of 600 dev queries of two sets were the same.
        """
        total = np.zeros(len(self), np.float32)
        found = (self.postings.terms.find(term) for term in query.verbatim_terms)
        verbatim = np.asarray([row for row in found if row is not None], np.int64)
        shares = query.times / max(1.0, query.length)
        odds = self.translation.odds_of(query)
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

        Terms in the rows ``verbatim`` translate no other word. The list of unknown words contains those of them that
        are unknown, so their counts are subtracted.
        """
        if position in query.verbatim:
            posting = self.postings[query.verbatim[position]]
            return posting.documents, posting.frequencies.astype(np.float32)
        numbers, probabilities, _ = self.translation.translations(int(query.numbers[position]))
        rows = self._rows[numbers]
        used = (rows >= 0) & (probabilities > least)
        if len(verbatim):
            used &= ~np.isin(rows, verbatim)
            unknown = verbatim[self.known[verbatim] == self.translation.unknown]
            of_unknown = probabilities[numbers == self.translation.unknown].sum()
            rows, used = np.append(rows, unknown), np.append(used, np.full(len(unknown), of_unknown > least))
            probabilities = np.append(probabilities, np.full(len(unknown), -of_unknown))
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

    def match(self, query: QueryStatistics, passages: Numbers) -> MatchStatistics:
        """All statistics of some passages."""
        return match(self.translation, query, *self.words_of(passages, query))

    def save(self, directory: Path) -> None:
        """Write all but the translation model into a directory."""
        self.postings.save(directory)
        save_array(directory / "texts.tokens.npy", self.tokens)
        save_array(directory / "texts.offsets.npy", self.offsets)
        save_array(directory / "texts.known.npy", self.known)

    @classmethod
    def load(cls, translation: TranslationModel, directory: Path) -> Self:
        arrays = (load_array(directory / f"texts.{name}.npy") for name in ("tokens", "offsets", "known"))
        return cls(translation, Postings.load(directory), *arrays)

    def only(self, keep: NDArray[np.bool_]) -> TokenizedTexts:
        """Some of the passages, as they were tokenised, with the terms that they contain."""
        lengths = np.diff(self.offsets)
        kept = np.repeat(keep, lengths)
        rows, ids = np.unique(self.tokens[kept], return_inverse=True)
        terms = [self.postings.terms[row] for row in rows.tolist()]
        return TokenizedTexts(terms, ids.astype(np.int32), np.append(0, np.cumsum(lengths[keep])))


class QueryTable:
    """The translation probabilities of a query's words, one row a word, one column a term t that documents can have.

    ``forward`` is P(w | t), ``shares`` is P(t | w) n(w, q) / |q|, and ``reverse`` the sum of ``shares`` over w.
    """

    def __init__(self, translation: TranslationModel, query: QueryStatistics) -> None:
        number_of = {term: number for number, term in enumerate(query.verbatim_terms, translation.unknown + 1)}
        width = translation.unknown + 1 + len(number_of)
        self.odds = translation.odds_of(query)
        self.forward = np.zeros((len(query.words), width), np.float32)
        self.shares = np.zeros((len(query.words), width), np.float32)
        each = query.times / max(1.0, query.length)
        for row, number in enumerate(query.numbers.tolist()):
            if row in query.verbatim:
                column = number_of[query.verbatim[row]]
                self.forward[row, column], self.shares[row, column] = 1.0, each[row]
                continue
            terms, forward, reverse = translation.translations(number)
            self.forward[row, terms], self.shares[row, terms] = forward, each[row] * reverse
        self.reverse = self.shares.sum(axis=0)
        rare = translation.document_odds[-1:]
        self.document_odds = np.concatenate([translation.document_odds, np.repeat(rare, len(number_of))])


def match(translation: TranslationModel, query: QueryStatistics, words: Numbers, starts: Numbers) -> MatchStatistics:
    """The statistics of a query and texts: ``words`` of all texts, and where each text starts among them."""
    table = QueryTable(translation, query)
    counts = _sums(table.forward[:, words], starts)
    lengths = np.diff(starts).astype(np.float32)
    gains = np.log1p(table.odds[:, None] * counts / np.maximum(1, lengths))
    reverse = np.log1p(table.document_odds[words] * table.reverse[words])
    forward = gains * (query.times / max(1.0, query.length))[:, None]
    return MatchStatistics(forward.T, counts.T, _sums(reverse[None], starts)[0], lengths)


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

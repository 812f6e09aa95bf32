"""Texts that a noisy channel scores: inverted lists to find the likely ones, their words to look at these closely."""

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

_UNKNOWN = "\0"  # no word has such a letter
_COMMON = 4 / 0.02  # the odds of a word that is every fiftieth
_UNLIKELY = 0.01


class MatchStatistics(NamedTuple):
    """What a query and some texts say of each other, a row a text."""

    said: Floats
    """By word of the query, too: n(w, q) / |q| times the logarithm."""
    counts: Floats
    """sum_t P(w | t) n(t, d), by word."""
    meant: Floats
    """The sum over the words of the text of ln(1 + …), not divided by their number."""
    lengths: Floats


class IndexedTexts:
    """Tokenised texts in the words of a channel. ``tokens`` are rows of the inverted lists' terms, text after text;
    ``known`` is the number that the channel has for each of these terms.
    """

    def __init__(
        self, channel: TranslationModel, postings: Postings, tokens: Ids, offsets: Numbers, known: Ids
    ) -> None:
        self.channel, self.postings = channel, postings
        self.tokens, self.offsets, self.known = tokens, offsets, known
        self._rows = np.full(channel.unknown + 1, -1, np.int64)
        self._rows[known] = np.arange(len(known))
        self._rows[channel.unknown] = -1 if (row := postings.terms.find(_UNKNOWN)) is None else row
        self._inverse_lengths = (1 / np.maximum(1, np.diff(offsets))).astype(np.float32)

    @classmethod
    def build(cls, channel: TranslationModel, texts: TokenizedTexts) -> Self:
        """Of texts as they were tokenised."""
        numbers = _matched(channel, texts.terms)
        strange = np.append(0, np.cumsum(numbers[texts.ids] == channel.unknown))[texts.offsets]
        postings = _with_unknown(Postings.build(texts), np.diff(strange).astype(np.int32))
        row_of = {term: row for row, term in enumerate(postings.terms)}
        rows = np.fromiter((row_of[term] for term in texts.terms), np.int32, len(texts.terms))
        known = np.full(len(row_of), channel.unknown, np.int32)
        known[rows] = numbers
        return cls(channel, postings, rows[texts.ids] if len(rows) else texts.ids, texts.offsets, known)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def has(self, term: str) -> bool:
        """Whether any text has a term."""
        return self.postings.terms.find(term) is not None

    def said(self, asked: QueryStatistics, rough: bool = False) -> Floats:
        """said(q, d) of every text, through the inverted lists.

        ``rough``: without the most common words and the least likely translations, four times as fast. Of 600 dev
        queries of two sets all found the same documents in the end.
        """
        total = np.zeros(len(self), np.float32)
        found = (self.postings.terms.find(term) for term in asked.verbatim_terms)
        own = np.asarray([row for row in found if row is not None], np.int64)
        shares = asked.times / max(1.0, asked.length)
        odds = self.channel.odds_of(asked)
        common = odds < _COMMON if rough else np.zeros(len(odds), bool)
        for place in np.flatnonzero(~common if not common.all() else common).tolist():
            documents, counts = self._counts(asked, place, own, _UNLIKELY if rough else 0.0)
            if len(documents):
                sums = np.bincount(documents, counts, len(self)).astype(np.float32)
                here = np.flatnonzero(sums > 0)
                total[here] += shares[place] * np.log1p(odds[place] * sums[here] * self._inverse_lengths[here])
        return total

    def _counts(self, asked: QueryStatistics, place: int, own: Numbers, least: float) -> tuple[Ids, Floats]:
        """The texts that say a word of the query, text by text of each of its translations, and how much.

        Words that the query looks for as they stand, in the rows ``own``, say no other: of the unknown ones, which the
        list of unknown words holds too, what they say there is taken back.
        """
        if place in asked.verbatim:
            posting = self.postings[asked.verbatim[place]]
            return posting.documents, posting.frequencies.astype(np.float32)
        numbers, said, _ = self.channel.translations(int(asked.numbers[place]))
        rows = self._rows[numbers]
        held = (rows >= 0) & (said > least)
        if len(own):
            held &= ~np.isin(rows, own)
            strange = own[self.known[own] == self.channel.unknown]
            said_by_unknown = said[numbers == self.channel.unknown].sum()
            rows, held = np.append(rows, strange), np.append(held, np.full(len(strange), said_by_unknown > least))
            said = np.append(said, np.full(len(strange), -said_by_unknown))
        rows, said = rows[held], said[held]
        starts = self.postings.offsets[rows]
        lengths = self.postings.offsets[rows + 1] - starts
        places = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return self.postings.documents[places], self.postings.frequencies[places] * np.repeat(said, lengths)

    def words_of(self, texts: Numbers, asked: QueryStatistics | None = None) -> tuple[Numbers, Numbers]:
        """The words of some texts in the channel's numbers, and where each text begins.

        Verbatim terms of a query have numbers after *unknown*, in the order of ``asked.verbatim_terms``.
        """
        lengths = self.offsets[texts + 1] - self.offsets[texts]
        starts = np.append(0, np.cumsum(lengths))
        tokens = self.tokens[np.arange(starts[-1]) + np.repeat(self.offsets[texts] - starts[:-1], lengths)]
        words = self.known[tokens].astype(np.int64)
        for place, term in enumerate(asked.verbatim_terms if asked else ()):
            row = self.postings.terms.find(term)
            if row is not None:
                words[tokens == row] = self.channel.unknown + 1 + place
        return words, starts

    def hear(self, asked: QueryStatistics, texts: Numbers) -> MatchStatistics:
        """What some texts and a query say of each other."""
        return hear(self.channel, asked, *self.words_of(texts, asked))

    def save(self, directory: Path) -> None:
        """Write all but the channel into a directory."""
        self.postings.save(directory)
        save_array(directory / "texts.tokens.npy", self.tokens)
        save_array(directory / "texts.offsets.npy", self.offsets)
        save_array(directory / "texts.known.npy", self.known)

    @classmethod
    def load(cls, channel: TranslationModel, directory: Path) -> Self:
        """Map what ``save`` wrote."""
        arrays = (load_array(directory / f"texts.{name}.npy") for name in ("tokens", "offsets", "known"))
        return cls(channel, Postings.load(directory), *arrays)

    def only(self, keep: NDArray[np.bool_]) -> TokenizedTexts:
        """Some of the texts, as they were tokenised, with the terms that these have."""
        lengths = np.diff(self.offsets)
        kept = np.repeat(keep, lengths)
        rows, ids = np.unique(self.tokens[kept], return_inverse=True)
        terms = [self.postings.terms[row] for row in rows.tolist()]
        return TokenizedTexts(terms, ids.astype(np.int32), np.append(0, np.cumsum(lengths[keep])))


class QueryTable:
    """P(w | t) of the words of a query, and sum_w P(t | w) n(w, q) / |q|, for every t that documents can have."""

    def __init__(self, channel: TranslationModel, asked: QueryStatistics) -> None:
        number_of = {term: channel.unknown + 1 + number for number, term in enumerate(asked.verbatim_terms)}
        width = channel.unknown + 1 + len(number_of)
        self.odds = channel.odds_of(asked)
        self.said = np.zeros((len(asked.words), width), np.float32)
        self.shares = np.zeros((len(asked.words), width), np.float32)
        each = asked.times / max(1.0, asked.length)
        own = {place: number_of[term] for place, term in asked.verbatim.items()}
        for place, number in enumerate(asked.numbers.tolist()):
            if place in own:
                self.said[place, own[place]], self.shares[place, own[place]] = 1.0, each[place]
                continue
            terms, said, meant = channel.translations(number)
            self.said[place, terms], self.shares[place, terms] = said, each[place] * meant
        self.meant = self.shares.sum(axis=0)
        rare = channel.document_odds[-1:]
        self.document_odds = np.concatenate([channel.document_odds, np.repeat(rare, len(number_of))])


def hear(channel: TranslationModel, asked: QueryStatistics, words: Numbers, starts: Numbers) -> MatchStatistics:
    """What a query and texts, of so many words from each start on, say of each other."""
    table = QueryTable(channel, asked)
    counts = _sums(table.said[:, words], starts)
    lengths = np.diff(starts).astype(np.float32)
    gains = np.log1p(table.odds[:, None] * counts / np.maximum(1, lengths))
    meant = np.log1p(table.document_odds[words] * table.meant[words])
    said = gains * (asked.times / max(1.0, asked.length))[:, None]
    return MatchStatistics(said.T, counts.T, _sums(meant[None], starts)[0], lengths)


def _sums(values: Floats, starts: Numbers) -> Floats:
    """Sums over runs of columns; 0 where a run is empty."""
    padded = np.concatenate([values, np.zeros((len(values), 1), values.dtype)], axis=1)
    sums = np.add.reduceat(padded, starts[:-1], axis=1) if len(starts) > 1 else values[:, :0]
    sums[:, np.diff(starts) == 0] = 0
    return sums


def _with_unknown(postings: Postings, counts: Ids) -> Postings:
    """With a list of the unknown words, so many in each text: the first, because no term sorts before it."""
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


def _matched(channel: TranslationModel, terms: list[str]) -> Ids:
    number_of = {word: number for number, word in enumerate(channel.document_words)}
    return np.fromiter((number_of.get(term, channel.unknown) for term in terms), np.int32, len(terms))

"""What ``bridge`` looks at in a document: how much it and the query say of each other, in one passage and in all.

    passage said      said(q, p)   of the passage p of d that says the query best
    document said     said(q, d)   d: all its passages
    passage meant     said(p, q)   the other way round: how much likelier the passage is for the query
    document meant    said(d, q)
    passage length    ln |p| / |q|
    document length   ln |d| / |q|
    vectors           the cosine of the vectors of q and p, the sums of those of their words and phrases
    pretrained        the cosine of a pretrained encoder's vectors of q and d, where one is used

Passages overlap, so most words of a document count twice in ``d``: alike for all, but for its first and last words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isogloss.nn.encoders.unit_sums import encode
from isogloss.systems.bridge.documents import Documents, Part
from isogloss.systems.bridge.texts import MatchStatistics
from isogloss.text.ids import TextIds
from isogloss.translation.model import Floats, Ids, Numbers, QueryStatistics

# Two words that stand side by side and have a vector of their own: what neither says alone, and in which order.

_SEEN = 2  # phrases of fewer texts have no vector
_MOST = 20_000  # of a language: it bounds the size of a model


@dataclass(frozen=True)
class Phrases:
    """The phrases of a language of so many ``words``; phrase i has the number ``words`` + i after those of words.

    ``keys`` are first word times ``words`` plus second word, ascending.
    """

    words: int
    keys: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, texts: TextIds, words: int) -> Phrases:
        """Those that stand in most texts.

        >>> Phrases.of(TextIds(np.array([4, 2, 1, 4, 2], np.int32), np.array([0, 3, 5])), 10).keys.tolist()
        [42]
        """
        keys, sides = _side_by_side(texts, words)
        text = np.repeat(np.arange(len(texts)), texts.lengths)[sides]
        each = np.lexsort((text, keys))
        first = np.ones(len(each), bool)
        first[1:] = (np.diff(keys[each]) != 0) | (np.diff(text[each]) != 0)
        found, counts = np.unique(keys[each][first], return_counts=True)
        often = np.argsort(-counts, kind="stable")[:_MOST]
        return cls(words, np.sort(found[often[counts[often] >= _SEEN]]))

    def __len__(self) -> int:
        return len(self.keys)

    def places(self, texts: TextIds) -> tuple[Numbers, Ids]:
        """Where in ``texts.ids`` a phrase begins, and its number."""
        keys, sides = _side_by_side(texts, self.words)
        if not len(self.keys):
            return sides[:0], np.zeros(0, np.int32)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known: NDArray[np.bool_] = self.keys[rows] == keys
        return sides[known], (self.words + rows[known]).astype(np.int32)

    def added_to(self, texts: TextIds) -> TextIds:
        """The words of each text, and after them its phrases."""
        places, numbers = self.places(texts)
        if not len(places):
            return texts
        text = np.repeat(np.arange(len(texts)), texts.lengths)
        order = np.argsort(np.concatenate([text, text[places]]), kind="stable")
        begins = np.bincount(places, minlength=len(texts.ids))
        return TextIds(
            np.concatenate([texts.ids, numbers])[order],
            texts.offsets + np.append(0, np.cumsum(begins))[texts.offsets],
        )


def _side_by_side(texts: TextIds, words: int) -> tuple[Numbers, Numbers]:
    """The keys of any two words that stand side by side in a text, and the place of the first."""
    last = np.zeros(len(texts.ids), bool)
    last[texts.offsets[1:][texts.lengths > 0] - 1] = True
    sides = np.flatnonzero(~last)
    return texts.ids[sides].astype(np.int64) * words + texts.ids[sides + 1], sides


EVIDENCE = (
    "passage said", "document said", "passage meant", "document meant", "passage length", "document length",
    "vectors", "pretrained",
)  # fmt: skip
Values = NDArray[np.float64]
_SHORTEST = 1e-6  # a shorter sum is divided by this


@dataclass(frozen=True)
class Tables:
    """Word vectors of both languages by the numbers of a channel, *unknown* last; after it those of phrases."""

    query: Floats
    document: Floats
    query_phrases: Phrases
    document_phrases: Phrases

    def of_documents(self, texts: TextIds) -> Floats:
        """The vectors of texts of the document language."""
        found: Floats = encode(self.document, self.document_phrases.added_to(texts))
        return found


@dataclass(frozen=True)
class Features:
    """One row a document and one column a kind of evidence; which passage of each is its best."""

    values: Values
    passages: Numbers


@dataclass(frozen=True)
class QueryFeatures:
    """A query as evidence is gathered for it; ``places`` has that of each of its words among those of ``asked``."""

    asked: QueryStatistics
    places: Numbers
    vector: Floats
    pretrained: Floats | None = None


def places_among(terms: Sequence[str], asked: QueryStatistics) -> Numbers:
    """The place of each term of a query among its distinct ones."""
    place_of = {term: place for place, term in enumerate(asked.words)}
    return np.fromiter((place_of[term] for term in terms), np.int64, len(terms))


def question_rows(asked: QueryStatistics, places: Numbers, tables: Tables) -> Floats:
    """What each distinct word gives to the sum that is the vector of a query: its own rows, and half of its phrases'.

    Words that stand for themselves have no vector.
    """
    places = places[~np.isin(places, list(asked.verbatim))]
    text = TextIds(asked.numbers[places].astype(np.int32), np.asarray([0, len(places)], np.int64))
    begins, phrases = tables.query_phrases.places(text)
    rows = np.zeros((len(asked.words), tables.query.shape[1]), np.float32)
    np.add.at(rows, places, tables.query[text.ids])
    for words in (places[begins], places[begins + 1]):
        np.add.at(rows, words, tables.query[phrases] / 2)
    return rows


def question_vector(asked: QueryStatistics, places: Numbers, tables: Tables) -> Floats:
    """The vector of a query, of length 1; 0 where no word has one."""
    total: Floats = question_rows(asked, places, tables).sum(axis=0)
    return total / max(float(np.linalg.norm(total)), _SHORTEST)


def gather(question: QueryFeatures, documents: Documents, rows: Numbers, tables: Tables) -> Features:
    """The evidence of some documents."""
    values = np.zeros((len(rows), len(EVIDENCE)))
    passages = np.zeros(len(rows), np.int64)
    for part, part_rows, which in documents.split(rows):
        values[which], passages[which] = _of_part(question, part, part_rows, tables)
    return Features(values, passages)


def _of_part(question: QueryFeatures, part: Part, rows: Numbers, tables: Tables) -> tuple[Values, Numbers]:
    asked, found = question.asked, part.passages_of(rows)
    heard = part.texts.hear(asked, found.numbers)
    said = heard.said.sum(axis=1)
    best = _first_best(said, found.starts)
    whole = add_up(heard, found.starts)
    length = max(1.0, asked.length)
    odds = part.texts.channel.odds_of(asked)
    gains = np.log1p(odds * whole.counts / np.maximum(1, whole.lengths)[:, None])
    values = np.zeros((len(rows), len(EVIDENCE)))
    values[:, 0] = said[best]
    values[:, 1] = (gains * (asked.times / length)).sum(axis=1)
    values[:, 2] = heard.meant[best] / np.maximum(1, heard.lengths[best])
    values[:, 3] = whole.meant / np.maximum(1, whole.lengths)
    values[:, 4] = np.log(np.maximum(1, heard.lengths[best]) / length)
    values[:, 5] = np.log(np.maximum(1, whole.lengths) / length)
    words, starts = part.texts.words_of(found.numbers[best])
    values[:, 6] = tables.of_documents(TextIds(words.astype(np.int32), starts)) @ question.vector
    if question.pretrained is not None and part.vectors is not None:
        values[:, 7] = part.vectors[rows] @ question.pretrained
    return values, best - found.starts[:-1]


def add_up(heard: MatchStatistics, starts: Numbers) -> MatchStatistics:
    """Of documents what was heard of their passages; ``said`` is not a sum and is left as it is."""
    firsts = starts[:-1]
    return heard._replace(
        counts=np.add.reduceat(heard.counts, firsts, axis=0),
        meant=np.add.reduceat(heard.meant, firsts),
        lengths=np.add.reduceat(heard.lengths, firsts),
    )


def _first_best(scores: Floats, starts: Numbers) -> Numbers:
    """The place of the first of the best in each run."""
    best = np.maximum.reduceat(scores, starts[:-1])
    is_best = np.flatnonzero(scores == np.repeat(best, np.diff(starts)))
    return is_best[np.searchsorted(is_best, starts[:-1])]

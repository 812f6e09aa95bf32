"""A score word by word of the query: how much each made, and through which words of the document.

    q.d = sum_i A_i.d + rest,   A_i.d = sum_j A_i.B_j + what no word of the document made

A_i is the share of query word i in the query's vector q, B_j that of word j in the document's vector d (see
``models.attribution``). A word is listed with the score A_i.d and the words j whose A_i.B_j have most of it. The lines
always add up to the score: what is no word's stands in a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.nn.attribution import Groups, shapley_shares
from isogloss.storage.strings import StringTable
from isogloss.systems.base import Contribution
from isogloss.text.passages import Span
from isogloss.text.tokenizer import token_spans, tokenize

NO_WORD = "(no word in particular)"
_NAMED = 3  # words of the document, for each word of the query
_MOST_WORDS = 16  # of the query whose pairs are looked for: a query may be a whole document
_NOTHING = 1e-6

Doubles = NDArray[np.float64]
Products = Callable[[Doubles], tuple[list[str], Doubles]]
"""Directions, a row each, to the words of a document and the products of each word's share with each direction."""


def read_words(text: str, known: StringTable, longest: int) -> tuple[list[str], list[int]]:
    """The known ones among the first ``longest`` words of a text (0: of all), as an encoder reads them; their rows."""
    found = [(word, known.find(word)) for word in tokenize(text)[: longest or None]]
    return [word for word, row in found if row is not None], [row for _, row in found if row is not None]


def sum_by_word(words: Sequence[str], values: NDArray[np.floating]) -> tuple[list[str], Doubles]:
    """Each word once, with the sum of its rows."""
    place = {word: number for number, word in enumerate(dict.fromkeys(words))}
    sums = np.zeros((len(place), *values.shape[1:]))
    np.add.at(sums, [place[word] for word in words], values)
    return list(place), sums


def explain_pairs(
    words: Sequence[str], shares: Doubles, document: NDArray[np.floating], score: float, products: Products
) -> list[Contribution]:
    """A line for each word of a query, given their shares and the vector of a document; best first."""
    totals = shares @ np.asarray(document, dtype=np.float64)
    chosen = np.argsort(-np.abs(totals), kind="stable")[:_MOST_WORDS]
    names, pairs = products(shares[chosen])
    met: list[tuple[str, ...]] = [()] * len(words)
    for number, line in zip(chosen.tolist(), pairs, strict=True):
        met[number] = best_words(names, line, totals[number])
    lines = [Contribution(*each) for each in zip(words, met, totals.tolist(), strict=True)]
    return tidied([*lines, Contribution(NO_WORD, (), score - totals.sum())])


def best_words(names: Sequence[str], gains: Doubles, total: float, above: float = 0.0) -> tuple[str, ...]:
    """The words that have most of a word's total, whatever its sign, each with more than ``above``."""
    along = gains * np.sign(total)
    best = np.argsort(-along, kind="stable")[:_NAMED].tolist()
    return tuple(names[i] for i in best if along[i] > above)


def tidied(lines: Sequence[Contribution]) -> list[Contribution]:
    """The lines that say something, best first."""
    said = [line._replace(score=float(line.score)) for line in lines if abs(line.score) > _NOTHING]
    return sorted(said, key=lambda line: -line.score)


def merged(lines: Sequence[Contribution]) -> list[Contribution]:
    """One line a query word, with all document words, those that gave most first; best first."""
    found: dict[str, Contribution] = {}
    for line in sorted(lines, key=lambda line: -line.score):
        old = found.get(line.query_word, Contribution(line.query_word, (), 0.0))
        words = tuple(dict.fromkeys(old.document_words + line.document_words))
        found[line.query_word] = Contribution(line.query_word, words, old.score + line.score)
    return sorted(found.values(), key=lambda line: -line.score)


# A score that no formula takes apart, word by word of the query: found out by leaving words out of both texts.
#
#     score(q, d) = score({}, d) + sum_i s_i
#
# s_i is Shapley's share of word i of the query (``models.shapley``); what is scored without any word is no word's. A
# word is listed with the words j of the document that it needs: those without which it would add less,
#
#     (v(q, d) - v(q - i, d)) - (v(q, d - j) - v(q - i, d - j)),   v a score of texts with words left out.
#
# All occurrences of a word are left out together; of a query with many words neighbours are left out together, and
# have one line. Whatever can score texts can be explained like this, at the price of scoring a few hundred.

MOST_LINES = 24  # of a query; longer ones are taken in stretches
_MOST_GROUPS = 64  # of words of a query that are scored to share the score
_MOST_NAMING = 8  # words of a query that are listed with words of the document: those with the largest shares
_MOST_LEFT_OUT = 24  # of a document that are left out one by one,
_STRETCHES = 32  # after so many stretches of it have shown where they are
_NEEDED = 0.01  # of a word's share, for another word to be named with it

ScoreTexts = Callable[[Sequence[str], Sequence[str]], NDArray[np.floating]]
"""Queries and documents to the score of each query (a row) with each document (a column)."""


class CutText(NamedTuple):
    """A text of which words can be left out: their names, and where each stands."""

    text: str
    names: list[str]
    places: list[list[Span]]

    @classmethod
    def of(cls, text: str, known: Callable[[str], bool] | None = None, longest: int = 0) -> CutText:
        """The first ``longest`` words of a text (0: all), of which the known ones can be left out."""
        spans = token_spans(text)[: longest or None]
        places: dict[str, list[Span]] = {}
        for begin, end, word in spans:
            if known is None or known(word):
                places.setdefault(word, []).append((begin, end))
        kept = text[: spans[-1][1]] if longest and spans else text
        return cls(kept, list(places), list(places.values()))

    def in_stretches(self, most: int) -> CutText:
        """The same, with neighbours taken together so that there are no more than so many to leave out."""
        size = max(1, -(-len(self.names) // most))
        parts = [slice(start, start + size) for start in range(0, len(self.names), size)]
        places = [[place for own in self.places[part] for place in own] for part in parts]
        return CutText(self.text, [" ".join(self.names[part]) for part in parts], places)

    def without(self, left_out: Collection[int]) -> str:
        """The text with a space in the place of some words.

        >>> CutText.of("The sea, the wind").without([0])
        '  sea,   wind'
        """
        pieces, position = [], 0
        for begin, end in sorted(place for number in left_out for place in self.places[number]):
            if begin >= position:
                pieces.append(self.text[position:begin])
                position = end
        return " ".join([*pieces, self.text[position:]])


def shares_by_leaving_out(
    query: CutText, scores_without: Callable[[Sequence[list[int]]], NDArray[np.floating]], most: int = _MOST_GROUPS
) -> Doubles:
    """The share of each word of a query, given the scores without some groups of them; about ``most`` are scored."""

    def value(groups: Groups) -> Doubles:
        return np.asarray(scores_without([np.flatnonzero(~group).tolist() for group in groups]), dtype=np.float64)

    return shapley_shares(len(query.names), value, most)


def explain_by_leaving_out(query: CutText, document: CutText, scores: ScoreTexts, score: float) -> list[Contribution]:
    """A line for each word of a query, best first; they add up to the score that the document was found with."""
    query = query.in_stretches(MOST_LINES)
    alone = [document.text]
    shares = shares_by_leaving_out(query, lambda groups: scores([*map(query.without, groups)], alone)[:, 0])
    needed: list[tuple[str, ...]] = [()] * len(shares)
    chosen = np.argsort(-np.abs(shares), kind="stable")[:_MOST_NAMING].tolist()
    words = _telling_words(query, document, scores)
    if chosen and words:
        gains = _gains(query, chosen, document, words, scores)
        names = [document.names[number] for number in words]
        for number, line in zip(chosen, gains, strict=True):
            needed[number] = best_words(names, line, shares[number], _NEEDED * abs(shares[number]))
    lines = [Contribution(*each) for each in zip(query.names, needed, shares.tolist(), strict=True)]
    return tidied([*lines, Contribution(NO_WORD, (), score - float(shares.sum()))])


def _telling_words(query: CutText, document: CutText, scores: ScoreTexts) -> list[int]:
    """The numbers of the document's words that the score depends on most: by stretches, where there are many words."""
    numbers = list(range(len(document.names)))
    if len(numbers) <= _MOST_LEFT_OUT:
        return numbers
    size = -(-len(numbers) // _STRETCHES)
    stretches = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    found = np.asarray(scores([query.text], [document.text, *map(document.without, stretches)]))[0]
    best = np.argsort(-np.abs(found[1:] - found[0]), kind="stable").tolist()
    return [number for place in best for number in stretches[place]][: max(size, _MOST_LEFT_OUT)]


def _gains(
    query: CutText, chosen: Sequence[int], document: CutText, words: Sequence[int], scores: ScoreTexts
) -> Doubles:
    """How much less each chosen word of the query (a row) would add without each word of the document (a column)."""
    queries = [query.text, *(query.without([number]) for number in chosen)]
    documents = [document.text, *(document.without([number]) for number in words)]
    found = np.asarray(scores(queries, documents), dtype=np.float64)
    adds = found[:1] - found[1:]  # in the whole document, then without each of its words
    gains: Doubles = adds[:, :1] - adds[:, 1:]
    return gains

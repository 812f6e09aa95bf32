r"""A score that no formula takes apart, word by word of the query: found out by leaving words out of both texts.

    score(q, d) = score({}, d) + sum_i s_i

s_i is Shapley's share of word i of the query (``models.shapley``); what is scored without any word is no word's. A word
is listed with the words j of the document that it needs: those without which it would add less,

    (v(q, d) - v(q - i, d)) - (v(q, d - j) - v(q - i, d - j)),   v a score of texts with words left out.

All occurrences of a word are left out together; of a query with many words neighbours are left out together, and have
one line. Whatever can score texts can be explained like this, at the price of scoring a few hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.evaluation.system import Contribution
from isogloss.models.shapley import Groups, shapley_shares
from isogloss.systems.explaining import NO_WORD, Doubles, best_words, tidied
from isogloss.text.passages import Span
from isogloss.text.tokenizer import token_spans

MOST_LINES = 24  # of a query; longer ones are taken in stretches
_MOST_GROUPS = 64  # of words of a query that are scored to share the score
_MOST_NAMING = 8  # words of a query that are listed with words of the document: those with the largest shares
_MOST_WORDS = 24  # of a document that are left out one by one,
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
    if len(numbers) <= _MOST_WORDS:
        return numbers
    size = -(-len(numbers) // _STRETCHES)
    stretches = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    found = np.asarray(scores([query.text], [document.text, *map(document.without, stretches)]))[0]
    best = np.argsort(-np.abs(found[1:] - found[0]), kind="stable").tolist()
    return [number for place in best for number in stretches[place]][: max(size, _MOST_WORDS)]


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

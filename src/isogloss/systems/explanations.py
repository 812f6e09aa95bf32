"""Explanations of scores: what each word of the query contributes, and which words of the document it matches.

Two methods, whose lines add up to the score; what belongs to no word is a line of its own.

*Pairs of words*, for vectors. A_i is the share of query word i in the query's vector q, B_j that of word j in the
document's vector d. Word i is listed with A_i.d and the words j with the largest A_i.B_j:

    q.d = sum_i A_i.d + rest,   A_i.d = sum_j A_i.B_j + rest_i

*Leaving out*, for any system that can score texts, at the price of scoring a few hundred:

    score(q, d) = score({}, d) + sum_i s_i

s_i is the Shapley value of query word i (:mod:`isogloss.systems.shapley`). It is listed with the document words j that
it needs, without which it would contribute less, v being the score of texts with words left out:

    (v(q, d) - v(q - i, d)) - (v(q, d - j) - v(q - i, d - j))

All occurrences of a word are left out together; in long queries neighbouring words are left out together, and have one
line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.strings import StringTable
from isogloss.systems.base import Contribution
from isogloss.systems.shapley import Groups, shapley_shares
from isogloss.text.passages import Span
from isogloss.text.tokenizer import token_spans, tokenize

NO_WORD = "(no word in particular)"
MOST_LINES = 24  # of an explanation that leaves words out; the words of longer queries are grouped
_NAMED = 3  # document words listed with a query word
_MOST_WORDS = 16  # query words that are listed with document words: a query may be a whole document
_MOST_GROUPS = 64  # sets of query words that are scored for the Shapley values
_MOST_NAMING = 8  # query words, those with the largest shares, for which document words are left out
_MOST_LEFT_OUT = 24  # document words that are left out one by one,
_CHUNKS = 32  # after so many chunks of the document have been left out to find them
_NEEDED = 0.01  # of a query word's share, for a document word to be listed
_NOTHING = 1e-6

Doubles = NDArray[np.float64]
Products = Callable[[Doubles], tuple[list[str], Doubles]]
"""From directions, one a row, to the words of a document and the products of each word's share with each direction."""
ScoreTexts = Callable[[Sequence[str], Sequence[str]], NDArray[np.floating]]
"""The score of each query (a row) with each document (a column)."""


def read_words(text: str, known: StringTable, longest: int) -> tuple[list[str], list[int]]:
    """The known words among the first ``longest`` of a text (0: all), as an encoder reads them, and their rows."""
    found = [(word, known.find(word)) for word in tokenize(text)[: longest or None]]
    return [word for word, row in found if row is not None], [row for _, row in found if row is not None]


def sum_by_word(words: Sequence[str], values: NDArray[np.floating]) -> tuple[list[str], Doubles]:
    """Each word once, with the sum of its rows."""
    number_of = {word: number for number, word in enumerate(dict.fromkeys(words))}
    sums = np.zeros((len(number_of), *values.shape[1:]))
    np.add.at(sums, [number_of[word] for word in words], values)
    return list(number_of), sums


def explain_pairs(
    words: Sequence[str], shares: Doubles, document: NDArray[np.floating], score: float, products: Products
) -> list[Contribution]:
    """A line for each word of a query, best first, from the shares A and the vector of a document."""
    totals = shares @ np.asarray(document, dtype=np.float64)
    chosen = np.argsort(-np.abs(totals), kind="stable")[:_MOST_WORDS]
    names, pairs = products(shares[chosen])
    matched: list[tuple[str, ...]] = [()] * len(words)
    for number, line in zip(chosen.tolist(), pairs, strict=True):
        matched[number] = best_words(names, line, totals[number])
    lines = [Contribution(*each) for each in zip(words, matched, totals.tolist(), strict=True)]
    return tidied([*lines, Contribution(NO_WORD, (), score - totals.sum())])


def best_words(names: Sequence[str], gains: Doubles, total: float, above: float = 0.0) -> tuple[str, ...]:
    """The words with the largest gains of the sign of ``total``, each larger than ``above``."""
    along = gains * np.sign(total)
    best = np.argsort(-along, kind="stable")[:_NAMED].tolist()
    return tuple(names[i] for i in best if along[i] > above)


def tidied(lines: Sequence[Contribution]) -> list[Contribution]:
    """The lines that are not 0, best first."""
    kept = [line._replace(score=float(line.score)) for line in lines if abs(line.score) > _NOTHING]
    return sorted(kept, key=lambda line: -line.score)


def merged(lines: Sequence[Contribution]) -> list[Contribution]:
    """One line a query word, with all its document words, the most important first; best first."""
    found: dict[str, Contribution] = {}
    for line in sorted(lines, key=lambda line: -line.score):
        old = found.get(line.query_word, Contribution(line.query_word, (), 0.0))
        words = tuple(dict.fromkeys(old.document_words + line.document_words))
        found[line.query_word] = Contribution(line.query_word, words, old.score + line.score)
    return sorted(found.values(), key=lambda line: -line.score)


class CutText(NamedTuple):
    """A text whose words can be left out: the distinct words, and the spans of each."""

    text: str
    names: list[str]
    spans: list[list[Span]]

    @classmethod
    def of(cls, text: str, known: Callable[[str], bool] | None = None, longest: int = 0) -> CutText:
        """The first ``longest`` words of a text (0: all), of which the known ones can be left out."""
        tokens = token_spans(text)[: longest or None]
        spans: dict[str, list[Span]] = {}
        for begin, end, word in tokens:
            if known is None or known(word):
                spans.setdefault(word, []).append((begin, end))
        kept = text[: tokens[-1][1]] if longest and tokens else text
        return cls(kept, list(spans), list(spans.values()))

    def in_groups(self, most: int) -> CutText:
        """The same text with neighbouring words grouped, so that there are at most ``most`` to leave out."""
        size = max(1, -(-len(self.names) // most))
        parts = [slice(start, start + size) for start in range(0, len(self.names), size)]
        spans = [[span for own in self.spans[part] for span in own] for part in parts]
        return CutText(self.text, [" ".join(self.names[part]) for part in parts], spans)

    def without(self, left_out: Collection[int]) -> str:
        """The text with a space instead of some words.

        >>> CutText.of("The sea, the wind").without([0])
        '  sea,   wind'
        """
        kept, position = [], 0
        for begin, end in sorted(span for number in left_out for span in self.spans[number]):
            if begin >= position:
                kept.append(self.text[position:begin])
                position = end
        return " ".join([*kept, self.text[position:]])


def shares_by_leaving_out(
    query: CutText, scores_without: Callable[[Sequence[list[int]]], NDArray[np.floating]], most: int = _MOST_GROUPS
) -> Doubles:
    """The Shapley value of each word of a query, from the scores without some sets of words; about ``most`` sets."""

    def value(groups: Groups) -> Doubles:
        return np.asarray(scores_without([np.flatnonzero(~group).tolist() for group in groups]), dtype=np.float64)

    return shapley_shares(len(query.names), value, most)


def explain_by_leaving_out(query: CutText, document: CutText, scores: ScoreTexts, score: float) -> list[Contribution]:
    """A line for each word of a query, best first; they add up to ``score``."""
    query = query.in_groups(MOST_LINES)
    alone = [document.text]
    shares = shares_by_leaving_out(query, lambda groups: scores([*map(query.without, groups)], alone)[:, 0])
    needed: list[tuple[str, ...]] = [()] * len(shares)
    chosen = np.argsort(-np.abs(shares), kind="stable")[:_MOST_NAMING].tolist()
    words = _important_words(query, document, scores)
    if chosen and words:
        gains = _gains(query, chosen, document, words, scores)
        names = [document.names[number] for number in words]
        for number, line in zip(chosen, gains, strict=True):
            needed[number] = best_words(names, line, shares[number], _NEEDED * abs(shares[number]))
    lines = [Contribution(*each) for each in zip(query.names, needed, shares.tolist(), strict=True)]
    return tidied([*lines, Contribution(NO_WORD, (), score - float(shares.sum()))])


def _important_words(query: CutText, document: CutText, scores: ScoreTexts) -> list[int]:
    """The numbers of the document words that the score depends on most; where there are many, those of whole chunks."""
    numbers = list(range(len(document.names)))
    if len(numbers) <= _MOST_LEFT_OUT:
        return numbers
    size = -(-len(numbers) // _CHUNKS)
    chunks = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    found = np.asarray(scores([query.text], [document.text, *map(document.without, chunks)]))[0]
    best = np.argsort(-np.abs(found[1:] - found[0]), kind="stable").tolist()
    return [number for chunk in best for number in chunks[chunk]][: max(size, _MOST_LEFT_OUT)]


def _gains(
    query: CutText, chosen: Sequence[int], document: CutText, words: Sequence[int], scores: ScoreTexts
) -> Doubles:
    """How much less each chosen query word (a row) contributes without each document word (a column)."""
    queries = [query.text, *(query.without([number]) for number in chosen)]
    documents = [document.text, *(document.without([number]) for number in words)]
    found = np.asarray(scores(queries, documents), dtype=np.float64)
    adds = found[:1] - found[1:]  # in the whole document, then without each of its words
    gains: Doubles = adds[:, :1] - adds[:, 1:]
    return gains

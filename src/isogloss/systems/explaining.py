"""A score word by word of the query: how much each made, and through which words of the document.

    q.d = sum_i A_i.d + rest,   A_i.d = sum_j A_i.B_j + what no word of the document made

A_i is the share of query word i in the query's vector q, B_j that of word j in the document's vector d (see
``models.attribution``). A word is listed with the score A_i.d and the words j whose A_i.B_j have most of it. The lines
always add up to the score: what is no word's stands in a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.base.strings import StringTable
from isogloss.evaluation.system import Contribution
from isogloss.text.tokenizer import tokenize

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

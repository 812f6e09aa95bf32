r"""A noisy channel between two languages: how likely a text of one says what a text of the other says, word by word.

    P(q | d) = prod_w [lambda P(w) + (1 - lambda) sum_t P(w | t) n(t, d) / |d|]^n(w, q)
    P(d | q) = prod_t [lambda P(t) + (1 - lambda) sum_w P(t | w) n(w, q) / |q|]^n(t, d)

P(w | t) and P(t | w) are learned from pairs of texts that say the same (:mod:`isogloss.lexical.channel_learning`). What
is used of them is how much likelier a text becomes by the other, in logarithms, a word:

    said(q, d) = 1/|q| sum_w n(w, q) ln(1 + (1 - lambda) / (lambda P(w)) sum_t P(w | t) n(t, d) / |d|)

0 where nothing matches. All words that were hardly ever seen in learning are one word, *unknown*: what is rare in one
language is mostly rare in the other, and P(unknown | unknown) is learned like any other. An unknown word of a query
that the documents have as it stands (a name, a number) is a word of its own, and says itself alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.strings import StringTable

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]

LAMBDA = 0.2
_ARRAYS = ("offsets", "terms", "said", "meant", "query_counts", "document_counts")


@dataclass(frozen=True)
class Asked:
    """The distinct words of a query: how often each is said, its number, and which stand for themselves alone."""

    words: tuple[str, ...]
    times: Floats
    numbers: Numbers
    own: Mapping[int, str]
    """Place among the words to the term of the documents that it is looked for as."""

    @property
    def length(self) -> float:
        """|q|."""
        return float(self.times.sum())

    @property
    def own_terms(self) -> list[str]:
        """The terms that words are looked for as, each once: several words may stand for one."""
        return list(dict.fromkeys(self.own.values()))


class Channel:
    """P(w | t) and P(t | w) of the words of two languages, both sorted; the number after the last is *unknown*.

    The pairs of word ``w`` are at ``offsets[w]:offsets[w + 1]``: ``terms`` has the numbers of t, ``said`` P(w | t),
    ``meant`` P(t | w). Counts are how often each word stands in what was learned from.
    """

    def __init__(
        self, query_words: StringTable, document_words: StringTable, offsets: Numbers, terms: Ids,
        said: Floats, meant: Floats, query_counts: Numbers, document_counts: Numbers,
    ) -> None:  # fmt: skip
        self.query_words, self.document_words = query_words, document_words
        self.offsets, self.terms, self.said, self.meant = offsets, terms, said, meant
        self.query_counts, self.document_counts = query_counts, document_counts
        self._find = lru_cache(50_000)(query_words.find)

    @property
    def unknown(self) -> int:
        """The number of unknown words of documents."""
        return len(self.document_words)

    @cached_property
    def query_odds(self) -> Floats:
        """(1 - lambda) / (lambda P(w)) of each word of the query language."""
        return _odds(self.query_counts)

    @cached_property
    def document_odds(self) -> Floats:
        """The same of each word of the document language."""
        return _odds(self.document_counts)

    @cached_property
    def own_odds(self) -> float:
        """The same of a query word that stands for itself: it is as rare as can be."""
        return float(_odds(np.append(self.query_counts, 0))[-1])

    def ask(self, counts: Mapping[str, int], is_there: Callable[[str], bool], term_of: Mapping[str, str]) -> Asked:
        """A query by its words; ``is_there``: whether any document has a term; ``term_of`` names that of a word."""
        own, numbers = {}, []
        for place, word in enumerate(counts):
            number = self._find(word)
            if number is None and is_there(term := term_of.get(word, word)):
                own[place] = term
            numbers.append(len(self.query_words) if number is None else number)
        times = np.fromiter(counts.values(), np.float32, len(counts))
        return Asked(tuple(counts), times, np.asarray(numbers, np.int64), own)

    def translations(self, number: int) -> tuple[Ids, Floats, Floats]:
        """The numbers t of the words that a query word may stand for, P(w | t) and P(t | w)."""
        span = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return self.terms[span], self.said[span], self.meant[span]

    def odds_of(self, asked: Asked) -> Floats:
        """(1 - lambda) / (lambda P(w)) of the words of a query."""
        odds = self.query_odds[asked.numbers]
        odds[list(asked.own)] = self.own_odds
        return odds

    def save(self, directory: Path) -> None:
        """Write all of it into a directory."""
        self.query_words.save(directory, "query_words")
        self.document_words.save(directory, "document_words")
        for name in _ARRAYS:
            save_array(directory / f"channel.{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, directory: Path) -> Channel:
        """Map what ``save`` wrote."""
        queries, documents = (StringTable.load(directory, name) for name in ("query_words", "document_words"))
        return cls(queries, documents, *(load_array(directory / f"channel.{name}.npy") for name in _ARRAYS))


def _odds(counts: Numbers) -> Floats:
    """Of counts, each raised by one: a word that was not seen has some chance."""
    share = (counts + 1.0) / (counts.sum() + len(counts))
    odds: Floats = ((1 - LAMBDA) / (LAMBDA * share)).astype(np.float32)
    return odds

"""P(w | t): how likely a word t of an answer stands for a word w of a question, learned from pairs of both.

IBM model 1 (:mod:`isogloss.vectors.word_alignment`) without its window: questions and answers are no translations of
each other, so where a word stands says nothing. In one language each pair (q, a) is read as (a, q) too, and one model
is learned from both ("pooling", which did best in Xue, Jeon and Croft 2008). In two languages only (answer, question)
is read: the other half would speak of other words.
"""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.progress import track
from isogloss.base.strings import StringTable
from isogloss.text.batches import TokenizedTexts
from isogloss.vectors.word_alignment import Ids, Model1

_EVERYWHERE = 1_000_000  # a window that no text is longer than


class WordProbabilities:
    """P(w | t), one a row, ordered by w: rows ``offsets[i]`` to ``offsets[i + 1]`` have w = ``terms[i]``.

    ``given`` holds t as a number of ``terms``, which are in ascending order. The rows of one t add up to 1.
    ``asked`` says how often each term stands in the questions.
    """

    def __init__(
        self, terms: StringTable, offsets: NDArray[np.int64], given: Ids,
        probabilities: NDArray[np.float32], asked: NDArray[np.int64],
    ) -> None:  # fmt: skip
        self.terms = terms
        self.offsets = offsets
        self.given = given
        self.probabilities = probabilities
        self.asked = asked

    @classmethod
    def learn(
        cls, questions: TokenizedTexts, answers: TokenizedTexts, pooled: bool, iterations: int = 5,
        null: float = 0.25, minimum: float = 1e-3,
    ) -> WordProbabilities:  # fmt: skip
        """Learn from question i and answer i, for all i; what is less probable than ``minimum`` is dropped."""
        terms = sorted({*questions.terms, *answers.terms})
        sources, targets = answers, questions
        if pooled:
            questions, answers = _renumbered(questions, terms), _renumbered(answers, terms)
            sources, targets = _both(answers, questions), _both(questions, answers)
        model = Model1(sources, targets, _EVERYWHERE, null)
        for _ in track(range(iterations), "learning which words answer which"):
            model.step()
        found = model.pairs()
        kept = found.forward >= minimum
        probabilities = found.forward[kept]
        given, words = (
            _numbers(texts.terms, terms)[ids[kept]]
            for texts, ids in ((sources, found.sources), (targets, found.targets))
        )
        probabilities /= np.bincount(given, probabilities, len(terms))[given]
        order = np.lexsort((given, words))
        offsets = np.searchsorted(words[order], np.arange(len(terms) + 1))
        asked = np.bincount(_numbers(questions.terms, terms)[questions.ids], minlength=len(terms))
        return cls(StringTable.of(terms), offsets, given[order], probabilities[order].astype(np.float32), asked)

    def of_word(self, word: str) -> tuple[Ids, NDArray[np.float32]]:
        """All t that stand for a word, as numbers of ``terms``, and P(w | t) of each."""
        number = self.terms.find(word)
        span = slice(0, 0) if number is None else slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return self.given[span], self.probabilities[span]

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        self.terms.save(directory, "words")
        for name in ("offsets", "given", "probabilities", "asked"):
            save_array(directory / f"translations.{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, directory: Path) -> WordProbabilities:
        """Map what ``save`` wrote."""
        names = ("offsets", "given", "probabilities", "asked")
        arrays = (load_array(directory / f"translations.{name}.npy") for name in names)
        return cls(StringTable.load(directory, "words"), *arrays)


def _numbers(terms: list[str], among: list[str]) -> Ids:
    """Where each term stands in a sorted list that holds them all."""
    return np.fromiter((bisect_left(among, term) for term in terms), np.int32, len(terms))


def _renumbered(texts: TokenizedTexts, terms: list[str]) -> TokenizedTexts:
    """The same texts in terms of a sorted list that holds all of theirs."""
    return TokenizedTexts(terms, _numbers(texts.terms, terms)[texts.ids], texts.offsets)


def _both(first: TokenizedTexts, second: TokenizedTexts) -> TokenizedTexts:
    """One list of texts after another."""
    offsets = np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]])
    return TokenizedTexts(first.terms, np.concatenate([first.ids, second.ids]), offsets)

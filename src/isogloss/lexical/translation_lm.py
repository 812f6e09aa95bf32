"""The translation-based language model (TransLM) of Xue, Jeon and Croft 2008, Retrieval Models for Question and Answer
Archives: a document is as good as the query is likely to be said by it, in its own words or in words that stand for
them.

    P(q | D) = prod_w P(w | D)^n(w, q)
    P(w | D) = (1 - lambda) P_mx(w | D) + lambda P_ml(w | C)
    P_mx(w | D) = (1 - beta) P_ml(w | D) + beta sum_t P(w | t) P_ml(t | D)

lambda is the same for all documents (Jelinek-Mercer smoothing).

Trained on questions and answers, P(w | w) is low for many words: the answer does not repeat the question. The share
1 - beta of plain P_ml(w | D) makes up for that, as in the paper. A document word that was never trained on stands for
itself alone, so that P(w | D) adds up to 1 over all words. C, the archive, is the documents and the questions of the
training: a word of those has some chance even where no document holds it. A word that is in neither says nothing.

The score is log P(q | D) without what all documents have in common, so that it is 0 where nothing matches:

    score(q, D) = sum_w n(w, q) ln(1 + (1 - lambda) P_mx(w | D) / (lambda P_ml(w | C)))
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from isogloss.base.strings import StringTable
from isogloss.lexical.postings import Postings
from isogloss.lexical.word_probabilities import WordProbabilities
from isogloss.vectors.word_alignment import Floats


class TranslationLM:
    """Scores all documents of inverted lists.

    ``rows`` says where the terms of ``learned`` stand in the inverted lists (-1: nowhere); found out if not given.
    """

    def __init__(
        self, postings: Postings, learned: WordProbabilities, collection_weight: float, translation_weight: float,
        rows: NDArray[np.int64] | None = None,
    ) -> None:  # fmt: skip
        self.postings = postings
        self.learned = learned
        self.rows = _matched(learned.terms, postings.terms) if rows is None else rows
        self._lambda = collection_weight
        self._beta = translation_weight
        self._trained = np.zeros(len(learned.terms), dtype=bool)
        self._trained[learned.given] = True
        self._lengths = np.maximum(1, postings.lengths).astype(np.float64)
        self._archive_length = int(postings.lengths.sum()) + int(learned.asked.sum())

    def rows_in(self, postings: Postings) -> NDArray[np.int64]:
        """Where the learned terms stand in other inverted lists."""
        return _matched(self.learned.terms, postings.terms)

    def scores(self, query: Mapping[str, int]) -> NDArray[np.float32]:
        """The score of every document for the words of a query and how often it says each."""
        total = np.zeros(self.postings.document_count)
        for word, times in query.items():
            total += times * self.gains(word)
        return total.astype(np.float32)

    def gains(self, word: str) -> Floats:
        """What a word of the query adds to the score of each document."""
        background = self._lambda * self.background(word)
        if not background:
            return np.zeros(self.postings.document_count)
        return np.log1p((1 - self._lambda) / background * self.said(word))

    def best_gain(self, word: str) -> float:
        """What a word would add to the score of a document that said nothing else."""
        background = self._lambda * self.background(word)
        return float(np.log1p((1 - self._lambda) / background)) if background else 0.0

    def probabilities(self, word: str) -> Floats:
        """P(w | D) of every document."""
        return (1 - self._lambda) * self.said(word) + self._lambda * self.background(word)

    def background(self, word: str) -> float:
        """P_ml(w | C)."""
        number = self.learned.terms.find(word)
        asked = 0 if number is None else int(self.learned.asked[number])
        return (int(self.postings[word].frequencies.sum()) + asked) / max(1, self._archive_length)

    def said(self, word: str) -> Floats:
        """P_mx(w | D) of every document."""
        rows, weights = self.sources(word)
        starts = self.postings.offsets[rows]
        lengths = self.postings.offsets[rows + 1] - starts
        places = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        counts = self.postings.frequencies[places] * np.repeat(weights, lengths)
        return np.bincount(self.postings.documents[places], counts, self.postings.document_count) / self._lengths

    def sources(self, word: str) -> tuple[NDArray[np.int64], Floats]:
        """The terms of the documents that say a word, as rows of the inverted lists, and what each counts for it.

        The word itself may come twice: as such, and as a translation of itself.
        """
        given, probabilities = self.learned.of_word(word)
        rows, weights = self.rows[given], self._beta * probabilities.astype(np.float64)
        held = rows >= 0
        rows, weights = rows[held], weights[held]
        own = self.postings.terms.find(word)
        if own is None:
            return rows, weights
        number = self.learned.terms.find(word)
        trained = number is not None and self._trained[number]
        return np.append(rows, own), np.append(weights, 1 - self._beta if trained else 1.0)

    def terms_for(self, word: str, document: int | None = None) -> list[str]:
        """The terms that say a word in all documents, or in one: those that say it most first."""
        rows, weights = self.sources(word)
        counts = weights * [self._frequency(row, document) for row in rows.tolist()]
        best = rows[np.argsort(-counts, kind="stable")][: np.count_nonzero(counts)]
        return [self.postings.terms[row] for row in dict.fromkeys(best.tolist())]

    def _frequency(self, row: int, document: int | None) -> int:
        span = slice(int(self.postings.offsets[row]), int(self.postings.offsets[row + 1]))
        frequencies = self.postings.frequencies[span]
        if document is not None:
            frequencies = frequencies[self.postings.documents[span] == document]
        return int(frequencies.sum())


def _matched(terms: StringTable, held: StringTable) -> NDArray[np.int64]:
    row_of = {term: row for row, term in enumerate(held)}
    return np.fromiter((row_of.get(term, -1) for term in terms), np.int64, len(terms))

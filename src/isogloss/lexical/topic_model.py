"""Topics that questions and answers share: each topic has words of its own for questions and for answers.

After Zhang et al. 2014 (Question retrieval with high quality answers in community question answering) and Ji et al.
2012 (Question-answer topic model): a question and its answer are about the same things but say them with different
words, so both draw their topics from one distribution theta and their words from two sets of distributions:

    p(w | question i) = sum_z theta_iz phi_zw,    p(v | answer i) = sum_z theta_iz psi_zv

A word of one side thereby speaks of words of the other, also where the two sides are in different languages. With
Dirichlet priors of parameters 1 + a (theta) and 1 + b (phi, psi) the most probable parameters are found by expectation
maximisation; a round never lowers the posterior probability. n is how often a word stands in a text:

    E: g_iwz = theta_iz phi_zw / sum_z' theta_iz' phi_z'w              (answers: the same with psi)
    M: theta_iz ~ a + sum_w n_iw g_iwz + sum_v m_iv h_ivz,    phi_zw ~ b + sum_i n_iw g_iwz,    psi_zv ~ b + ...

A text that was not learned from is folded in: theta alone is fitted to its words. The paper also lets signals of an
answer's quality (votes, who wrote it) steer the topics; judgments have none, and every answer counts alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.base.progress import track
from isogloss.text.batches import TokenizedTexts

Floats = NDArray[np.float32]
_BLOCK_VALUES = 8_000_000  # words of a block times topics: what a round holds in memory at once


class Bags(NamedTuple):
    """The distinct known words of each text, as rows of a vocabulary, and how often each stands there."""

    words: NDArray[np.int32]
    counts: Floats
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, texts: TokenizedTexts, row_of: Mapping[str, int]) -> Bags:
        """Count the words of texts that the vocabulary ``row_of`` knows.

        >>> from isogloss.text.batches import tokenize_texts
        >>> Bags.of(tokenize_texts(["b a b x", "", "a"]), {"a": 0, "b": 1}).counts.tolist()
        [1.0, 2.0, 1.0]
        """
        rows = np.asarray([row_of.get(term, -1) for term in texts.terms], dtype=np.int64)
        text = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))
        words = rows[texts.ids] if len(texts.ids) else texts.ids.astype(np.int64)
        known, width = words >= 0, max(1, len(row_of))
        keys, counts = np.unique(text[known] * width + words[known], return_counts=True)
        offsets = np.searchsorted(keys, np.arange(len(texts) + 1) * width)
        return cls((keys % width).astype(np.int32), counts.astype(np.float32), offsets)


@dataclass(frozen=True)
class Topics:
    """What was learned. Rows are words, columns are topics, and each column adds up to 1."""

    question_words: Floats
    answer_words: Floats
    pseudo_count: float
    """a, by which theta is smoothed."""

    def fold_in(self, answers: Bags, rounds: int = 20) -> Floats:
        """Fit theta of answers that were not learned from, one a row; of an empty one the uniform distribution."""
        theta = _uniform(len(answers), self.answer_words.shape[1])
        for _ in range(rounds):
            counts = _expect(answers, theta, self.answer_words, None)[0]
            theta = _rows_to_one(counts + np.float32(self.pseudo_count))
        return theta


class TopicLearner:
    """Expectation maximisation over question-answer pairs; ``step`` is one round."""

    def __init__(
        self, questions: Bags, answers: Bags, sizes: tuple[int, int], topics: int,
        pseudo_counts: tuple[float, float], seed: int = 0,
    ) -> None:  # fmt: skip
        if len(questions) != len(answers):
            raise ValueError("as many answers as questions are needed")
        self._sides = (questions, answers)
        self._theta_count, self._word_count = map(np.float32, pseudo_counts)
        rng = np.random.default_rng(seed)
        self._theta = _uniform(len(questions), topics)
        self._words = [_columns_to_one(rng.gamma(1.0, size=(size, topics)).astype(np.float32)) for size in sizes]

    def step(self) -> float:
        """One round; the log posterior (up to a constant) before it."""
        posterior = self._log_prior()
        theta, learned = np.full_like(self._theta, self._theta_count), []
        for bags, words in zip(self._sides, self._words, strict=True):
            word_counts = np.full_like(words, self._word_count)
            counts, likelihood = _expect(bags, self._theta, words, word_counts)
            theta += counts
            posterior += likelihood
            learned.append(_columns_to_one(word_counts))
        self._theta, self._words = _rows_to_one(theta), learned
        return posterior

    def topics(self) -> Topics:
        """The topics as they are now."""
        return Topics(self._words[0], self._words[1], float(self._theta_count))

    def _log_prior(self) -> float:
        tiny = np.finfo(np.float32).tiny
        of_theta = float(self._theta_count) * np.log(np.maximum(self._theta, tiny)).sum(dtype=np.float64)
        of_words = sum(np.log(np.maximum(words, tiny)).sum(dtype=np.float64) for words in self._words)
        return float(of_theta + float(self._word_count) * of_words)


def learn_topics(
    questions: Bags, answers: Bags, sizes: tuple[int, int], topics: int, rounds: int,
    pseudo_counts: tuple[float, float], seed: int = 0,
) -> Topics:  # fmt: skip
    """Some rounds of :class:`TopicLearner`; ``sizes`` are those of the two vocabularies."""
    learner = TopicLearner(questions, answers, sizes, topics, pseudo_counts, seed)
    for _ in track(range(rounds), "learning topics"):
        learner.step()
    return learner.topics()


def _expect(bags: Bags, theta: Floats, words: Floats, word_counts: Floats | None) -> tuple[Floats, float]:
    """The expected topics of each text, added to ``word_counts`` word by word too; and the log likelihood."""
    expected, likelihood = np.zeros_like(theta), 0.0
    for text, first, last in _blocks(bags, theta.shape[1]):
        inside = bags.words[first:last]
        joint = words[inside]
        joint *= theta[text]
        sums = joint.sum(axis=1)
        counts = bags.counts[first:last]
        likelihood += float(np.dot(counts, np.log(sums)))
        joint *= (counts / sums)[:, None]
        _add_rows(expected, text, joint)
        if word_counts is not None:
            order = np.argsort(inside, kind="stable")
            _add_rows(word_counts, inside[order], joint[order])
    return expected, likelihood


def _blocks(bags: Bags, topics: int) -> Iterator[tuple[NDArray[np.int64], int, int]]:
    """Consecutive entries that are held in memory at once: the text of each, the first, and the one after the last."""
    text, step = np.repeat(np.arange(len(bags)), np.diff(bags.offsets)), max(1, _BLOCK_VALUES // topics)
    for first in range(0, len(text), step):
        last = min(first + step, len(text))
        yield text[first:last], first, last


def _add_rows(sums: Floats, rows: NDArray[np.integer], values: Floats) -> None:
    """Add each row of values to the row of ``sums`` it belongs to; ``rows`` ascend."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    sums[rows[starts]] += np.add.reduceat(values, starts, axis=0)


def _uniform(texts: int, topics: int) -> Floats:
    return np.full((texts, topics), 1 / topics, dtype=np.float32)


def _rows_to_one(values: Floats) -> Floats:
    return np.asarray(values / values.sum(axis=1, keepdims=True, dtype=np.float64), dtype=np.float32)


def _columns_to_one(values: Floats) -> Floats:
    return np.asarray(values / values.sum(axis=0, keepdims=True, dtype=np.float64), dtype=np.float32)

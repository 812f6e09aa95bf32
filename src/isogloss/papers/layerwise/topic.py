"""``topic``: query likelihood through topics that questions and answers share, mixed with that of a document's words.

    score(q, d) = sum_w n(w, q) ln( p(w | d) / p(w) )
    p(w | d) = m sum_z phi_zw theta_dz + (1 - m) (n(w, d) + s p(w | C)) / (|d| + s)

The second summand is query likelihood with Dirichlet smoothing, mixed in because topics alone are too coarse. p(w) is
the same for the collection as a whole; it does not change the ranking. A word of no document (the rule where the
languages differ) is scored by its topics alone, a word of no training question by the documents alone, and a word of
neither is ignored.

The topics are those of Zhang et al. 2014 (Question retrieval with high quality answers in community question answering)
and Ji et al. 2012 (Question-answer topic model). A question and its answer draw their topics from one distribution
theta, and their words from two sets of distributions, so that words of one side predict words of the other, also
between languages:

    p(w | question i) = sum_z theta_iz phi_zw,    p(v | answer i) = sum_z theta_iz psi_zv

With Dirichlet priors of parameters 1 + a (theta) and 1 + b (phi, psi) the most probable parameters are found by
expectation maximisation; no round lowers the posterior probability. n and m count a word in a text:

    E: g_iwz = theta_iz phi_zw / sum_z' theta_iz' phi_z'w              (answers: h, the same with psi)
    M: theta_iz ~ a + sum_w n_iw g_iwz + sum_v m_iv h_ivz,    phi_zw ~ b + sum_i n_iw g_iwz,    psi_zv ~ b + ...

An indexed document is folded in: theta alone is fitted to its words. The paper also uses signals of an answer's quality
(votes, its author); judgments have none, so every answer counts alike.

Defaults were chosen on the train split of leetcode zh-zh and en-en: 400 of its questions against the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.parallel import question_answer_pairs
from isogloss.retrieval.postings import JoinedPostings, Posting, Postings
from isogloss.retrieval.ranking import Allowed, Scores
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.storage.strings import StringTable
from isogloss.systems.base import Contribution, System, SystemOptions, option
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import Tokenizer

Floats = NDArray[np.float32]
_BLOCK_VALUES = 8_000_000  # words of a block times topics, which are in memory at once
_SHOWN = 3  # words of a document, for each word of the query


class Bags(NamedTuple):
    """The distinct known words of each text, as rows of a vocabulary, and their counts."""

    words: NDArray[np.int32]
    counts: Floats
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, texts: TokenizedTexts, row_of: Mapping[str, int]) -> Bags:
        """Count the words of texts that are in the vocabulary ``row_of``.

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
    """phi and psi: rows are words, columns are topics, and each column adds up to 1."""

    question_words: Floats
    answer_words: Floats
    pseudo_count: float
    """a, by which theta is smoothed."""

    def fold_in(self, answers: Bags, rounds: int = 20) -> Floats:
        """Fit theta of new answers, one row each; the uniform distribution for an empty one."""
        theta = _uniform(len(answers), self.answer_words.shape[1])
        for _ in range(rounds):
            counts = _expect(answers, theta, self.answer_words, None)[0]
            theta = _to_one(counts + np.float32(self.pseudo_count), 1)
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
        self._words = [_to_one(rng.gamma(1.0, size=(size, topics)).astype(np.float32), 0) for size in sizes]

    def step(self) -> float:
        """One round; the log posterior (up to a constant) before it."""
        posterior = self._log_prior()
        theta, updated = np.full_like(self._theta, self._theta_count), []
        for bags, words in zip(self._sides, self._words, strict=True):
            word_counts = np.full_like(words, self._word_count)
            counts, likelihood = _expect(bags, self._theta, words, word_counts)
            theta += counts
            posterior += likelihood
            updated.append(_to_one(word_counts, 0))
        self._theta, self._words = _to_one(theta, 1), updated
        return posterior

    def run(self, rounds: int) -> Topics:
        """The topics after some rounds."""
        for _ in track(range(rounds), "training topics"):
            self.step()
        return self.topics()

    def topics(self) -> Topics:
        """The topics as they are now."""
        return Topics(self._words[0], self._words[1], float(self._theta_count))

    def _log_prior(self) -> float:
        tiny = np.finfo(np.float32).tiny
        of_theta = float(self._theta_count) * np.log(np.maximum(self._theta, tiny)).sum(dtype=np.float64)
        of_words = sum(np.log(np.maximum(words, tiny)).sum(dtype=np.float64) for words in self._words)
        return float(of_theta + float(self._word_count) * of_words)


def _expect(bags: Bags, theta: Floats, words: Floats, word_counts: Floats | None) -> tuple[Floats, float]:
    """The expected topics of each text, added to ``word_counts`` word by word too; and the log likelihood."""
    expected, likelihood = np.zeros_like(theta), 0.0
    texts, step = np.repeat(np.arange(len(bags)), np.diff(bags.offsets)), max(1, _BLOCK_VALUES // theta.shape[1])
    for block in (slice(first, first + step) for first in range(0, len(texts), step)):
        text, inside, counts = texts[block], bags.words[block], bags.counts[block]
        joint = words[inside]
        joint *= theta[text]
        sums = joint.sum(axis=1)
        likelihood += float(np.dot(counts, np.log(sums)))
        joint *= (counts / sums)[:, None]
        _add_rows(expected, text, joint)
        if word_counts is not None:
            order = np.argsort(inside, kind="stable")
            _add_rows(word_counts, inside[order], joint[order])
    return expected, likelihood


def _add_rows(sums: Floats, rows: NDArray[np.integer], values: Floats) -> None:
    """Add each row of values to the row of ``sums`` it belongs to; ``rows`` ascend."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    sums[rows[starts]] += np.add.reduceat(values, starts, axis=0)


def _uniform(texts: int, topics: int) -> Floats:
    return np.full((texts, topics), 1 / topics, dtype=np.float32)


def _to_one(values: Floats, axis: int) -> Floats:
    """Values that add up to 1 along an axis."""
    return np.asarray(values / values.sum(axis=axis, keepdims=True, dtype=np.float64), dtype=np.float32)


@dataclass(frozen=True)
class TopicOptions(SystemOptions):
    """Options of ``topic``."""

    topics: int = option(100, "number of topics", 1, 2000)
    mixture: float = option(0.2, "m, the share of the topics; the rest is query likelihood", 0, 1)
    smoothing: float = option(30.0, "s, pseudo-count of the collection in a document's own words", 1e-6, 1e6)
    rounds: int = option(50, "of expectation maximisation", 1, 10_000)
    fold_in_rounds: int = option(20, "of the same over a document's topics alone", 1, 10_000)
    topic_prior: float = option(0.1, "a, pseudo-count of each topic in a text", 1e-6, 100)
    word_prior: float = option(0.01, "b, pseudo-count of each word in a topic", 1e-6, 100)
    minimum_count: int = option(2, "words seen less often in training are left out", 1, 1_000_000)
    stems: bool = option(True, "Snowball stems, where the languages have them")
    drop_stop_words: bool = option(True, "leave stop words out of documents and queries")
    seed: int = option(0, "of the random start", 0, 2**31)


class _Word(NamedTuple):
    """A word of a query, its count, and what it adds to the score of each document."""

    word: str
    times: int
    gains: NDArray[np.float64]
    best_gain: float


class Topic(System):
    """Topics trained on the question-answer pairs of the train split; documents are folded in when indexed."""

    name = "topic"
    paper = "Zhang et al. 2014, Question Retrieval with High Quality Answers in Community Question Answering"
    summary = "topics shared by questions and answers, each with its own words, mixed with query likelihood"
    options_type = TopicOptions
    options: TopicOptions
    learns = True
    joins = True

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        assert isinstance(options, TopicOptions)
        self._query_terms = Tokenizer(query_language, options.stems, options.drop_stop_words)
        self._document_terms = Tokenizer(document_language, options.stems, options.drop_stop_words)

    def fit(self, training: Dataset) -> None:
        o, pairs = self.options, question_answer_pairs(training)
        questions = tokenize_texts([question for question, _ in pairs], self._query_terms)
        answers = tokenize_texts([answer for _, answer in pairs], self._document_terms)
        self._row_of = _frequent(questions, o.minimum_count)
        self._answer_row_of = _frequent(answers, o.minimum_count)
        learner = TopicLearner(
            Bags.of(questions, self._row_of), Bags.of(answers, self._answer_row_of),
            (len(self._row_of), len(self._answer_row_of)), o.topics, (o.topic_prior, o.word_prior), o.seed,
        )  # fmt: skip
        self._topics = learner.run(o.rounds)

    def index_texts(self, texts: Sequence[str]) -> None:
        if not self._answer_row_of:
            raise InputError(f"{self.name}: its answer words were not saved; make the index again")
        tokens = tokenize_texts(texts, self._document_terms, label=f"indexing {len(texts):,} documents")
        theta = self._topics.fold_in(Bags.of(tokens, self._answer_row_of), self.options.fold_in_rounds)
        self._use(JoinedPostings([Postings.build(tokens)]), theta)

    def scores(self, query: str) -> Scores:
        return self.score(query, None)

    def score(self, query: str, rows: NDArray[np.int64] | None) -> Scores:
        total = np.zeros(len(self._theta) if rows is None else len(rows))
        for word in self._words(query, rows):
            total += word.times * word.gains
        return total

    def best_possible(self, query: str) -> float:
        """The sum, over the query words, of what a document of this word alone would score."""
        words = self._words(query, np.zeros(0, dtype=np.int64))
        return sum(word.times * word.best_gain for word in words) or 1.0

    def unknown_words(self, query: str) -> list[str]:
        known = {word.word for word in self._words(query, np.zeros(0, dtype=np.int64))}
        return [term for term in dict.fromkeys(self._query_terms(query)) if term not in known]

    def term_of(self, word: str) -> str | None:
        return next(iter(self._document_terms.terms([word])), None)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """Exact; a word matches itself, and the words of the document that have most of its topics."""
        counts, lines = Counter(self._document_terms(text)), []
        for word, times, gains, _ in self._words(query, np.asarray([row])):
            near = self._same_topics(word, self._theta[row], counts) if gains[0] > 0 else []
            matched = tuple(dict.fromkeys([*([word] if word in counts else []), *near]))[:_SHOWN]
            lines.append(Contribution(word, matched, float(times * gains[0])))
        return sorted(lines, key=lambda contribution: -contribution.score)

    def _same_topics(self, word: str, theta: Floats, counts: Mapping[str, int]) -> list[str]:
        r"""The words t of a document by their share of  sum_z phi_zw theta_z:  n(t) sum_z phi_zw P(z | t, d)."""
        terms = [term for term in counts if term in self._answer_row_of]
        topics = np.asarray(self._topics.answer_words[[self._answer_row_of[term] for term in terms]]) * theta
        topics /= np.maximum(topics.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        shares = topics @ self._topic_words(word) * np.asarray([counts[term] for term in terms], dtype=np.float32)
        return [terms[number] for number in np.argsort(-shares, kind="stable")[:_SHOWN].tolist() if shares[number] > 0]

    def count_only(self, live: Allowed) -> None:
        self._use(self._postings.counting_only(live), self._theta)

    def save_shared(self, directory: Path) -> None:
        _save_words(directory, "question_words", self._row_of, self._topics.question_words)
        _save_words(directory, "answer_words", self._answer_row_of, self._topics.answer_words)

    def load_shared(self, directory: Path) -> Self:
        self._row_of, questions = _load_words(directory, "question_words")
        try:
            self._answer_row_of, answers = _load_words(directory, "answer_words")
        except FileNotFoundError:  # saved by an earlier version
            self._answer_row_of, answers = {}, np.zeros((0, questions.shape[1]), np.float32)
        self._topics = Topics(questions, answers, float(np.float32(self.options.topic_prior)))
        return self

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        self._postings.merged(keep).save(directory)
        save_array(directory / "theta.npy", self._theta if keep is None else self._theta[keep])

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        parts = [load_array(directory / "theta.npy") for directory in directories]
        theta = parts[0] if len(parts) == 1 else np.concatenate(parts)
        postings = JoinedPostings.load(directories)
        if len(theta) != postings.document_count:
            raise ValueError("theta.npy does not fit the rest")
        self._use(postings, theta)
        self._take_order(id_order, len(theta))
        return self

    def _use(self, postings: JoinedPostings, theta: Floats) -> None:
        self._postings, self._theta, self._question_words = postings, theta, self._topics.question_words
        counted = theta if postings.live is None else theta[postings.live]
        self._mean_theta = counted.mean(axis=0) if len(counted) else np.zeros(theta.shape[1], dtype=np.float32)
        self._collection_length = max(1, postings.total_length)

    def _words(self, query: str, rows: NDArray[np.int64] | None) -> list[_Word]:
        """The known words of a query, with ln(p(w | d) / p(w)) for some documents, or for all."""
        m, s = self.options.mixture, self.options.smoothing
        counts = Counter(self._query_terms(query))
        theta = self._theta if rows is None else self._theta[rows]
        lengths = self._postings.lengths if rows is None else self._postings.lengths[rows]
        found = []
        for word, times in counts.items():
            topic_words = self._topic_words(word)
            posting = self._postings[word]
            common = float(posting.frequencies.sum()) / self._collection_length
            average = m * float(self._mean_theta @ topic_words) + (1 - m) * common
            if average <= 0:
                continue
            own = _frequencies(posting, len(theta), rows)
            through_topics = np.einsum("dz,z->d", theta, topic_words)  # unlike @, equal rows get equal sums
            probability = m * through_topics + (1 - m) * (own + s * common) / (lengths + s)
            found.append(_Word(word, times, np.log(probability / average), -math.log(average)))
        return found

    def _topic_words(self, word: str) -> Floats:
        """phi_zw for each topic z; zeros for a word of no training question."""
        row = self._row_of.get(word)
        if row is None:
            return np.zeros(self._theta.shape[1], dtype=np.float32)
        return np.asarray(self._question_words[row])


def _save_words(directory: Path, name: str, row_of: Mapping[str, int], topics: Floats) -> None:
    StringTable.of(row_of).save(directory, name)
    save_array(directory / f"{name}.topics.npy", topics)


def _load_words(directory: Path, name: str) -> tuple[dict[str, int], Floats]:
    row_of = {word: row for row, word in enumerate(StringTable.load(directory, name))}
    topics = load_array(directory / f"{name}.topics.npy")
    if len(topics) != len(row_of):
        raise ValueError(f"{name}.topics.npy does not fit the rest")
    return row_of, topics


def _frequent(texts: TokenizedTexts, minimum_count: int) -> dict[str, int]:
    """The terms seen often enough, numbered in the order of strings."""
    counts = np.bincount(texts.ids, minlength=len(texts.terms)).tolist()
    kept = sorted(term for term, count in zip(texts.terms, counts, strict=True) if count >= minimum_count)
    return {term: row for row, term in enumerate(kept)}


def _frequencies(posting: Posting, count: int, rows: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """The counts of a word in the documents in ``rows``, or in all ``count`` of them."""
    if rows is not None:
        return posting.at(rows).astype(np.float64)
    found = np.zeros(count)
    found[posting.documents] = posting.frequencies
    return found

"""``topic``: how likely a document is to ask the question, through topics shared by questions and answers.

    score(q, d) = sum_w n(w, q) ln( p(w | d) / p(w) )
    p(w | d) = m sum_z phi_zw theta_dz + (1 - m) (n(w, d) + s p(w | C)) / (|d| + s)

The first part (Zhang et al. 2014, :mod:`isogloss.lexical.topic_model`) knows what questions are asked of answers with
such topics; the second is query likelihood with Dirichlet smoothing over the document's own words, mixed in because
topics alone are too coarse to tell documents apart. p(w) is the same for the collection as a whole; it changes no
ranking, and makes the score say how much more than usual a document speaks of a word. A word that no document holds
(the rule where the languages differ) is judged by its topics alone, one that no training question held by the documents
alone, and one that neither knows not at all.

Defaults were chosen on the train split of leetcode zh-zh and en-en: 400 of its questions against the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.errors import InputError
from isogloss.base.strings import StringTable
from isogloss.corpus.dataset import Dataset
from isogloss.evaluation.ranking import Scores
from isogloss.evaluation.system import Allowed, Contribution, System, SystemOptions
from isogloss.lexical.joined_postings import JoinedPostings
from isogloss.lexical.postings import Posting, Postings
from isogloss.lexical.question_answers import question_answer_pairs
from isogloss.lexical.topic_model import Bags, Floats, Topics, learn_topics
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import Tokenizer

_SHOWN = 3  # words of a document, for each word of the query


def _option(default: Any, text: str, **metadata: Any) -> Any:
    return field(default=default, metadata={"help": text, **metadata})


@dataclass(frozen=True)
class TopicOptions(SystemOptions):
    """Options of ``topic``."""

    topics: int = _option(100, "how many topics are learned", range=(1, 2000))
    mixture: float = _option(0.2, "m, the share of the topics; the rest is query likelihood", range=(0, 1))
    smoothing: float = _option(30.0, "s, pseudo-count of the collection in a document's own words", range=(1e-6, 1e6))
    rounds: int = _option(50, "of expectation maximisation", range=(1, 10_000))
    fold_in_rounds: int = _option(20, "of the same over a document's topics alone", range=(1, 10_000))
    topic_prior: float = _option(0.1, "a, pseudo-count of each topic in a text", range=(1e-6, 100))
    word_prior: float = _option(0.01, "b, pseudo-count of each word in a topic", range=(1e-6, 100))
    minimum_count: int = _option(2, "words seen less often in training are left out", range=(1, 1_000_000))
    stems: bool = _option(True, "Snowball stems, where the languages have them")
    drop_stop_words: bool = _option(True, "leave stop words out of documents and queries")
    seed: int = _option(0, "of the random start", range=(0, 2**31))


class _Word(NamedTuple):
    """A word of a query, how often it stands there, and what it adds to the score of each document asked about."""

    word: str
    times: int
    gains: NDArray[np.float64]
    best_gain: float


class Topic(System):
    """Topics learned from the question-answer pairs of the train split; documents are folded in when indexed."""

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
        self._topics = learn_topics(
            Bags.of(questions, self._row_of), Bags.of(answers, self._answer_row_of),
            (len(self._row_of), len(self._answer_row_of)), o.topics, o.rounds, (o.topic_prior, o.word_prior), o.seed,
        )  # fmt: skip

    def index_texts(self, texts: Sequence[str]) -> None:
        if not self._answer_row_of:
            raise InputError(f"{self.name}: what it learned of answers was not kept; make the index again")
        tokens = tokenize_texts(texts, self._document_terms, label=f"indexing {len(texts):,} documents")
        theta = self._topics.fold_in(Bags.of(tokens, self._answer_row_of), self.options.fold_in_rounds)
        self._use(JoinedPostings([Postings.build(tokens)]), theta)

    def scores(self, query: str) -> Scores:
        return self._total(query, None)

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        return self._total(query, rows)

    def best_possible(self, query: str) -> float:
        """What a document would score that could say nothing but the one word, for every word of the query."""
        words = self._words(query, np.zeros(0, dtype=np.int64))
        return sum(word.times * word.best_gain for word in words) or 1.0

    def unknown_words(self, query: str) -> list[str]:
        known = {word.word for word in self._words(query, np.zeros(0, dtype=np.int64))}
        return [term for term in dict.fromkeys(self._query_terms(query)) if term not in known]

    def term_of(self, word: str) -> str | None:
        return next(iter(self._document_terms.terms([word])), None)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """Exact; a word is said by itself, and by those words of the document that speak of its topics most."""
        held = Counter(self._document_terms(text))
        made = []
        for word, times, gains, _ in self._words(query, np.asarray([row])):
            near = self._same_topics(word, self._theta[row], held) if gains[0] > 0 else []
            said = tuple(dict.fromkeys([*([word] if word in held else []), *near]))[:_SHOWN]
            made.append(Contribution(word, said, float(times * gains[0])))
        return sorted(made, key=lambda contribution: -contribution.score)

    def _same_topics(self, word: str, theta: Floats, held: Mapping[str, int]) -> list[str]:
        r"""The words t of a document by what each has in  sum_z phi_zw theta_z:  n(t) sum_z phi_zw P(z | t, d)."""
        terms = [term for term in held if term in self._answer_row_of]
        topics = np.asarray(self._topics.answer_words[[self._answer_row_of[term] for term in terms]]) * theta
        topics /= np.maximum(topics.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        shares = topics @ self._topic_words(word) * np.asarray([held[term] for term in terms], dtype=np.float32)
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
        except FileNotFoundError:  # saved before more documents could be indexed later
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
        self._usual_theta = counted.mean(axis=0) if len(counted) else np.zeros(theta.shape[1], dtype=np.float32)
        self._collection_length = max(1, postings.total_length)

    def _total(self, query: str, rows: NDArray[np.int64] | None) -> Scores:
        total = np.zeros(len(self._theta) if rows is None else len(rows))
        for word in self._words(query, rows):
            total += word.times * word.gains
        return total

    def _words(self, query: str, rows: NDArray[np.int64] | None) -> list[_Word]:
        """The words of a query that anything is known of, with ln(p(w | d) / p(w)) for some documents, or for all."""
        m, s = self.options.mixture, self.options.smoothing
        counts = Counter(self._query_terms(query))
        theta = self._theta if rows is None else self._theta[rows]
        lengths = self._postings.lengths if rows is None else self._postings.lengths[rows]
        found = []
        for word, times in counts.items():
            topic_words = self._topic_words(word)
            posting = self._postings[word]
            common = float(posting.frequencies.sum()) / self._collection_length
            usual = m * float(self._usual_theta @ topic_words) + (1 - m) * common
            if usual <= 0:
                continue
            own = _frequencies(posting, len(theta), rows)
            through_topics = np.einsum("dz,z->d", theta, topic_words)  # unlike @, equal rows get equal sums
            probability = m * through_topics + (1 - m) * (own + s * common) / (lengths + s)
            found.append(_Word(word, times, np.log(probability / usual), -math.log(usual)))
        return found

    def _topic_words(self, word: str) -> Floats:
        """phi_zw for each topic z; nothing for a word that was not learned."""
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
    """How often a word stands in the documents in ``rows``, or in all ``count`` of them."""
    if rows is not None:
        return posting.at(rows).astype(np.float64)
    found = np.zeros(count)
    found[posting.documents] = posting.frequencies
    return found

"""``translation-lm``: the translation-based language model (TransLM), TRANS in the layer-wise paper's table.

After Xue, Jeon and Croft 2008, Retrieval Models for Question and Answer Archives. Documents are ranked by the
likelihood of the query:

    P(q | D) = prod_w P(w | D)^n(w, q)
    P(w | D) = (1 - lambda) P_mx(w | D) + lambda P_ml(w | C)                     (Jelinek-Mercer smoothing)
    P_mx(w | D) = (1 - beta) P_ml(w | D) + beta sum_t P(w | t) P_ml(t | D)

The score is log P(q | D) without what all documents have in common, so that it is 0 where nothing matches:

    score(q, D) = sum_w n(w, q) ln(1 + (1 - lambda) P_mx(w | D) / (lambda P_ml(w | C)))

P(w | t), the probability that word t of an answer translates to word w of a question, is trained by IBM model 1
(:mod:`isogloss.translation.word_alignment`) on questions and their answers, without its window: they are not
translations of each other, so positions mean nothing. In one language each pair (q, a) is also read as (a, q), and one
model is trained on both ("pooling", the best in the paper). In two languages only (answer, question) is read.

Trained on questions and answers, P(w | w) is low for many words, because an answer does not repeat the question. The
share 1 - beta of plain P_ml(w | D) makes up for that, as in the paper. A document word that is not in the training data
translates to itself alone, so that P(w | D) adds up to 1. C is the documents and the questions of the training data; a
word of neither is ignored.

Defaults were chosen on 300 held-out questions of the train splits of leetcode (zh-zh, en-en, en-zh) and insuranceqa
(en-zh); the optimum is flat in lambda and beta. Without stop words insuranceqa's short questions lose .15 MRR.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.parallel import question_answer_pairs
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.retrieval.ranking import Allowed, Scores
from isogloss.storage.array_checks import check_offsets, check_type, check_within
from isogloss.storage.arrays import load_array, place_of, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.storage.strings import StringTable
from isogloss.systems.base import Contribution, System, SystemOptions, option
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.word_alignment import Floats, Ids, Model1

_EVERYWHERE = 1_000_000  # a window that no text is longer than
_SHOWN = 5
_ROWS = "translations.rows.npy"
_ARRAYS = ("offsets", "document_words", "probabilities", "question_counts")


class WordProbabilities:
    """P(w | t), one a row, ordered by w: rows ``offsets[i]`` to ``offsets[i + 1]`` have w = ``terms[i]``.

    ``given`` has the number of t in ``terms``, which are ascending. The rows of one t add up to 1. ``question_counts``
    counts each term in the questions.
    """

    def __init__(
        self, terms: StringTable, offsets: NDArray[np.int64], given: Ids,
        probabilities: NDArray[np.float32], question_counts: NDArray[np.int64],
    ) -> None:  # fmt: skip
        self.terms, self.offsets, self.given = terms, offsets, given
        self.probabilities, self.question_counts = probabilities, question_counts

    @classmethod
    def learn(
        cls, questions: TokenizedTexts, answers: TokenizedTexts, pooled: bool, iterations: int = 5,
        null: float = 0.25, minimum: float = 1e-3,
    ) -> WordProbabilities:  # fmt: skip
        """Train on question i and answer i, for all i; translations less probable than ``minimum`` are dropped."""
        terms = sorted({*questions.terms, *answers.terms})
        sources, targets = answers, questions
        if pooled:
            questions, answers = _renumbered(questions, terms), _renumbered(answers, terms)
            sources, targets = _both(answers, questions), _both(questions, answers)
        model = Model1(sources, targets, _EVERYWHERE, null)
        for _ in track(range(iterations), "training translation probabilities"):
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
        counts = np.bincount(_numbers(questions.terms, terms)[questions.ids], minlength=len(terms))
        return cls(StringTable.of(terms), offsets, given[order], probabilities[order].astype(np.float32), counts)

    def of_word(self, word: str) -> tuple[Ids, NDArray[np.float32]]:
        """All t that translate to a word, as numbers of ``terms``, and P(w | t) of each."""
        number = self.terms.find(word)
        span = slice(0, 0) if number is None else slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return self.given[span], self.probabilities[span]

    def save(self, directory: Path) -> None:
        self.terms.save(directory, "words")
        arrays: tuple[NDArray[Any], ...] = self.offsets, self.given, self.probabilities, self.question_counts
        for name, array in zip(_ARRAYS, arrays, strict=True):
            save_array(directory / f"translations.{name}.npy", array)

    @classmethod
    def load(cls, directory: Path) -> WordProbabilities:
        terms = StringTable.load(directory, "words")
        offsets, given, probabilities, counts = (load_array(directory / f"translations.{name}.npy") for name in _ARRAYS)
        places = {name: place_of(directory / f"translations.{name}.npy") for name in _ARRAYS}
        check_type(offsets, np.int64, places["offsets"], len(terms) + 1)
        check_offsets(offsets, len(given), places["offsets"])
        check_within(given, len(terms), places["document_words"])
        check_type(probabilities, np.float32, places["probabilities"], len(given))
        check_type(counts, counts.dtype, places["question_counts"], len(terms))
        return cls(terms, offsets, given, probabilities, counts)


def _numbers(terms: list[str], among: list[str]) -> Ids:
    """The number of each term in a sorted list of all terms."""
    return np.fromiter((bisect_left(among, term) for term in terms), np.int32, len(terms))


def _renumbered(texts: TokenizedTexts, terms: list[str]) -> TokenizedTexts:
    """The same texts with numbers of a sorted list of all terms."""
    return TokenizedTexts(terms, _numbers(texts.terms, terms)[texts.ids], texts.offsets)


def _both(first: TokenizedTexts, second: TokenizedTexts) -> TokenizedTexts:
    """One list of texts after another."""
    offsets = np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]])
    return TokenizedTexts(first.terms, np.concatenate([first.ids, second.ids]), offsets)


class TranslationLM:
    """Scores all documents of inverted lists.

    ``rows`` are the rows of the terms of ``translation`` in the inverted lists (-1: none); None: they are looked up.
    """

    def __init__(
        self, postings: Postings, translation: WordProbabilities, collection_weight: float, translation_weight: float,
        rows: NDArray[np.int64] | None = None,
    ) -> None:  # fmt: skip
        self.postings, self.translation = postings, translation
        self.rows = _matched(translation.terms, postings.terms) if rows is None else rows
        self._lambda, self._beta = collection_weight, translation_weight
        self._trained = np.zeros(len(translation.terms), dtype=bool)
        self._trained[translation.given] = True
        self._lengths = np.maximum(1, postings.lengths).astype(np.float64)
        self._archive_length = int(postings.lengths.sum()) + int(translation.question_counts.sum())

    def scores(self, query: Mapping[str, int]) -> NDArray[np.float32]:
        """The score of every document for the words of a query and their counts."""
        total = np.zeros(self.postings.document_count)
        for word, times in query.items():
            total += times * self.gains(word)
        return total.astype(np.float32)

    def gains(self, word: str) -> Floats:
        """What a word of the query adds to the score of each document."""
        background = self._lambda * self.background(word)
        if not background:
            return np.zeros(self.postings.document_count)
        return np.log1p((1 - self._lambda) / background * self.mixture(word))

    def best_gain(self, word: str) -> float:
        """What a word would add to the score of a document that consists of nothing else."""
        background = self._lambda * self.background(word)
        return float(np.log1p((1 - self._lambda) / background)) if background else 0.0

    def probabilities(self, word: str) -> Floats:
        """P(w | D) of every document."""
        return (1 - self._lambda) * self.mixture(word) + self._lambda * self.background(word)

    def background(self, word: str) -> float:
        """P_ml(w | C)."""
        number = self.translation.terms.find(word)
        count = 0 if number is None else int(self.translation.question_counts[number])
        return (int(self.postings[word].frequencies.sum()) + count) / max(1, self._archive_length)

    def mixture(self, word: str) -> Floats:
        """P_mx(w | D) of every document."""
        rows, weights = self.sources(word)
        starts = self.postings.offsets[rows]
        lengths = self.postings.offsets[rows + 1] - starts
        entries = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        counts = self.postings.frequencies[entries] * np.repeat(weights, lengths)
        return np.bincount(self.postings.documents[entries], counts, self.postings.document_count) / self._lengths

    def sources(self, word: str) -> tuple[NDArray[np.int64], Floats]:
        """The document terms that match a word, as rows of the inverted lists, and the weight of each.

        The word itself may occur twice: as such, and as a translation of itself.
        """
        given, probabilities = self.translation.of_word(word)
        rows, weights = self.rows[given], self._beta * probabilities.astype(np.float64)
        rows, weights = rows[rows >= 0], weights[rows >= 0]
        own = self.postings.terms.find(word)
        if own is None:
            return rows, weights
        number = self.translation.terms.find(word)
        trained = number is not None and self._trained[number]
        return np.append(rows, own), np.append(weights, 1 - self._beta if trained else 1.0)

    def terms_for(self, word: str, document: int | None = None) -> list[str]:
        """The terms that match a word in all documents, or in one, the most important first."""
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


def _matched(terms: StringTable, known: StringTable) -> NDArray[np.int64]:
    row_of = {term: row for row, term in enumerate(known)}
    return np.fromiter((row_of.get(term, -1) for term in terms), np.int64, len(terms))


@dataclass(frozen=True)
class TranslationLMOptions(SystemOptions):
    """Options of ``translation-lm``."""

    stems: bool = option(True, "Snowball stems, where a language has them")
    drop_stop_words: bool = option(False, "leave stop words out of documents and queries")
    collection_weight: float = option(0.2, "lambda: the share of the whole collection in P(w|D)", 1e-6, 1)
    translation_weight: float = option(0.5, "beta: the share of translated words in P(w|D)", 0, 1)
    iterations: int = option(5, "rounds of expectation maximisation", 1, 1000)
    null: float = option(0.25, "how likely a word of a question comes from no word of its answer", 1e-6, 0.999999)
    minimum_probability: float = option(0.001, "less probable translations of a word are dropped", 0, 1)


class TranslationLanguageModel(System):
    """Documents ranked by the likelihood of the query, given their words and the translations of these."""

    name = "translation-lm"
    paper = "Xue, Jeon and Croft 2008, Retrieval Models for Question and Answer Archives"
    summary = "language model with word-to-word translation, trained on the questions and answers of the train split"
    options_type = TranslationLMOptions
    options: TranslationLMOptions
    learns = True
    joins = True
    found_above = 0.0

    def __init__(self, options: TranslationLMOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._query_terms = Tokenizer(query_language, options.stems, options.drop_stop_words)
        self._document_terms = Tokenizer(document_language, options.stems, options.drop_stop_words)
        self._translation: WordProbabilities | None = None
        self._model: TranslationLM | None = None

    def fit(self, training: Dataset) -> None:
        """Train P(w | t) on the questions of the train split and their answers."""
        try:
            questions, answers = zip(*question_answer_pairs(training), strict=True)
        except InputError as error:
            raise InputError(f"{self.name}: nothing to learn from: {error}") from error
        o = self.options
        self._translation = WordProbabilities.learn(
            tokenize_texts(questions, self._query_terms), tokenize_texts(answers, self._document_terms),
            self.query_language == self.document_language, o.iterations, o.null, o.minimum_probability,
        )  # fmt: skip

    def index_texts(self, texts: Sequence[str]) -> None:
        if self._translation is None:
            raise InputError(f"{self.name}: has to be trained before it can index; give it data with a train split")
        label = f"indexing {len(texts):,} documents"
        postings = Postings.build(tokenize_texts(texts, self._document_terms, label=label))
        self._parts = JoinedPostings([postings])
        self._use(postings, self._translation)

    def scores(self, query: str) -> Scores:
        return self._ready.scores(Counter(self._query_terms(query)))

    def best_possible(self, query: str) -> float:
        return sum(self._ready.best_gain(term) for term in self._query_terms(query)) or 1.0

    def unknown_words(self, query: str) -> list[str]:
        return [word for word, terms, _ in self._words(query) if not any(map(self._ready.terms_for, terms))]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        found = [
            (word, self._ready.terms_for(term)[:_SHOWN]) for word, terms, _ in self._words(query) for term in terms
        ]
        return [(word, terms) for word, terms in found if terms]

    def term_of(self, word: str) -> str | None:
        return next(iter(self._document_terms.terms([word])), None)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        found = []
        for word, terms, times in self._words(query):
            gain = times * sum(float(self._ready.gains(term)[row]) for term in terms)
            if gain > 0:
                matched = [match for term in terms for match in self._ready.terms_for(term, row)]
                found.append(Contribution(word, tuple(matched[:_SHOWN]), gain))
        return sorted(found, key=lambda contribution: -contribution.score)

    def count_only(self, live: Allowed) -> None:
        self._use(self._parts.counting_only(live).without_gone(), self._ready.translation)

    def save_shared(self, directory: Path) -> None:
        assert self._translation is not None
        self._translation.save(directory)

    def load_shared(self, directory: Path) -> Self:
        self._translation = WordProbabilities.load(directory)
        return self

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        merged, model = self._parts.merged(keep), self._ready
        merged.save(directory)
        same = merged is model.postings
        save_array(directory / _ROWS, model.rows if same else _matched(model.translation.terms, merged.terms))

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        """Several parts become one in memory: translations are looked up by their row in one table of terms."""
        assert self._translation is not None
        self._parts = JoinedPostings.load(directories)
        rows = load_array(directories[0] / _ROWS) if len(directories) == 1 else None
        self._use(self._parts.merged(), self._translation, rows)
        self._take_order(id_order, self._parts.document_count)
        return self

    def _use(self, postings: Postings, translation: WordProbabilities, rows: NDArray[np.int64] | None = None) -> None:
        weights = self.options.collection_weight, self.options.translation_weight
        self._model = TranslationLM(postings, translation, *weights, rows)

    @property
    def _ready(self) -> TranslationLM:
        if self._model is None:
            raise InputError(f"{self.name}: no documents were indexed")
        return self._model

    def _words(self, query: str) -> list[tuple[str, list[str], int]]:
        """The words of a query as written, the terms of each (none for a dropped stop word), and their counts."""
        counts = Counter(tokenize(query))
        return [(word, self._query_terms.terms([word]), times) for word, times in counts.items()]

"""The translation-based language model: ``translation-lm``, TRANS in the layer-wise paper's table.

Defaults were chosen on 300 held-out questions of the train splits of leetcode (zh-zh, en-en, en-zh) and insuranceqa
(en-zh); the optimum is flat in lambda and beta. Without stop words insuranceqa's short questions lose .15 MRR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.errors import InputError
from isogloss.corpus.dataset import Dataset
from isogloss.evaluation.ranking import Scores
from isogloss.evaluation.system import Allowed, Contribution, System, SystemOptions
from isogloss.lexical.joined_postings import JoinedPostings
from isogloss.lexical.postings import Postings
from isogloss.lexical.question_answers import question_answer_pairs
from isogloss.lexical.translation_lm import TranslationLM
from isogloss.lexical.word_probabilities import WordProbabilities
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer, tokenize

_SHOWN = 5
_ROWS = "translations.rows.npy"


@dataclass(frozen=True)
class TranslationLMOptions(SystemOptions):
    """Options of ``translation-lm``."""

    stems: bool = field(default=True, metadata={"help": "Snowball stems, where a language has them"})
    drop_stop_words: bool = field(default=False, metadata={"help": "leave stop words out of documents and queries"})
    collection_weight: float = field(
        default=0.2, metadata={"help": "lambda: the share of the whole collection in P(w|D)", "range": (1e-6, 1)}
    )
    translation_weight: float = field(
        default=0.5, metadata={"help": "beta: the share of translated words, not as they stand", "range": (0, 1)}
    )
    iterations: int = field(default=5, metadata={"help": "rounds of expectation maximisation", "range": (1, 1000)})
    null: float = field(
        default=0.25,
        metadata={
            "help": "how likely a word of a question comes from no word of its answer",
            "range": (1e-6, 0.999999),
        },
    )
    minimum_probability: float = field(
        default=0.001, metadata={"help": "less probable translations of a word are dropped", "range": (0, 1)}
    )


class TranslationLanguageModel(System):
    """Documents ranked by how likely they say the query, in its words or in words that stand for them."""

    name = "translation-lm"
    paper = "Xue, Jeon and Croft 2008, Retrieval Models for Question and Answer Archives"
    summary = "language model with word-to-word translation, learned from the questions and answers of the train split"
    options_type = TranslationLMOptions
    options: TranslationLMOptions
    learns = True
    joins = True
    found_above = 0.0

    def __init__(self, options: TranslationLMOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._query_terms = Tokenizer(query_language, options.stems, options.drop_stop_words)
        self._document_terms = Tokenizer(document_language, options.stems, options.drop_stop_words)
        self._learned: WordProbabilities | None = None
        self._model: TranslationLM | None = None

    def fit(self, training: Dataset) -> None:
        """Learn P(w | t) from the questions of the train split and their answers."""
        try:
            questions, answers = zip(*question_answer_pairs(training), strict=True)
        except InputError as error:
            raise InputError(f"{self.name}: nothing to learn from: {error}") from error
        o = self.options
        self._learned = WordProbabilities.learn(
            tokenize_texts(questions, self._query_terms), tokenize_texts(answers, self._document_terms),
            self.query_language == self.document_language, o.iterations, o.null, o.minimum_probability,
        )  # fmt: skip

    def index_texts(self, texts: Sequence[str]) -> None:
        if self._learned is None:
            raise InputError(f"{self.name}: has to learn before it can index; give it data with a train split")
        label = f"indexing {len(texts):,} documents"
        postings = Postings.build(tokenize_texts(texts, self._document_terms, label=label))
        self._parts = JoinedPostings([postings])
        self._use(postings, self._learned)

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
                saying = [said for term in terms for said in self._ready.terms_for(term, row)]
                found.append(Contribution(word, tuple(saying[:_SHOWN]), gain))
        return sorted(found, key=lambda contribution: -contribution.score)

    def count_only(self, live: Allowed) -> None:
        self._use(self._parts.counting_only(live).without_gone(), self._ready.learned)

    def save_shared(self, directory: Path) -> None:
        assert self._learned is not None
        self._learned.save(directory)

    def load_shared(self, directory: Path) -> Self:
        self._learned = WordProbabilities.load(directory)
        return self

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        merged = self._parts.merged(keep)
        merged.save(directory)
        save_array(
            directory / _ROWS, self._ready.rows if merged is self._ready.postings else self._ready.rows_in(merged)
        )

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        """Several parts become one in memory: translations are looked up by their place in one table of terms."""
        assert self._learned is not None
        self._parts = JoinedPostings.load(directories)
        rows = load_array(directories[0] / _ROWS) if len(directories) == 1 else None
        self._use(self._parts.merged(), self._learned, rows)
        self._take_order(id_order, self._parts.document_count)
        return self

    def _use(self, postings: Postings, learned: WordProbabilities, rows: NDArray[np.int64] | None = None) -> None:
        weights = self.options.collection_weight, self.options.translation_weight
        self._model = TranslationLM(postings, learned, *weights, rows)

    @property
    def _ready(self) -> TranslationLM:
        if self._model is None:
            raise InputError(f"{self.name}: no documents were indexed")
        return self._model

    def _words(self, query: str) -> list[tuple[str, list[str], int]]:
        """The words of a query as it says them, the terms of each (none for a stop word left out), and how often."""
        counts = Counter(tokenize(query))
        return [(word, self._query_terms.terms([word]), times) for word, times in counts.items()]

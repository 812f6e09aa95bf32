"""What trials of one pair have in common, made once: its words, the pairs to learn from, what is ranked."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.data.source import Pair
from isogloss.papers.smooth.packed_words import PREFIX, PackedWords
from isogloss.papers.smooth.pair_words import PairWords, ReadWords, chosen_texts
from isogloss.papers.smooth.start_vectors import monolingual_vectors
from isogloss.papers.smooth.trial import Trial
from isogloss.storage.errors import InputError
from isogloss.storage.strings import StringTable
from isogloss.systems.smooth.learning import Prepared
from isogloss.systems.smooth.options import SmoothOptions
from isogloss.text.batches import TokenizedTexts
from isogloss.text.ids import choose_words, text_ids
from isogloss.training.examples import Examples, Pairs, graded_examples
from isogloss.translation.vectors.word_vectors import WordVectors

Value = TypeVar("Value")


class Latest(Generic[Value]):
    """Keeps the last value made, for as long as it is asked for by the same key."""

    def __init__(self) -> None:
        self._held: tuple[Hashable, Value] | None = None

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key."""
        if self._held is None or self._held[0] != key:
            self._held = key, make()
        return self._held[1]


@dataclass(frozen=True)
class Ranked:
    """What is ranked for the queries of a split under the ``sampled`` protocol, and the words of these queries."""

    examples: Examples
    queries: TokenizedTexts


class TrialData:
    """A pair and what trials make of it."""

    def __init__(self, words: PairWords) -> None:
        self.words = words
        self._prepared = Latest[Prepared]()
        self._drawn = Latest[Prepared]()
        self._ranked = Latest[Ranked]()
        self._vectors = Latest[tuple[WordVectors, WordVectors]]()

    @property
    def dataset(self) -> Dataset:
        """The pair, read and checked."""
        return self.words.dataset

    def prepared(self, trial: Trial) -> Prepared:
        """What ``smooth`` prepares for a trial; texts go to ids anew only where the trial reads them in another way."""
        options = trial.options()
        seed = options.seed if trial.train_share < 1 else 0
        reading = options.vocabulary, options.minimum_count, options.query_words, options.document_words
        key = (*reading, trial.train_share, seed)
        part = self._part(trial.train_share, seed)

        def draw() -> Prepared:
            examples = graded_examples(part, "train", options.negatives, options.seed)
            if not examples.queries:
                pair = "-".join(part.pair)
                raise InputError(f"{part.source.name}: no query of the train split is judged for {pair}")
            base = self._prepared.get(key, lambda: self._to_ids(options, examples))
            return _with_examples(base, examples)

        return self._drawn.get((key, options.negatives, options.seed), draw)

    def ranked(self, split: str, negatives: int) -> Ranked:
        """The documents that ``evaluate --protocol sampled`` ranks for each query."""

        def draw() -> Ranked:
            examples = graded_examples(self.dataset, split, negatives, 0)
            if not examples.queries:
                raise InputError(f"{self.dataset.source.name}: no query of the split {split!r} is judged")
            return Ranked(examples, self._words_of(examples))

        return self._ranked.get((split, negatives), draw)

    def start_vectors(self, dimension: int, spread: float) -> tuple[WordVectors, WordVectors]:
        """Vectors of both languages, each trained on its own documents."""
        return self._vectors.get((dimension, spread), lambda: monolingual_vectors(self.words, dimension, spread))

    def _to_ids(self, options: SmoothOptions, examples: Examples) -> Prepared:
        queries, documents = self._words_of(examples), self.words.documents
        known = [choose_words(texts, options.vocabulary, options.minimum_count) for texts in (queries, documents)]
        query_ids = text_ids(queries, known[0], options.query_words)
        document_ids = text_ids(documents, known[1], options.document_words)
        return Prepared(
            {"query": StringTable.of(known[0]), "document": StringTable.of(known[1])},
            document_ids,
            examples,
            Pairs(query_ids, document_ids, examples.query_of, examples.document_of, examples.grades),
            self.dataset.judgments.top_grade + 1,
        )

    def _words_of(self, examples: Examples) -> TokenizedTexts:
        number_of = {query: number for number, query in enumerate(self.dataset.queries)}
        return chosen_texts(self.words.queries, np.asarray([number_of[query.id] for query in examples.queries]))

    def _part(self, share: float, seed: int) -> Dataset:
        """The dataset with a share of its train queries; smaller shares of a seed are parts of larger ones."""
        if share >= 1:
            return self.dataset
        train = [query.id for query in self.dataset.split("train") if query.id in self.dataset.judgments]
        kept = np.sort(np.random.default_rng(seed).permutation(len(train))[: max(1, round(share * len(train)))])
        return replace(self.dataset, splits={**self.dataset.splits, "train": [train[i] for i in kept.tolist()]})


class DataShelf:
    """The pairs read last, at most ``most`` of them."""

    def __init__(self, skip_bad: bool = False, most: int = 4) -> None:
        self._skip_bad, self._most = skip_bad, most
        self._held: dict[tuple[str, Pair], TrialData] = {}

    def get(self, source: str, pair: Pair) -> TrialData:
        """A pair of a source, or of a directory of packs."""
        data = self._held.pop((source, pair), None) or TrialData(self._open(source, pair))
        self._held[source, pair] = data
        while len(self._held) > self._most:
            del self._held[next(iter(self._held))]
        return data

    def _open(self, source: str, pair: Pair) -> PairWords:
        if source.startswith(PREFIX):
            return PackedWords(Path(source.removeprefix(PREFIX)), pair)
        return ReadWords(source, pair, self._skip_bad)


def _with_examples(base: Prepared, examples: Examples) -> Prepared:
    """The same texts in other pairs."""
    pairs = replace(base.pairs, query_of=examples.query_of, document_of=examples.document_of, grades=examples.grades)
    return replace(base, examples=examples, pairs=pairs)

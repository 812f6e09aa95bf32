"""The options that all matchers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogloss.systems.base import SystemOptions, option
from isogloss.systems.start_vectors import COLLECTION, RANDOM

if TYPE_CHECKING:
    from isogloss.training.loop import Recipe

NEGATIVES = ("random", "in-batch", "hard")
DEVICES = ("auto", "cpu", "cuda")

_START = f": a file, {RANDOM}, or for both {COLLECTION}: trained on the texts, aligned by the pages of the train split"


@dataclass(frozen=True)
class MatcherOptions(SystemOptions):
    """Options of every matcher; each has more of its own."""

    dimension: int = option(100, "of word vectors", 1, 4096)
    epochs: int = option(20, "passes over all pairs", 1, 100_000)
    batch: int = option(128, "pairs in a step", 1, 1_000_000)
    rate: float = option(0.001, "learning rate of Adam", 1e-9, 10)
    decay: float = option(1.0, "the rate is multiplied by this after each epoch", 1e-6, 1)
    clip: float = option(5.0, "largest norm of a step's gradient; 0: no clipping", 0, 1e9)
    margin: float = option(1.0, "by which a positive is to beat a negative", 1e-6, 1000)
    negatives: str = option("hard", f"one of {', '.join(NEGATIVES)} (near the positive, by BM25)")
    hard_share: float = option(0.5, "of the negatives that are hard, where negatives=hard", 0, 1)
    neighbours: int = option(50, "hard negatives to draw from, where negatives=hard", 1, 10_000)
    patience: int = option(
        5, "stop after so many epochs without a better dev measure, keep the best; 0: never", 0, 1000
    )
    measure: str = option("MAP", "the dev measure, on candidate lists or else on sampled documents")
    dev_queries: int = option(500, "dev queries measured after each epoch; 0: none", 0, 1_000_000)
    vocabulary: int = option(100_000, "most frequent words of each language that are known", 1, 10_000_000)
    minimum_count: int = option(1, "words that occur less often are unknown", 1, 1000)
    query_words: int = option(100, "words of a query that are read; 0: all", 0, 1_000_000)
    document_words: int = option(200, "words of a document that are read; 0: all", 0, 1_000_000)
    query_vectors: str = option(COLLECTION, f"word vectors of the query language to start from{_START}")
    document_vectors: str = option(COLLECTION, f"word vectors of the document language to start from{_START}")
    frozen: bool = option(False, "do not train the word vectors")
    dropout: float = option(0.2, "of word vectors", 0, 0.99)
    device: str = option("auto", "auto, cpu or cuda")
    seed: int = option(0, "of initial values, order and negatives", 0, 2**31 - 1)

    def check(self, system: str) -> None:
        """Raise for values that no range rules out."""
        from isogloss.evaluation.measures import MEASURES

        self.require(system, {"negatives": NEGATIVES, "device": DEVICES, "measure": tuple(MEASURES)})

    @property
    def starts_from_collection(self) -> bool:
        """Whether the initial word vectors are trained on the collection."""
        return self.query_vectors == self.document_vectors == COLLECTION

    def recipe(self) -> Recipe:
        """How it is trained."""
        from isogloss.training.loop import Recipe

        return Recipe(
            self.epochs, self.batch, self.rate, self.decay, patience=self.patience if self.dev_queries else 0,
            measure=self.measure, seed=self.seed,
        )  # fmt: skip

"""The options of ``smooth``, and the paper's recipes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.nn.losses import LOSSES, Loss, make_loss
from isogloss.storage.errors import InputError
from isogloss.systems.base import SystemOptions, numbers, option

if TYPE_CHECKING:
    from isogloss.training.loop import Recipe

ENCODERS = ("average", "cnn", "lstm")
DEVICES = ("auto", "cpu", "cuda")
RECIPES: dict[str, dict[str, Any]] = {
    "average": {"epochs": 30, "batch": 128, "rate": 0.01, "decay": 1.0},
    "cnn": {"epochs": 30, "batch": 128, "rate": 0.001, "decay": 0.95},
    "lstm": {"epochs": 15, "batch": 64, "rate": 0.001, "decay": 0.95},
}
"""How the paper trains each encoder."""


@dataclass(frozen=True)
class SmoothOptions(SystemOptions):
    """Options of ``smooth``. 0 epochs, batch, rate or decay: the paper's recipe for the encoder."""

    encoder: str = option("average", "average, cnn or lstm")
    dimension: int = option(64, "of word vectors and of texts", 1, 4096)
    eps: float = option(1.0, "of the smooth cosine; 0 is the cosine", 0, 100)
    loss: str = option("sosl", f"one of {', '.join(LOSSES)}")
    thresholds: str = option("", "of the loss, rising, like 0.2,0.7 (the default); 3part: 0.2,0.55,0.9")
    slope: float = option(10.0, "of the loss po; 1, as in the paper, does not train", 1e-3, 1e3)
    negatives: int = option(40, "random irrelevant documents a query", 0, 100_000)
    fresh_negatives: bool = option(False, "draw new ones each epoch")
    epochs: int = option(0, "average and cnn 30, lstm 15", 0, 100_000)
    batch: int = option(0, "pairs a step: average and cnn 128, lstm 64", 0, 1_000_000)
    rate: float = option(0.0, "learning rate of Adam: average .01, cnn and lstm .001", 0, 10)
    decay: float = option(0.0, "the rate is multiplied by this after each epoch: average 1, cnn and lstm .95", 0, 1)
    clip: float = option(1.0, "largest norm of a step's gradient; 0: no clipping", 0, 1e9)
    shuffle: bool = option(True, "a new order of the pairs each epoch")
    patience: int = option(
        0, "stop after so many epochs without a better dev measure, keep the best; 0: never", 0, 1000
    )
    measure: str = option("NDCG@5", "the dev measure, on sampled documents")
    dev_queries: int = option(1000, "dev queries measured after each epoch; 0: none", 0, 1_000_000)
    vocabulary: int = option(100_000, "most frequent words of each language that are known", 1, 10_000_000)
    minimum_count: int = option(1, "words that occur less often are unknown", 1, 1000)
    query_words: int = option(200, "words of a query that are read; 0: all", 0, 1_000_000)
    document_words: int = option(200, "words of a document that are read; 0: all", 0, 1_000_000)
    query_vectors: str = option("", "word vectors of the query language to start from; default: random")
    document_vectors: str = option("", "word vectors of the document language to start from; default: random")
    spread: float = option(0.1, "standard deviation of random word vectors", 1e-6, 10)
    frozen: bool = option(False, "do not train the word vectors (cnn, lstm)")
    shared: bool = option(False, "one tower for queries and documents (cnn, lstm)")
    filters: int = option(300, "of the cnn", 1, 100_000)
    window: int = option(3, "words a filter of the cnn sees", 1, 100)
    hidden: int = option(64, "units of the lstm, each direction", 1, 10_000)
    dropout: float = option(0.4, "of word vectors (cnn, lstm)", 0, 0.99)
    device: str = option("auto", "auto, cpu or cuda (average: auto is cpu)")
    seed: int = option(0, "of initial values, order and negatives", 0, 2**31 - 1)

    def check(self) -> None:
        """Raise for values that no range rules out."""
        from isogloss.evaluation.measures import MEASURES

        self.require(
            "smooth", {"encoder": ENCODERS, "loss": tuple(LOSSES), "device": DEVICES, "measure": tuple(MEASURES)}
        )
        if self.encoder == "average" and (self.frozen or self.shared):
            what = "frozen" if self.frozen else "shared"
            raise InputError(f"smooth.{what}: average has only word vectors; choose encoder=cnn or lstm")
        self.make_loss(3)

    def recipe(self) -> Recipe:
        """The paper's recipe for the encoder, with the values that are set."""
        from isogloss.training.loop import Recipe

        paper = {name: getattr(self, name) or value for name, value in RECIPES[self.encoder].items()}
        return Recipe(**paper, shuffle=self.shuffle, patience=self.patience, measure=self.measure, seed=self.seed)

    def make_loss(self, grades: int) -> Loss:
        """The loss for so many grades; without thresholds the paper's 0.2 and 0.7, with more between, or 0.2 alone."""
        thresholds = numbers("smooth.thresholds", self.thresholds, "0.2,0.7")
        if not thresholds and grades != 3 and self.loss != "3part":
            thresholds = np.linspace(0.2, 0.7, grades - 1).tolist()
        return make_loss(self.loss, thresholds, self.slope)

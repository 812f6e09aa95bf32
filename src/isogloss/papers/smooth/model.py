"""The options of ``smooth``, and its model: the vocabularies of both languages, the encoders of queries and documents.

The average needs only numpy, and has the shares of words in its vectors in closed form. cnn and lstm need torch; their
shares are integrated gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.similarity import smooth_scale
from isogloss.papers.smooth.losses import LOSSES, Loss, make_loss
from isogloss.papers.smooth.word_average import AverageEncoder, squashed_shares
from isogloss.papers.trained_system import DEVICES
from isogloss.papers.word_vectors.nearest import WordRetriever
from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.errors import InputError, import_extra
from isogloss.storage.strings import StringTable
from isogloss.systems.base import SystemOptions, numbers, option
from isogloss.systems.explanations import Doubles, read_words, sum_by_word
from isogloss.text.ids import TextIds

if TYPE_CHECKING:
    from torch import Tensor

    from isogloss.papers.learner import State
    from isogloss.papers.towers import Tower, TowerSizes
    from isogloss.papers.training_loop import Recipe

Side = Literal["query", "document"]
SIDES: tuple[Side, Side] = ("query", "document")
DEFAULT_GRADES = 3  # relevant, partially, not: those of models of earlier versions

ENCODERS = ("average", "cnn", "lstm")
OPTIMIZERS = ("adam", "dense")
RECIPES: dict[str, dict[str, Any]] = {
    "average": {"epochs": 30, "batch": 128, "rate": 0.01, "decay": 1.0},
    "cnn": {"epochs": 30, "batch": 128, "rate": 0.001, "decay": 0.95},
    "lstm": {"epochs": 15, "batch": 64, "rate": 0.001, "decay": 0.95},
}
"""How the paper trains each encoder; that its decay is one an epoch is our reading."""


@dataclass(frozen=True)
class SmoothOptions(SystemOptions):
    """Options of ``smooth``. 0 epochs, batch, rate or decay: the paper's recipe for the encoder."""

    encoder: str = option("average", "average, cnn or lstm")
    dimension: int = option(64, "of word vectors and of texts", 1, 4096)
    eps: float = option(0.1, "of the smooth cosine; 0 is the cosine, the paper has 1", 0, 100)
    loss: str = option("sosl", f"one of {', '.join(LOSSES)}")
    thresholds: str = option(
        "", "of the loss, rising; sosl 0.3,0.98 (the paper 0.2,0.7), 3part 0.2,0.55,0.9, others 0.2,0.7"
    )
    slope: float = option(0.0, "of the losses po and po-open; 0: po 1, as in the paper, po-open (ours) 10", 0, 1e3)
    negatives: int = option(40, "random irrelevant documents a query", 0, 100_000)
    fresh_negatives: bool = option(False, "draw new ones each epoch")
    epochs: int = option(0, "average and cnn 30, lstm 15", 0, 100_000)
    batch: int = option(0, "pairs a step: average and cnn 128, lstm 64", 0, 1_000_000)
    rate: float = option(0.0, "learning rate of Adam: average .01, cnn and lstm .001", 0, 10)
    decay: float = option(0.0, "the rate is multiplied by this after each epoch: average 1, cnn and lstm .95", 0, 1)
    clip: float = option(1.0, "largest norm of a step's gradient; 0: no clipping", 0, 1e9)
    optimizer: str = option("adam", "adam, or dense: the same by torch, which passes over all word vectors each step")
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
    shared: bool = option(False, "one tower for both sides (cnn, lstm): better where we measured; the paper: two")
    filters: int = option(300, "of the cnn", 1, 100_000)
    window: int = option(3, "words a filter of the cnn sees", 1, 100)
    hidden: int = option(64, "units of the lstm, each direction", 1, 10_000)
    dropout: float = option(0.4, "of word vectors (cnn, lstm)", 0, 0.99)
    squashed: bool = option(False, "tanh after the full layer of the cnn; the paper has none")
    both_last: bool = option(False, "both last states of the lstm; the paper: the output at the first position")
    device: str = option("auto", "auto, cpu or cuda (average: auto is cpu, unless optimizer is dense)")
    seed: int = option(0, "of initial values, order and negatives", 0, 2**31 - 1)

    def check(self) -> None:
        """Raise for values that no range rules out."""
        known = {"encoder": ENCODERS, "loss": tuple(LOSSES), "device": DEVICES, "optimizer": OPTIMIZERS}
        self.require("smooth", known)
        self.require_measure("smooth")
        if self.encoder == "average" and (self.frozen or self.shared):
            what = "frozen" if self.frozen else "shared"
            raise InputError(f"smooth.{what}: average has only word vectors; choose encoder=cnn or lstm")
        self.make_loss(3)

    def recipe(self) -> Recipe:
        """The paper's recipe for the encoder, with the values that are set."""
        from isogloss.papers.training_loop import Recipe

        paper = {name: getattr(self, name) or value for name, value in RECIPES[self.encoder].items()}
        return Recipe(**paper, shuffle=self.shuffle, patience=self.patience, measure=self.measure, seed=self.seed)

    def make_loss(self, grades: int) -> Loss:
        """The loss for so many grades; its own two thresholds, where none are set, have more between for more grades.

        Those of SOSL, and eps, were chosen by the MRR over the whole collection of bible fr
        (docs/results/smooth.md#figure-4).
        """
        thresholds = numbers("smooth.thresholds", self.thresholds, "0.3,0.98")
        if not thresholds and self.loss != "3part":
            first, last = (0.3, 0.98) if self.loss == "sosl" else (0.2, 0.7)
            thresholds = np.linspace(first, last, grades - 1).tolist()
        return make_loss(self.loss, thresholds, self.slope)


class SmoothModel:
    """Encodes texts as vectors whose inner product is the smooth cosine; ``grades``: how many it is trained on."""

    def __init__(
        self, options: SmoothOptions, words: dict[Side, StringTable], parameters: State, grades: int = DEFAULT_GRADES
    ) -> None:
        self.options, self.words, self.parameters, self.grades = options, words, parameters, grades
        self._longest = {"query": options.query_words, "document": options.document_words}

    def encode(self, side: Side, texts: Sequence[str], label: str = "encoding") -> Matrix:
        """One row a text."""
        average = self._averages[side]
        if self.options.encoder == "average":
            return self._scaled(average.encode(texts, label))
        return self.encode_ids(side, TextIds(*average.ids(texts, label)))

    def encode_ids(self, side: Side, texts: TextIds) -> Matrix:
        """One row a text, from the ids of its words."""
        if self.options.encoder == "average":
            return self._scaled(self._averages[side].pool(texts.ids, texts.offsets))
        return self._scaled(self._torch_encoders[SIDES.index(side)].encode(texts.ids, texts.offsets))

    def table(self, side: Side) -> Matrix:
        """The word vectors of one side."""
        return np.asarray(self.parameters[self.table_name(side)])

    def table_name(self, side: Side) -> str:
        """The name of the word vectors of one side among the parameters."""
        return f"{side}_table" if self.options.encoder == "average" else f"{side}.table"

    @cached_property
    def document_words(self) -> WordRetriever:
        """Finds the document words nearest to vectors, for the average."""
        return WordRetriever(np.tanh(self.table("document")))

    def save(self, directory: Path) -> None:
        """Write ``model.safetensors`` and the words."""
        write_tensors(directory / "model.safetensors", self.parameters, {"grades": str(self.grades)})
        for side in SIDES:
            self.words[side].save(directory, f"{side}_words")

    @classmethod
    def load(cls, directory: Path, options: SmoothOptions) -> SmoothModel:
        parameters, metadata = read_tensors(directory / "model.safetensors")
        words = {side: StringTable.load(directory, f"{side}_words").checked(f"{side}_words") for side in SIDES}
        made = cls(options, words, parameters, int(metadata.get("grades", DEFAULT_GRADES)))
        for side in SIDES:
            if made.table_name(side) not in parameters or len(made.table(side)) != len(words[side]):
                raise ValueError(f"model.safetensors does not fit the options and {side}_words")
        if options.encoder == "average":
            _ = made._averages  # which checks the words
        return made

    def _scaled(self, vectors: Matrix) -> Matrix:
        return np.asarray(smooth_scale(vectors, self.options.eps), dtype=np.float32)

    def query_shares(self, query: str) -> tuple[list[str], Doubles]:
        """The known words of a query, each with its share in the scaled vector."""
        words, vectors = self._read("query", query)
        if not words:
            return [], np.zeros((0, self.options.dimension))
        if self.options.encoder == "average":
            shares = squashed_shares(vectors)
            return sum_by_word(words, shares / self._length(shares.sum(axis=0)))
        import torch

        from isogloss.papers.integrated_gradients import word_shares

        found = word_shares(partial(_encode, self._torch_encoders[0].module.tower), torch.from_numpy(vectors))
        whole = (found.words.sum(dim=0) + found.rest).numpy()
        return sum_by_word(words, found.words.numpy() / self._length(whole))

    def document_products(self, text: str, directions: Doubles) -> tuple[list[str], Doubles]:
        """The known words of a document, and the products of each one's share in the scaled vector with directions."""
        words, vectors = self._read("document", text)
        if not words:
            return [], np.zeros((len(directions), 0))
        if self.options.encoder == "average":
            shares = squashed_shares(vectors)
            names, products = sum_by_word(words, shares @ directions.T / self._length(shares.sum(axis=0)))
            return names, products.T
        import torch

        from isogloss.papers.integrated_gradients import shares_along

        encode, known = partial(_encode, self._torch_encoders[1].module.tower), torch.from_numpy(vectors)
        found = shares_along(encode, known, torch.from_numpy(directions.astype(np.float32)))
        with torch.inference_mode():
            length = self._length(encode(known[None])[0].numpy())
        names, products = sum_by_word(words, found.words.numpy() / length)
        return names, products.T

    def _read(self, side: Side, text: str) -> tuple[list[str], NDArray[np.float32]]:
        words, rows = read_words(text, self.words[side], self._longest[side])
        return words, np.asarray(self.table(side)[rows], dtype=np.float32)

    def _length(self, vector: NDArray[np.floating]) -> float:
        """The divisor of a vector in the smooth cosine."""
        return float(np.linalg.norm(vector)) + self.options.eps or 1.0

    @cached_property
    def _averages(self) -> dict[Side, AverageEncoder]:
        return {side: AverageEncoder(self.words[side], self.table(side), self._longest[side]) for side in SIDES}

    @cached_property
    def _torch_encoders(self) -> Any:
        import_extra("torch", "papers", f"the encoder {self.options.encoder}")
        from isogloss.papers.torch_encoder import load_encoders

        return load_encoders(self.options.encoder, self.parameters, tower_sizes(self.options))


def tower_sizes(options: SmoothOptions) -> TowerSizes:
    """The sizes of the cnn and the lstm."""
    from isogloss.papers.towers import TowerSizes

    sizes = options.filters, options.window, options.hidden, options.dropout
    return TowerSizes(options.dimension, *sizes, options.squashed, options.both_last)


def _encode(tower: Tower, copies: Tensor) -> Tensor:
    """One row for each copy of a text; each copy of a word is a word of its own, because a tower looks words up."""
    import torch

    number, length, dimension = copies.shape
    words = torch.arange(number * length).reshape(number, length)
    encoded: Tensor = tower.eval()(copies.reshape(-1, dimension), words, torch.full((number,), length))
    return encoded

"""The model of ``smooth``: the vocabularies of both languages, and the encoders of queries and documents.

The average needs only numpy, and has the shares of words in its vectors in closed form. cnn and lstm need torch; their
shares are integrated gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from isogloss.nn.attribution import squashed_shares
from isogloss.nn.encoders.average import AverageEncoder
from isogloss.nn.similarity import smooth_scale
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.errors import import_extra
from isogloss.storage.strings import StringTable
from isogloss.systems.explanations import Doubles, read_words, sum_by_word
from isogloss.systems.smooth.options import SmoothOptions
from isogloss.text.ids import TextIds
from isogloss.translation.vectors.nearest import WordRetriever
from isogloss.translation.vectors.word_vectors import Matrix

if TYPE_CHECKING:
    from torch import Tensor

    from isogloss.nn.encoders.towers import Tower, TowerSizes
    from isogloss.training.learner import State

Side = Literal["query", "document"]
SIDES: tuple[Side, Side] = ("query", "document")
DEFAULT_GRADES = 3  # relevant, partially, not: those of models of earlier versions


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
        words = {side: StringTable.load(directory, f"{side}_words") for side in SIDES}
        made = cls(options, words, parameters, int(metadata.get("grades", DEFAULT_GRADES)))
        for side in SIDES:
            if made.table_name(side) not in parameters or len(made.table(side)) != len(words[side]):
                raise ValueError(f"model.safetensors does not fit the options and {side}_words")
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

        from isogloss.nn.integrated_gradients import word_shares

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

        from isogloss.nn.integrated_gradients import shares_along

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
        import_extra("torch", "train", f"the encoder {self.options.encoder}")
        from isogloss.nn.encoders.torch_encoder import load_encoders

        return load_encoders(self.options.encoder, self.parameters, tower_sizes(self.options))


def tower_sizes(options: SmoothOptions) -> TowerSizes:
    """The sizes of the cnn and the lstm."""
    from isogloss.nn.encoders.towers import TowerSizes

    return TowerSizes(options.dimension, options.filters, options.window, options.hidden, options.dropout)


def _encode(tower: Tower, copies: Tensor) -> Tensor:
    """One row for each copy of a text; each copy of a word is a word of its own, because a tower looks words up."""
    import torch

    number, length, dimension = copies.shape
    words = torch.arange(number * length).reshape(number, length)
    encoded: Tensor = tower.eval()(copies.reshape(-1, dimension), words, torch.full((number,), length))
    return encoded

"""Word vectors: words, a matrix of one row each, and isogloss's memory-mapped format for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory
from isogloss.storage.strings import StringTable


class WordVectors:
    """Words, the most frequent first where the source knows that order, and their vectors as rows of a matrix."""

    def __init__(self, words: Sequence[str], matrix: Matrix) -> None:
        if len(words) != len(matrix) or matrix.ndim != 2:
            raise ValueError("as many rows as words are needed")
        self.words, self.matrix = words, matrix

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.row_of

    def __getitem__(self, word: str) -> Matrix:
        vector: Matrix = self.matrix[self.row_of[word]]
        return vector

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Word to row."""
        return {word: row for row, word in enumerate(self.words)}

    def rows(self, words: Iterable[str]) -> list[int]:
        """The rows of the known words, in order; unknown ones are left out."""
        return [self.row_of[word] for word in words if word in self.row_of]

    def save(self, directory: Path | str, overwrite: bool = False) -> None:
        """Write isogloss's own format: a directory that is mapped, not read."""
        with atomic_directory(directory, overwrite, "matrix.npy") as partial:
            StringTable.of(self.words).save(partial, "words")
            save_array(partial / "matrix.npy", np.ascontiguousarray(self.matrix, dtype=np.float32))

    @classmethod
    def load(cls, directory: Path | str) -> WordVectors:
        """Map what ``save`` wrote."""
        directory = Path(directory)
        try:
            matrix = load_array(directory / "matrix.npy")
            if matrix.ndim != 2 or matrix.dtype.kind != "f":
                raise ValueError(f"matrix.npy is an array of {matrix.dtype} with the shape {matrix.shape}")
            return cls(StringTable.load(directory, "words"), matrix)
        except (OSError, ValueError) as error:
            raise InputError(f"{directory}: not word vectors in the isogloss format ({error})") from error

"""The weights of the words of documents, where the data have weights instead of running text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TermWeights:
    """Row i has the weight ``values[j]`` for the word ``vocabulary[columns[j]]``, offsets[i] <= j < offsets[i + 1]."""

    vocabulary: list[str]
    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The columns of a row (counted from 0), ascending, and their values."""
        span = slice(self.offsets[number], self.offsets[number + 1])
        return self.columns[span], self.values[span]

    def rows(self, numbers: Sequence[int]) -> TermWeights:
        """These rows, in this order."""
        spans = [slice(self.offsets[number], self.offsets[number + 1]) for number in numbers]
        offsets = np.cumsum([0, *(span.stop - span.start for span in spans)]).astype(np.int64)
        columns = np.concatenate([self.columns[:0], *(self.columns[span] for span in spans)])
        values = np.concatenate([self.values[:0], *(self.values[span] for span in spans)])
        return TermWeights(self.vocabulary, offsets, columns, values)

"""Systems whose score is, or begins with, a sparse inner product, so that an engine can store and search them.

    score(q, d) = sum_w q_w d_w        over the dimensions w that both vectors have

A dimension is a 32-bit hash of a string, so no vocabulary has to be kept. What a weight depends on besides its text
(document frequencies, the mean length) is observed once, when an index is made in an engine, and frozen: the engine
keeps the weights. Documents that are added later are weighed by the same statistics.

``tests/systems/sparse_conformance.py`` says what a sparse system must do, in tests.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Scores
from isogloss.storage.arrays import load_array, save_array
from isogloss.systems.base import System
from isogloss.text.batches import TokenizedTexts

Dimensions = NDArray[np.uint32]
_FILES = ("totals", "dimensions", "frequencies")


class SparseVector(NamedTuple):
    """Dimensions, ascending, and their weights."""

    dimensions: Dimensions
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> SparseVector:
        """The vector of weighted strings; the weights of strings with the same hash add up, zeros are left out.

        >>> SparseVector.of({"mer": 2.0, "sel": 0.0}).weights.tolist()
        [2.0]
        """
        kept = {string: weight for string, weight in weights.items() if weight}
        dimensions, places = np.unique(dimensions_of(list(kept)), return_inverse=True)
        summed = np.bincount(places, np.fromiter(kept.values(), np.float64, len(kept)), len(dimensions))
        return cls(dimensions, summed.astype(np.float32))

    def product(self, other: SparseVector) -> float:
        """The inner product.

        >>> SparseVector.of({"mer": 2.0, "sel": 1.0}).product(SparseVector.of({"mer": 3.0, "ciel": 1.0}))
        6.0
        """
        _, own, others = np.intersect1d(self.dimensions, other.dimensions, assume_unique=True, return_indices=True)
        return float(self.weights[own].astype(np.float64) @ other.weights[others].astype(np.float64))


class SparseSystem(System):
    """A system that makes a sparse vector of each text and of each query."""

    candidates: int = 0
    """How many documents are fetched to be re-scored by ``rescore``; 0: the inner product is the score."""
    statistics: Any = None
    """The frozen statistics of the collection; None before ``freeze``."""

    @abstractmethod
    def observe(self, texts: Sequence[str]) -> None:
        """Add texts to the statistics of the collection; all of them are observed before ``freeze``."""

    @abstractmethod
    def freeze(self) -> None:
        """Make what was observed the ``statistics`` from now on; ``save_shared`` writes them."""

    @abstractmethod
    def sparse_documents(self, texts: Sequence[str]) -> list[SparseVector]:
        """A vector for each text, by the frozen statistics; each text by itself."""

    @abstractmethod
    def sparse_query(self, query: str) -> SparseVector:
        """The vector of a query."""

    def rescore(self, query: str, texts: Sequence[str]) -> Scores:
        """The scores of whole documents by their texts alone, where there are ``candidates``."""
        raise NotImplementedError(f"{self.name} re-scores nothing")


class DimensionCounts(NamedTuple):
    """``dimensions[offsets[i]:offsets[i + 1]]`` are those of text ``i``, ascending, ``counts`` their frequencies."""

    offsets: NDArray[np.int64]
    dimensions: Dimensions
    counts: NDArray[np.int64] | NDArray[np.float64]

    @classmethod
    def of(cls, tokens: TokenizedTexts) -> DimensionCounts:
        """Count the dimensions of tokenized texts."""
        text_of = np.repeat(np.arange(len(tokens), dtype=np.uint64), np.diff(tokens.offsets))
        hashes = dimensions_of(tokens.terms)[tokens.ids].astype(np.uint64)
        pairs, counts = np.unique((text_of << np.uint64(32)) | hashes, return_counts=True)
        offsets = np.searchsorted(pairs >> np.uint64(32), np.arange(len(tokens) + 1, dtype=np.uint64))
        return cls(offsets, pairs.astype(np.uint32), counts)

    def vectors(self, weights: NDArray[np.float32]) -> list[SparseVector]:
        """A vector of each text; ``weights`` are those of all dimensions, text after text."""
        ends = self.offsets[1:-1]
        split = zip(np.split(self.dimensions, ends), np.split(weights, ends), strict=True)
        return [SparseVector(*pair) for pair in split][: len(self.offsets) - 1]


class TermStatistics:
    """Of a collection the number of texts, the sum of their lengths, and df: how many texts have each dimension."""

    def __init__(self) -> None:
        self.texts, self.length = 0, 0
        self._dimensions, self._frequencies = np.zeros(0, np.uint32), np.zeros(0, np.int64)

    def observe(self, tokens: TokenizedTexts, counted: DimensionCounts) -> None:
        """Add tokenized texts, whose dimensions are counted."""
        self.texts += len(tokens)
        self.length += len(tokens.ids)
        both = np.concatenate([self._dimensions, counted.dimensions])
        each = np.concatenate([self._frequencies, np.ones(len(counted.dimensions), np.int64)])
        self._dimensions, places = np.unique(both, return_inverse=True)
        self._frequencies = np.bincount(places, each, len(self._dimensions)).astype(np.int64)

    @property
    def mean_length(self) -> float:
        """The mean length of a text, in terms; 1 where nothing was observed."""
        return self.length / max(1, self.texts) or 1.0

    def frequencies(self, dimensions: Dimensions) -> NDArray[np.int64]:
        """The df of some dimensions; 0 where no text has one."""
        if not len(self._dimensions):
            return np.zeros(len(dimensions), np.int64)
        places = np.minimum(np.searchsorted(self._dimensions, dimensions), len(self._dimensions) - 1)
        return np.where(self._dimensions[places] == dimensions, self._frequencies[places], 0)

    def frequency(self, term: str) -> int:
        """The df of one term."""
        return int(self.frequencies(dimensions_of([term]))[0])

    def save(self, directory: Path) -> None:
        """Write them into an existing directory."""
        totals = np.asarray([self.texts, self.length], np.int64)
        arrays: tuple[NDArray[Any], ...] = totals, self._dimensions, self._frequencies
        for name, array in zip(_FILES, arrays, strict=True):
            save_array(directory / f"statistics.{name}.npy", array)

    @classmethod
    def load(cls, directory: Path) -> TermStatistics | None:
        """Read what ``save`` wrote; None where it wrote nothing."""
        try:
            totals, dimensions, frequencies = (load_array(directory / f"statistics.{name}.npy") for name in _FILES)
        except FileNotFoundError:
            return None
        made = cls()
        made.texts, made.length = totals.tolist()
        made._dimensions, made._frequencies = dimensions, frequencies
        return made


def dimensions_of(strings: Sequence[str]) -> Dimensions:
    """The dimension of each string: the first 32 bits of its BLAKE2b hash, the same everywhere.

    >>> dimensions_of(["mer", "sel"]).tolist()
    [1548819114, 4261341809]
    """
    hashes = (blake2b(string.encode("utf-8", "surrogatepass"), digest_size=4).digest() for string in strings)
    return np.frombuffer(b"".join(hashes), dtype="<u4").astype(np.uint32)

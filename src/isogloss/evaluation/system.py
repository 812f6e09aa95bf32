"""System: anything that can score documents for a query. Every system of every paper and every baseline is one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.base.progress import track
from isogloss.corpus.collection import Collection
from isogloss.corpus.dataset import Dataset
from isogloss.corpus.records import Query
from isogloss.evaluation.ranking import Ranking, Scores, top_k


@dataclass(frozen=True)
class SystemOptions:
    """What a system can be told, as a frozen dataclass whose fields carry their help and range in their metadata."""

    @classmethod
    def describe(cls) -> Iterator[tuple[str, Any, str]]:
        """Name, default and help of each option."""
        for option in fields(cls):
            yield option.name, option.default, option.metadata.get("help", "")


class Contribution(NamedTuple):
    """What one word of the query added to a document's score, through which words of the document."""

    query_word: str
    document_words: tuple[str, ...]
    score: float


class System(ABC):
    """Fit on a training set, index documents, score them for queries, save to and load from a directory.

    A system is made for one pair of languages. ``fit`` learns from a train split (nothing, for systems that do not
    learn); ``index`` takes the documents that are going to be searched; only then can it score.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    options_type: ClassVar[type[SystemOptions]]
    learns: bool = False
    """Whether it has to be fitted before it can index."""
    found_above: ClassVar[float] = -np.inf
    """Documents that do not score above this count as not found."""

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        self.options = options
        self.query_language = query_language
        self.document_language = document_language
        self.id_order: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def fit(self, training: Dataset) -> None:  # noqa: B027 - most baselines learn nothing
        """Learn from the train split of a dataset; never look at its other splits."""

    def index(self, documents: Collection, fields: tuple[str, ...]) -> None:
        """Make these documents the ones that are scored, reading the given fields of each."""
        self.id_order = documents.id_order
        self.index_texts(documents.texts(fields))

    @abstractmethod
    def index_texts(self, texts: Sequence[str]) -> None:
        """Make the texts the ones that are scored; row i is text i."""

    @abstractmethod
    def scores(self, query: str) -> Scores:
        """The score of every indexed document for a query text."""

    def best_possible(self, query: str) -> float:
        """A bound on the score of any document for the query, where scores of several systems are to be compared."""
        return 1.0

    def unknown_words(self, query: str) -> list[str]:
        """The words of a query that the system can do nothing with, where it knows."""
        return []

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """The words of a query and what stands for each in the documents' language, best first, where it knows."""
        return []

    def term_of(self, word: str) -> str | None:
        """What a word of a document is to the system (its stem, say); None if it does not see the word."""
        return word

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """What made the score of a document (its text is given), word by word of the query; empty if it cannot say."""
        return []

    def search(self, query: str, k: int) -> Ranking:
        """The best ``k`` of all indexed documents."""
        return top_k(self.scores(query), k, self.id_order, above=self.found_above)

    def search_all(self, queries: Sequence[Query], k: int, label: str = "searching") -> Iterator[Ranking]:
        """The best ``k`` for each query, in order. Systems that are faster in batches override this."""
        return (self.search(query.text, k) for query in track(queries, label))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        """The scores of some documents. Systems that can score few without scoring all override this."""
        return self.scores(query)[rows]

    @abstractmethod
    def save(self, directory: Path) -> None:
        """Write what ``load`` needs into an existing directory (the options are kept by the caller)."""

    @abstractmethod
    def load(self, directory: Path) -> Self:
        """Read what ``save`` wrote, memory-mapped where that pays."""

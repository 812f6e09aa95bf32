"""System: anything that can score documents for a query. Every system of every paper and every baseline is one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Query
from isogloss.retrieval.ranking import Allowed, Ranking, Scores, top_k
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.progress import track

_ORDER = "order.npy"


@dataclass(frozen=True)
class SystemOptions:
    """What a system can be told, as a frozen dataclass whose fields carry their help and range in their metadata."""

    passages: int = field(
        default=0, kw_only=True,
        metadata={
            "help": "index windows of so many words (30, say), of which the best scores its document; 0: whole texts",
            "range": (0, 1_000_000),
        },
    )  # fmt: skip

    @classmethod
    def describe(cls) -> Iterator[tuple[str, Any, str]]:
        """Name, default and help of each option; those that every system has come last."""
        for option in sorted(fields(cls), key=lambda option: option.name in SystemOptions.__dataclass_fields__):
            yield option.name, option.default, option.metadata.get("help", "")


def option(default: Any, text: str, least: float | None = None, most: float | None = None) -> Any:
    """A field of an options class, with its help and its range."""
    metadata: dict[str, Any] = {"help": text}
    if least is not None:
        metadata["range"] = (least, most)
    return field(default=default, metadata=metadata)


class Contribution(NamedTuple):
    """What one word of the query added to a document's score, through which words of the document."""

    query_word: str
    document_words: tuple[str, ...]
    score: float


class System(ABC):
    """Fit on a training set, index documents, score them for queries, save to and load from a directory.

    A system is made for one pair of languages. ``fit`` learns from a train split (nothing, for systems that do not
    learn); ``index`` takes the documents that are going to be searched; only then can it score.

    What is saved has two halves. What no document decides (a lexicon, word vectors, a model) is *shared*; the indexed
    documents are a *part*. A system that *joins* searches several parts, each indexed at its own time with the same
    shared half, as if all their documents had been indexed at once: that is what an index which changes is made of.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    options_type: ClassVar[type[SystemOptions]]
    paper_grid: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Options and the values that the paper's authors chose from, where they say so."""
    learns: bool = False
    """Whether it has to be fitted before it can index."""
    found_above: ClassVar[float] = -np.inf
    """Documents that do not score above this count as not found."""
    joins: ClassVar[bool] = False
    """Whether several saved parts can be searched as one collection; if not, each change indexes all documents anew."""
    comparable: bool = False
    """Whether its scores mean the same for every query and every language, so that they need no scale."""
    explains_quickly: bool = True
    """Whether a score is explained in about the time of a search, so that the words of all hits can be marked by it."""
    searches: ClassVar[bool] = True
    """Whether it is made to search whole collections, rather than to rank lists that something faster has found."""

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

    def passage(self, query: str, row: int) -> tuple[int, int] | None:
        """Where the passage of a document that answers a query best begins and ends in the text that was indexed.

        None where the system scores documents as a whole.
        """
        return None

    def thresholds(self) -> tuple[float, ...]:
        """The scores that separate the classes of relevance, ascending; none where scores mean nothing absolute."""
        return ()

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        """The best ``k`` of all indexed documents, or of those whose row is allowed."""
        scores = self.scores(query)
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        return top_k(scores, k, self.id_order, above=self.found_above)

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """The best ``k`` for each query. Systems that are faster in batches override this."""
        return [self.search(query, k, allowed) for query in queries]

    def search_all(self, queries: Sequence[Query], k: int, label: str = "searching") -> Iterator[Ranking]:
        """The best ``k`` for each query, in order, with a progress bar."""
        return (self.search(query.text, k) for query in track(queries, label))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        """The scores of some documents. Systems that can score few without scoring all override this."""
        return self.scores(query)[rows]

    def about(self) -> dict[str, Any]:
        """What there is to know of the indexed documents beyond their number: how vectors are kept, say."""
        return {}

    def count_only(self, live: Allowed) -> None:  # noqa: B027 - most know nothing of a collection but its documents
        """Let the other documents count no more in what is known of the collection (how many hold a word, say).

        They keep their rows; a search that is told what is ``allowed`` is told to leave them out. To be called after
        ``load_parts``.
        """

    def save(self, directory: Path) -> None:
        """Write what ``load`` needs into an existing directory (the options are kept by the caller)."""
        self.save_shared(directory)
        self.save_part(directory)
        save_array(directory / _ORDER, self.id_order)

    def load(self, directory: Path) -> Self:
        """Read what ``save`` wrote, memory-mapped where that pays."""
        path = directory / _ORDER
        return self.load_shared(directory).load_parts([directory], load_array(path) if path.exists() else self.id_order)

    def save_shared(self, directory: Path) -> None:  # noqa: B027 - some have nothing to share
        """Write what no document decides into an existing directory."""

    def load_shared(self, directory: Path) -> Self:
        """Read what ``save_shared`` wrote: after this more documents can be indexed."""
        return self

    @abstractmethod
    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        """Write the indexed documents, of several parts all as one, into an existing directory; only those to keep."""

    @abstractmethod
    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        """Map what ``save_part`` wrote, one directory after the other; ``id_order`` speaks of all their rows."""

    def _take_order(self, id_order: NDArray[np.int64], rows: int) -> None:
        """Ties go by this order; by row where it is not the order of so many rows."""
        self.id_order = id_order if len(id_order) == rows else np.arange(rows)

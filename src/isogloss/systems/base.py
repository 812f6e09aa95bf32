"""System: anything that scores documents for a query. Every system and every baseline implements it.

A new system is a subclass with options and four methods, and an entry point of the group ``isogloss.systems``
(:mod:`isogloss.storage.plugins`):

    @dataclass(frozen=True)
    class MineOptions(SystemOptions):
        boost: float = option(2.0, "weight of the title", 0, 100)

    class Mine(System):
        name, paper, summary = "mine", "Me 2026, A Paper", "what it does in one line"
        options_type = MineOptions

        def index_texts(self, texts): ...
        def scores(self, query): ...
        def save_part(self, directory, keep=None): ...
        def load_parts(self, directories, id_order): ...

A system that is trained also defines ``fit``, ``save_shared`` and ``load_shared``. All other methods have defaults;
override those that the system can do better (``search``), or that it has an answer to (``explain``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Query
from isogloss.retrieval.ranking import Allowed, Matches, Ranking, Scores, top_k
from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.glossing import Glosser

_ORDER = "order.npy"
FILE_OPTIONS = ("lexicon", "query_vectors", "document_vectors")
"""Options that name files."""
_NOW = ("download",)
"""Options for the moment, of which no index is made."""
RARE = 1e-9
"""The frequency of a word that is known but never seen."""
VERBATIM = 0.1
"""By how much rarer a word of the documents is in queries that are in another language: it is mostly a name."""
AUTO = "auto"
"""The lexicon that is found: see :func:`isogloss.systems.lexicons.auto_lexicon`."""


@dataclass(frozen=True)
class SystemOptions:
    """The options of a system: a frozen dataclass; the metadata of each field has its help text and its range."""

    passages: int = field(
        default=0, kw_only=True,
        metadata={
            "help": "index passages of so many words (30, say), of which the best scores its document; 0: whole texts",
            "range": (0, 1_000_000),
        },
    )  # fmt: skip

    @classmethod
    def describe(cls) -> Iterator[tuple[str, Any, str]]:
        """Name, default and help text of each option; the options of all systems come last."""
        for option in sorted(fields(cls), key=lambda option: option.name in SystemOptions.__dataclass_fields__):
            yield option.name, option.default, option.metadata.get("help", "")

    def without_files(self) -> dict[str, Any]:
        """The values of all options without names of files: an index stores what it needs of those files."""
        values = {name: value for name, value in asdict(self).items() if name not in _NOW}
        return {name: "" if name in FILE_OPTIONS else value for name, value in values.items()}

    def require(self, system: str, choices: Mapping[str, Sequence[str]]) -> None:
        """Raise where an option is not one of its choices."""
        for name, known in choices.items():
            if getattr(self, name) not in known:
                shown = ", ".join(filter(None, known))
                raise InputError(f"{system}.{name}: {getattr(self, name)!r} is not one of {shown}")

    def require_measure(self, system: str) -> None:
        """Raise where the option ``measure`` is no measure. The default is one: searching loads no measures."""
        if self.measure != type(self).measure:  # type: ignore[attr-defined]
            from isogloss.evaluation.measures import MEASURES

            self.require(system, {"measure": tuple(MEASURES)})


def option(default: Any, text: str, least: float | None = None, most: float | None = None) -> Any:
    """A field of an options class, with its help text and its range."""
    metadata: dict[str, Any] = {"help": text}
    if least is not None:
        metadata["range"] = (least, most)
    return field(default=default, metadata=metadata)


def names_among(words: Sequence[str], counts: NDArray[np.int64], tokenizer: Tokenizer) -> NDArray[np.int64]:
    """The counts of those words that are terms of documents as they are, and not only alike to a stem."""
    for i in np.flatnonzero(counts).tolist():
        counts[i] *= tokenizer.terms([words[i]]) == [words[i]]
    return counts


def numbers(name: str, text: str, like: str) -> list[float]:
    """The numbers of an option that is a list of them, separated by commas."""
    try:
        return [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        raise InputError(f"{name}: {text!r} is not a list of numbers like {like}") from None


class Contribution(NamedTuple):
    """What one word of the query adds to a document's score, and the words of the document that it matches."""

    query_word: str
    document_words: tuple[str, ...]
    score: float


class TextScorer(ABC):
    """What can score any text for a query, indexed or not: re-rankers are made of it."""

    def query_texts(self, queries: Sequence[str]) -> Sequence[str]:
        """The texts that ``score_texts`` reads in place of the queries: their translations, for example."""
        return queries

    @abstractmethod
    def score_texts(self, queries: Sequence[str], documents: Sequence[str]) -> Matrix:
        """The score of each query (a row) with each text (a column)."""

    @abstractmethod
    def explain_text(self, query: str, text: str, score: float) -> list[Contribution]:
        """What each word of the query contributes to the score of a text."""


class QueryVocabulary(NamedTuple):
    """The letters of the words that are known of a language, and the number of words."""

    letters: str = ""
    size: int = 0


class System(ABC):
    """Fit on a train split, index documents, score them for queries, save to and load from a directory.

    A system is made for one pair of languages. ``fit`` comes first, where the system ``learns``; then ``index``; then
    it can score.

    A saved system has two halves. What does not depend on the documents (a lexicon, word vectors, a model) is *shared*;
    indexed documents are a *part*. A system that ``joins`` searches several parts, indexed at different times with the
    same shared half, as if all their documents had been indexed at once: an index that changes consists of such parts.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    options_type: ClassVar[type[SystemOptions]]
    paper_grid: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The values of options that the paper's authors searched, where they say so."""
    learns: bool = False
    """Whether it has to be fitted before it can index."""
    found_above: ClassVar[float] = -np.inf
    """A search returns only documents with a higher score."""
    measures_on_dev: ClassVar[bool] = False
    """Whether ``fit`` measures on the dev split while it trains, to stop in time."""
    joins: ClassVar[bool] = False
    """Whether several parts can be searched as one collection; if not, each change indexes all documents again."""
    comparable: bool = False
    """Whether scores of different queries and languages are comparable without scaling."""
    explains_quickly: bool = True
    """Whether explaining a score takes about as long as a search, so that all hits can be highlighted by it."""
    uses_starter: ClassVar[bool] = False
    """Whether it uses the starter table of its languages (:mod:`isogloss.translation.starter`)."""
    translates: ClassVar[bool] = False
    """Whether it translates word by word, so that it is of no use where both languages are the same."""
    searches: ClassVar[bool] = True
    """Whether it is made to search whole collections, and not only to re-rank candidates."""

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        self.options = options
        self.query_language = query_language
        self.document_language = document_language
        self.id_order: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def fit(self, training: Dataset) -> None:  # noqa: B027 - most baselines are not trained
        """Train on the train split of a dataset, where it ``measures_on_dev`` with its dev split; never on others."""

    def index(self, documents: Collection, fields: tuple[str, ...]) -> None:
        """Index these documents, in place of those indexed before; ``fields`` are the fields of each to read."""
        self.id_order = documents.id_order
        self.index_texts(documents.texts(fields))

    @abstractmethod
    def index_texts(self, texts: Sequence[str]) -> None:
        """Index these texts, in place of those indexed before; row i is text i."""

    @abstractmethod
    def scores(self, query: str) -> Scores:
        """The score of every indexed document for a query text."""

    def best_possible(self, query: str) -> float:
        """An upper bound of the score of any document, by which scores of several systems are scaled."""
        return 1.0

    def unknown_words(self, query: str) -> list[str]:
        """The words of a query that are out of the system's vocabulary."""
        return []

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Whether each word of queries is known, in any form that the system takes for the same."""
        return [not self.unknown_words(word) for word in words]

    def frequencies(self, words: Sequence[str]) -> NDArray[np.float64]:
        """How frequent each of many words is in queries, by what the system knows; 0 for one that nobody means."""
        return np.asarray(self.knows(words), np.float64)

    def query_vocabulary(self) -> QueryVocabulary:
        """The letters of the words of queries that the system knows, and how many these are, where that is known."""
        return QueryVocabulary()

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """The words of a query with their translations into the documents' language, best first."""
        return []

    def glosser(self) -> Glosser | None:
        """What says words of documents in the language of the queries, if the system has something for it."""
        return None

    def term_of(self, word: str) -> str | None:
        """The term of a document word (its stem, say); None if the system ignores the word."""
        return word

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """What each word of the query contributes to the score of a document with this text; empty if unknown."""
        return []

    def passage(self, query: str, row: int) -> tuple[int, int] | None:
        """Begin and end of a document's best passage in the indexed text; None if documents are scored as a whole."""
        return None

    def thresholds(self) -> tuple[float, ...]:
        """The scores that separate the grades of relevance, ascending; none where scores are only relative."""
        return ()

    def chance(self, score: float) -> float | None:
        """The probability that a document with this score is relevant; None where the system is not calibrated."""
        return None

    def count_matches(self, query: str, allowed: Allowed | None = None) -> Matches:
        """How many documents match a query, as far as that is known without scoring them all."""
        if self.found_above > -np.inf:
            return Matches(0, False)
        return Matches(len(self.id_order) if allowed is None else int(np.count_nonzero(allowed)), True)

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        """The best ``k`` of all indexed documents, or of those whose row is ``allowed``."""
        scores = np.asarray(self.scores(query))
        if scores.shape != (len(self.id_order),):
            raise InputError(f"{self.name}: scores of shape {scores.shape} for {len(self.id_order):,} documents")
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        return top_k(scores, k, self.id_order, above=self.found_above)

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """The best ``k`` for each query; systems that are faster in batches override this."""
        return [self.search(query, k, allowed) for query in queries]

    def search_all(self, queries: Sequence[Query], k: int, label: str = "searching") -> Iterator[Ranking]:
        """The best ``k`` for each query, in order, with a progress bar."""
        return (self.search(query.text, k) for query in track(queries, label))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        """The scores of some documents; systems that can score few without scoring all override this."""
        return self.scores(query)[rows]

    def warm(self) -> None:  # noqa: B027 - most have nothing to load
        """Load compiled code now, and use it: many queries are expected. Otherwise that is done after many."""

    def about(self) -> dict[str, Any]:
        """Facts about the indexed documents: how vectors are stored, say."""
        return {}

    def count_only(self, live: Allowed) -> None:  # noqa: B027 - most have no statistics of the collection
        """Compute statistics of the collection (document frequencies, say) from the ``live`` documents alone.

        The others were deleted. They keep their rows; searches exclude them by ``allowed``. Call it after
        ``load_parts``.
        """

    def save(self, directory: Path) -> None:
        """Write what ``load`` needs into an existing directory; the caller saves the options."""
        self.save_shared(directory)
        self.save_part(directory)
        save_array(directory / _ORDER, self.id_order)

    def load(self, directory: Path) -> Self:
        """Read what ``save`` wrote, memory-mapped where possible."""
        path = directory / _ORDER
        return self.load_shared(directory).load_parts([directory], load_array(path) if path.exists() else self.id_order)

    def save_shared(self, directory: Path) -> None:  # noqa: B027 - some have nothing to share
        """Write what does not depend on documents into an existing directory."""

    def load_shared(self, directory: Path) -> Self:
        """Read what ``save_shared`` wrote; then more documents can be indexed."""
        return self

    @abstractmethod
    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        """Write the indexed documents (those to ``keep``) into an existing directory, as one part."""

    @abstractmethod
    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        """Map what ``save_part`` wrote, one part after the other; ``id_order`` orders all their rows by document id."""

    def _take_order(self, id_order: NDArray[np.int64], rows: int) -> None:
        """Break ties by this order; by row where its length is not ``rows``."""
        self.id_order = id_order if len(id_order) == rows else np.arange(rows)

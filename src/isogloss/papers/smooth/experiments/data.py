"""A trial of the smooth paper (one training of ``smooth`` on a pair, and what it is measured on) and its data.

``settings`` of a trial has only what differs from the paper's own settings, and a trial is named by it.

A pack has the words of a pair in one file, for a machine that has neither the data nor the tokeniser's dictionaries. It
is written ``PAIR.npz`` into a directory; as a source it is called ``packed:DIRECTORY``.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.data.source import Pair, Source
from isogloss.papers.examples import Examples, Pairs, graded_examples
from isogloss.papers.reproduction.running import PACKED
from isogloss.papers.reproduction.trials import PaperTrial, dataset_fingerprint, file_name
from isogloss.papers.smooth.model import RECIPES, SmoothOptions
from isogloss.papers.smooth.training_setup import Prepared
from isogloss.papers.word_vectors.training import VectorTraining, train_on_tokens
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.arrays import save_packed
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.storage.strings import StringTable
from isogloss.systems.base import FILE_OPTIONS
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.ids import TextIds, choose_words, running_sum, text_ids

Start = Literal["random", "monolingual"]
NEGATIVES = 40
_PAPER: dict[str, Any] = {"eps": 1.0, "dev_queries": 0}  # trials are measured at their end, not after each epoch
_PAPER_THRESHOLDS = "0.2,0.7"
_NAMED = ("encoder", "loss", "seed")
_KINDS = ("documents", "queries", "source_documents")

Value = TypeVar("Value")


@dataclass(frozen=True)
class Trial(PaperTrial):
    """``train_share``: of the train queries, drawn by the seed; ``ranked_negatives``: irrelevant documents a query.

    ``queries``: so many of the data's, drawn at random (0: all).
    """

    revision: ClassVar[int] = 3  # po has the paper's ends, lstm and cnn are the paper's, the average has dense Adam
    data: str
    pair: Pair
    settings: Mapping[str, Any] = field(default_factory=dict)
    split: str = "dev"
    ranked_negatives: int = NEGATIVES
    train_share: float = 1.0
    start: Start = "random"
    queries: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", settings_of(self.settings))

    @property
    def name(self) -> str:
        """The name of its files.

        >>> Trial("demo", ("en", "fr"), {"eps": 0.5, "seed": 2}).name
        'en-fr_average_sosl_eps-0.5_seed-2'
        """
        options = self.options()
        parts = ["-".join(self.pair), options.encoder, options.loss]
        parts += [
            f"{key}-{Path(value).name if key in FILE_OPTIONS else value}"
            for key, value in self.settings.items()
            if key not in _NAMED
        ]
        parts += [
            f"{each.name}-{value}" for each in fields(self)[3:] if (value := getattr(self, each.name)) != each.default
        ]
        return file_name([*parts, f"seed-{options.seed}"])

    def options(self, device: str = "auto") -> SmoothOptions:
        """The options it trains with."""
        chosen = {"loss": "sosl", **_PAPER, **self.settings, "device": device}
        if chosen["loss"] != "3part":
            chosen["thresholds"] = chosen.get("thresholds") or _PAPER_THRESHOLDS
        return SmoothOptions(**chosen)

    @property
    def thresholds(self) -> str:
        """Those of its loss, for three grades."""
        options = self.options()
        return options.thresholds or "0.2,0.55,0.9"

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Trial:
        trial = super().from_json(found)
        trial.options().check()
        if trial.start not in get_args(Start):
            raise InputError(f"plan: start {trial.start!r} is not one of {', '.join(get_args(Start))}")
        return trial


def settings_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options without those that have the paper's own value anyway, in the order of the options.

    >>> settings_of({"seed": 0, "eps": 0.5, "epochs": 30})
    {'eps': 0.5}
    """
    defaults = asdict(SmoothOptions(**_PAPER))
    if unknown := [key for key in values if key not in defaults]:
        raise InputError(f"smooth: has no option {unknown[0]!r}; it has {', '.join(defaults)}")
    recipe = RECIPES[values.get("encoder", defaults["encoder"])]
    for key in ("epochs", "batch", "rate", "decay"):
        if values.get(key) == recipe[key]:
            values = {**values, key: defaults[key]}
    return {key: values[key] for key in defaults if key in values and values[key] != defaults[key]}


class Latest(Generic[Value]):
    """The last value made, kept for as long as its key stays the same."""

    def __init__(self) -> None:
        self._kept: tuple[Hashable, Value] | None = None

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key."""
        if self._kept is None or self._kept[0] != key:
            self._kept = key, make()
        return self._kept[1]


@dataclass(frozen=True)
class Ranked:
    """What is ranked for the queries of a split under the ``sampled`` protocol, and the words of these queries."""

    examples: Examples
    queries: TokenizedTexts


class TrialData:
    """A pair as its source has it: read and tokenised once, and what its trials prepare of it."""

    def __init__(self, source: str, pair: Pair, skip_bad: bool = False, queries: int = 0) -> None:
        self._source, self._pair, self._skip_bad, self.limit = source, pair, skip_bad, queries
        self._prepared = Latest[Prepared]()
        self._drawn = Latest[Prepared]()
        self._ranked = Latest[Ranked]()
        self._vectors = Latest[list[WordVectors]]()

    @cached_property
    def dataset(self) -> Dataset:
        """Ids, judgments and splits; texts only where they were read here."""
        source, problems = open_source(self._source), Problems(not self._skip_bad)
        return load_dataset(source, self._pair, problems=problems, queries=self.limit)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of documents, queries, judgments and splits."""
        return dataset_fingerprint(self.dataset)

    @cached_property
    def documents(self) -> TokenizedTexts:
        """The words of each document."""
        return tokenize_texts(self.dataset.documents.texts(("text",)), label="reading documents")

    @cached_property
    def queries(self) -> TokenizedTexts:
        """The words of each query."""
        return tokenize_texts([query.text for query in self.dataset.queries.values()], label="reading queries")

    @cached_property
    def source_documents(self) -> TokenizedTexts | None:
        """The words of each document of the query language, where the data have such."""
        try:
            found: Collection = self.dataset.source_documents
        except InputError:
            return None
        return tokenize_texts(found.texts(("text",)), label="reading documents")

    def prepared(self, trial: Trial) -> Prepared:
        """The prepared data of a trial; texts become ids again only where the trial reads them differently."""
        options = trial.options()
        seed = options.seed if trial.train_share < 1 else 0
        reading = options.vocabulary, options.minimum_count, options.query_words, options.document_words
        key = (*reading, trial.train_share, seed)
        part = self._part(trial.train_share, seed)

        def draw() -> Prepared:
            examples = graded_examples(part, "train", options.negatives, options.seed)
            if not examples.queries:
                pair = "-".join(part.pair)
                raise InputError(f"{part.source.name}: no query of the train split is judged for {pair}")
            base = self._prepared.get(key, lambda: self._to_ids(options, examples))  # the same texts in other pairs
            numbers = {name: getattr(examples, name) for name in ("query_of", "document_of", "grades")}
            return replace(base, examples=examples, pairs=replace(base.pairs, **numbers))

        return self._drawn.get((key, options.negatives, options.seed), draw)

    def ranked(self, split: str, negatives: int) -> Ranked:
        """The documents that ``evaluate --protocol sampled`` ranks for each query."""

        def draw() -> Ranked:
            examples = graded_examples(self.dataset, split, negatives, 0)
            if not examples.queries:
                raise InputError(f"{self.dataset.source.name}: no query of the split {split!r} is judged")
            return Ranked(examples, self._words_of(examples))

        return self._ranked.get((split, negatives), draw)

    def start_vectors(self, dimension: int, spread: float) -> list[WordVectors]:
        """First word vectors, each language's trained on its own documents, as the paper's Polyglot vectors were.

        Their components are as large as random ones would be. No query and no judgment is used.
        """
        if self.source_documents is None:
            language = self.dataset.pair[0]
            raise InputError(f"{self.dataset.source.name}: has no documents in {language!r} to train first vectors on")
        how, sides = VectorTraining(dimension=dimension, minimum_count=2), (self.source_documents, self.documents)
        return self._vectors.get(
            (dimension, spread), lambda: [_scaled(train_on_tokens(texts, how), spread) for texts in sides]
        )

    def _to_ids(self, options: SmoothOptions, examples: Examples) -> Prepared:
        queries, documents = self._words_of(examples), self.documents
        known = [choose_words(texts, options.vocabulary, options.minimum_count) for texts in (queries, documents)]
        query_ids = text_ids(queries, known[0], options.query_words)
        document_ids = text_ids(documents, known[1], options.document_words)
        return Prepared(
            {"query": StringTable.of(known[0]), "document": StringTable.of(known[1])},
            document_ids,
            examples,
            Pairs(query_ids, document_ids, examples.query_of, examples.document_of, examples.grades),
            self.dataset.judgments.top_grade + 1,
        )

    def _words_of(self, examples: Examples) -> TokenizedTexts:
        number_of = {query: number for number, query in enumerate(self.dataset.queries)}
        return chosen_texts(self.queries, np.asarray([number_of[query.id] for query in examples.queries]))

    def _part(self, share: float, seed: int) -> Dataset:
        """The dataset with a share of its train queries; smaller shares of a seed are parts of larger ones."""
        if share >= 1:
            return self.dataset
        train = [query.id for query in self.dataset.split("train") if query.id in self.dataset.judgments]
        kept = np.sort(np.random.default_rng(seed).permutation(len(train))[: max(1, round(share * len(train)))])
        return replace(self.dataset, splits={**self.dataset.splits, "train": [train[i] for i in kept.tolist()]})


class _Pack(Source):
    """Stands for the source that was packed."""

    format = "packed"

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        raise InputError(f"{self.name}: a pack has words, not texts")


class PackedData(TrialData):
    """The pair as a pack has it."""

    def __init__(self, directory: Path, pair: Pair, queries: int = 0) -> None:
        super().__init__(f"{PACKED}{directory}", pair, queries=queries)
        path = _path(directory, pair)
        try:
            with np.load(path, allow_pickle=False) as found:
                self._arrays = dict(found)
            self._about: dict[str, Any] = _from_bytes(self._arrays["about"])
            self.fingerprint = str(self._about["fingerprint"])
            self.documents, self.queries = self._texts("documents"), self._texts("queries")
            has_source = "source_documents.ids" in self._arrays
            self.source_documents = self._texts("source_documents") if has_source else None
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: is not the pack of a pair ({error}); write it with --pack") from error
        if (limit := self._about.get("limit", 0)) != queries:
            raise InputError(f"{path}: was packed with --queries {limit}, the plan has {queries}; pack it again")

    @cached_property
    def dataset(self) -> Dataset:
        about = self._about
        documents, queries = about["documents"], about["queries"]
        judgments = (
            Judgment(queries[query], documents[document], grade)
            for query, document, grade in self._arrays["judgments"].tolist()
        )
        return Dataset(
            _Pack(about["source"]), (about["pair"][0], about["pair"][1]),
            Collection(Document(id_, "") for id_ in documents), {id_: Query(id_, "") for id_ in queries},
            Judgments(judgments, about["top_grade"]), about["splits"],
        )  # fmt: skip

    def _texts(self, kind: str) -> TokenizedTexts:
        terms, ids, offsets = (self._arrays[f"{kind}.{part}"] for part in ("terms", "ids", "offsets"))
        return TokenizedTexts(_from_bytes(terms), ids, offsets)


def write_pack(data: TrialData, directory: Path) -> Path:
    """Write the pack of a pair."""
    dataset = data.dataset
    row_of, number_of = dataset.documents.row_of, {query: number for number, query in enumerate(dataset.queries)}
    judgments = [(number_of[query], row_of[document], grade) for query, document, grade in dataset.judgments]
    about = {
        "source": dataset.source.name, "pair": dataset.pair, "fingerprint": data.fingerprint,
        "top_grade": dataset.judgments.top_grade, "splits": dataset.splits, "limit": data.limit,
        "documents": dataset.documents.ids, "queries": list(dataset.queries),
    }  # fmt: skip
    arrays: dict[str, NDArray[Any]] = {
        "about": _as_bytes(about),
        "judgments": np.asarray(judgments, dtype=np.int32).reshape(-1, 3),
    }
    for kind in _KINDS:
        texts: TokenizedTexts | None = getattr(data, kind)
        if texts is not None:
            arrays[f"{kind}.terms"] = _as_bytes(texts.terms)
            arrays[f"{kind}.ids"], arrays[f"{kind}.offsets"] = texts.ids, texts.offsets
    path = _path(directory, dataset.pair)
    save_packed(path, arrays)
    return path


def chosen_texts(texts: TokenizedTexts, rows: NDArray[np.int64]) -> TokenizedTexts:
    """Some of the texts, in this order.

    >>> chosen_texts(tokenize_texts(["to be", "or not", "to be"]), np.asarray([1, 0])).text(0)
    ['or', 'not']
    """
    found = TextIds(texts.ids, texts.offsets)
    return TokenizedTexts(texts.terms, found.words_of(rows), running_sum([found.lengths[rows]]))


def _scaled(vectors: WordVectors, spread: float) -> WordVectors:
    size = float(np.sqrt(np.mean(np.square(vectors.matrix, dtype=np.float64))))
    return WordVectors(vectors.words, (vectors.matrix * np.float32(spread / max(size, 1e-12))).astype(np.float32))


def _path(directory: Path, pair: Pair) -> Path:
    return directory / f"{'-'.join(pair)}.npz"


def _as_bytes(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode("ascii"), dtype=np.uint8)


def _from_bytes(array: NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())

"""The base of matchers: networks that score (query, document) pairs, trained on (query, positive, negative) triples.

A matcher reads a query and a document together. It can score a whole collection, pair by pair, but is meant to re-rank
the candidates of a faster system.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.papers.initial_vectors import COLLECTION, RANDOM, SKIP_GRAM
from isogloss.papers.trained_system import DEVICES, TrainedSystem
from isogloss.retrieval.ranking import Allowed, Scores
from isogloss.storage.array_checks import check_offsets, check_within
from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import load_array, place_of, read_tensors, save_array, write_tensors
from isogloss.storage.errors import import_extra
from isogloss.storage.strings import StringTable
from isogloss.systems.base import Contribution, SystemOptions, TextScorer, option
from isogloss.systems.explanations import CutText, explain_by_leaving_out
from isogloss.text.batches import tokenize_texts
from isogloss.text.ids import TextIds, text_ids
from isogloss.text.tokenizer import tokenize

if TYPE_CHECKING:
    from isogloss.evaluation.measures import PerQuery
    from isogloss.papers.examples import RankedLists
    from isogloss.papers.layerwise.matchers.ranking_data import RankingData, Reading
    from isogloss.papers.layerwise.matchers.scorer import Scorer, WordTables
    from isogloss.papers.layerwise.torch_triples import ExtraTerm
    from isogloss.papers.layerwise.triples import Negatives, Triples
    from isogloss.papers.learner import Learner, State
    from isogloss.papers.training_loop import Checkpointer, Evaluator, Recipe, TrainingResult

SIDES = ("query", "document")
NEGATIVES = ("random", "in-batch", "hard")
LOSSES = ("hinge", "softmax")
START = (
    f": a file, {RANDOM}, or for both {COLLECTION} (trained on the texts, aligned by the pages of the train split) or "
    f"{SKIP_GRAM} (trained on the texts of each language by gensim, not aligned)"
)
_MEASURES = ("MAP", "P@10", "MRR_mr")
Build = Callable[["WordTables"], "Scorer"]
"""Makes a scorer with tables of word vectors."""


@dataclass(frozen=True)
class MatcherOptions(SystemOptions):
    """Options of every matcher; each has more of its own."""

    dimension: int = option(100, "of word vectors", 1, 4096)
    epochs: int = option(20, "passes over all pairs", 1, 100_000)
    batch: int = option(128, "pairs in a step", 1, 1_000_000)
    rate: float = option(0.001, "learning rate of Adam", 1e-9, 10)
    decay: float = option(1.0, "the rate is multiplied by this after each epoch", 1e-6, 1)
    clip: float = option(5.0, "largest norm of a step's gradient; 0: no clipping", 0, 1e9)
    loss: str = option("hinge", "hinge, or softmax: -log of the positive's share beside its negatives")
    margin: float = option(1.0, "by which a positive is to beat a negative, where loss=hinge", 1e-6, 1000)
    sampled: int = option(1, "negatives of each pair", 1, 1000)
    negatives: str = option("hard", f"one of {', '.join(NEGATIVES)} (near the positive, by BM25)")
    hard_share: float = option(0.5, "of the negatives that are hard, where negatives=hard", 0, 1)
    neighbours: int = option(50, "hard negatives to draw from, where negatives=hard", 1, 10_000)
    patience: int = option(
        5, "stop after so many epochs without a better dev measure, keep the best; 0: never", 0, 1000
    )
    measure: str = option("MAP", "the dev measure, on candidate lists or else on sampled documents")
    dev_queries: int = option(500, "dev queries measured after each epoch; 0: none", 0, 1_000_000)
    vocabulary: int = option(100_000, "most frequent words of each language that are known", 1, 10_000_000)
    minimum_count: int = option(1, "words that occur less often are unknown", 1, 1000)
    query_words: int = option(100, "words of a query that are read; 0: all", 0, 1_000_000)
    document_words: int = option(200, "words of a document that are read; 0: all", 0, 1_000_000)
    query_vectors: str = option(COLLECTION, f"word vectors of the query language to start from{START}")
    document_vectors: str = option(COLLECTION, f"word vectors of the document language to start from{START}")
    frozen: bool = option(False, "do not train the word vectors")
    dropout: float = option(0.2, "of word vectors", 0, 0.99)
    device: str = option("auto", "auto, cpu or cuda")
    seed: int = option(0, "of initial values, order and negatives", 0, 2**31 - 1)

    def check(self, system: str) -> None:
        """Raise for values that no range rules out."""
        self.require(system, {"negatives": NEGATIVES, "device": DEVICES, "loss": LOSSES})
        self.require_measure(system)

    def recipe(self) -> Recipe:
        """How it is trained."""
        from isogloss.papers.training_loop import Recipe

        return Recipe(
            self.epochs, self.batch, self.rate, self.decay, patience=self.patience if self.dev_queries else 0,
            measure=self.measure, seed=self.seed,
        )  # fmt: skip


class MatcherModel:
    """Vocabularies, parameters, and their scorer."""

    def __init__(self, options: MatcherOptions, build: Build, words: dict[str, StringTable], parameters: State) -> None:
        self.options, self.words, self.parameters = options, words, parameters
        self.scorer = load_scorer(options, build, parameters)

    def ids(self, side: str, texts: Sequence[str], label: str = "reading") -> TextIds:
        """The ids of each text's known words."""
        longest = self.options.query_words if side == "query" else self.options.document_words
        return text_ids(tokenize_texts(texts, label=label), self.words[side], longest)

    def save(self, directory: Path) -> None:
        """Write ``model.safetensors`` and the words."""
        write_tensors(directory / "model.safetensors", self.parameters)
        for side in SIDES:
            self.words[side].save(directory, f"{side}_words")

    @classmethod
    def load(cls, directory: Path, options: MatcherOptions, build: Build) -> MatcherModel:
        parameters, _ = read_tensors(directory / "model.safetensors")
        words = {side: StringTable.load(directory, f"{side}_words").checked(f"{side}_words") for side in SIDES}
        return cls(options, build, words, parameters)


def first_scorer(options: MatcherOptions, build: Build, tables: Sequence[np.ndarray | None]) -> Scorer:
    """An untrained scorer with the vectors of both sides and the weights of their words; the seed draws the rest."""
    import torch

    from isogloss.papers.layerwise.matchers.scorer import WordTables

    query, document, *weights = tables
    assert query is not None
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(options.seed)
        return build(WordTables(query, document, options.dropout, not options.frozen, (weights[0], weights[1])))


def load_scorer(options: MatcherOptions, build: Build, parameters: State) -> Scorer:
    """A scorer with trained parameters, on the device of the options."""
    from isogloss.papers.torch_encoder import fill
    from isogloss.papers.torch_inference import usable_device

    tables = [parameters.get(f"tables.{side}{what}") for what in ("", "_weights") for side in SIDES]
    scorer = first_scorer(options, build, tables)
    fill(dict(scorer.named_parameters()), parameters)
    return scorer.to(usable_device(options.device))


class Matcher(TrainedSystem, TextScorer):
    """A system that scores pairs of texts."""

    joins = True
    searches = False
    explains_quickly = False
    options: MatcherOptions
    model: MatcherModel

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check(self.name)
        self._has_dev = True
        self.one_language = query_language == document_language  # both sides are read in it

    @abstractmethod
    def build(self, tables: WordTables) -> Scorer:
        """The scorer with some tables of word vectors."""

    def extra_term(self, scorer: Scorer) -> ExtraTerm | None:
        """A term of the loss beside that of the ranking."""
        return None

    @property
    def reading(self) -> Reading:
        """How texts are read."""
        options = self.options
        trained = options.query_vectors == options.document_vectors and options.query_vectors in (COLLECTION, SKIP_GRAM)
        from isogloss.papers.layerwise.matchers.ranking_data import Reading

        return Reading(
            options.vocabulary, options.minimum_count, options.query_words, options.document_words, self.one_language,
            options.neighbours if options.negatives == "hard" else 0, options.dev_queries, options.query_vectors,
            options.document_vectors, options.dimension if trained else 0,
        )  # fmt: skip

    @property
    def recipe(self) -> Recipe:
        recipe = self.options.recipe()
        return recipe if self._has_dev else replace(recipe, patience=0)

    def read(self, training: Dataset) -> RankingData:
        """The training data, as arrays."""
        from isogloss.papers.layerwise.matchers.ranking_data import read_ranking_data

        return read_ranking_data(training, self.reading, self.query_texts)

    def prepare(self, training: Dataset) -> tuple[Learner, Evaluator | None]:
        return self.prepare_arrays(self.read(training))

    def prepare_arrays(self, data: RankingData) -> tuple[Learner, Evaluator | None]:
        """The learner, and the evaluator on the dev lists."""
        import_extra("torch", "papers", f"the system {self.name}")
        from isogloss.papers.layerwise.torch_triples import TorchTriples

        options, self._words, self._has_dev = self.options, data.words, data.dev is not None
        tables = (*data.first_tables(options.dimension, options.seed), *map(data.weights.get, SIDES))
        scorer = first_scorer(options, self.build, tables)
        margin = None if options.loss == "softmax" else options.margin
        learner = TorchTriples(
            scorer, data.triples, _negatives(options, data), margin, options.clip, options.seed, options.device,
            self.extra_term(scorer),
        )  # fmt: skip
        lists, documents = data.dev, data.triples.documents
        if lists is None:
            return learner, None
        names = tuple(dict.fromkeys((*_MEASURES, options.measure)))

        def evaluate(parameters: State) -> dict[str, float]:
            found = _measured(load_scorer(options, self.build, parameters), lists, documents, names)
            return {name: float(values.mean()) for name, values in found.items()}

        return learner, evaluate

    def train_arrays(self, data: RankingData, checkpointer: Checkpointer | None = None) -> TrainingResult:
        """Train on arrays alone, where texts cannot be tokenised."""
        from isogloss.papers.training_loop import Training

        learner, evaluate = self.prepare_arrays(data)
        trained = Training(learner, self.recipe, evaluate, checkpointer).run()
        self.adopt(trained.parameters)
        return trained

    def measure_lists(self, lists: RankedLists, documents: TextIds) -> dict[str, PerQuery]:
        """All measures, query by query, of ranked lists as arrays."""
        return _measured(self.model.scorer, lists, documents)

    def adopt(self, parameters: State) -> None:
        self.model = MatcherModel(self.options, self.build, self._words, parameters)

    def index_texts(self, texts: Sequence[str]) -> None:
        self._use(self.model.ids("document", texts, f"reading {len(texts):,} documents"))

    def scores(self, query: str) -> Scores:
        return self.score(query, np.arange(len(self._documents)))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        queries = self.model.ids("query", self.query_texts([query]))
        scores: Scores = self._scoring(queries, np.zeros(len(rows), np.int32), rows.astype(np.int32))
        return scores

    def score_texts(self, queries: Sequence[str], documents: Sequence[str]) -> Matrix:
        from isogloss.papers.layerwise.matchers.pair_scores import PairScores

        left, right = self.model.ids("query", queries), self.model.ids("document", documents)
        pairs = np.indices((len(left), len(right)), dtype=np.int32).reshape(2, -1)
        scores: Matrix = PairScores(self.model.scorer, right)(left, *pairs)
        return scores.reshape(len(left), len(right))

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        return self.explain_text(query, text, float(self.score(query, np.asarray([row]))[0]))

    def explain_text(self, query: str, text: str, score: float) -> list[Contribution]:
        """By leaving out words that the matcher reads."""
        (read,) = self.query_texts([query])
        return explain_by_leaving_out(self._cut("query", read), self._cut("document", text), self.score_texts, score)

    def _cut(self, side: str, text: str) -> CutText:
        known, options = self.model.words[side], self.options
        longest = options.query_words if side == "query" else options.document_words
        return CutText.of(text, lambda word: known.find(word) is not None, longest)

    def unknown_words(self, query: str) -> list[str]:
        known = self.model.words["query"]
        (read,) = self.query_texts([query])
        return [word for word in dict.fromkeys(tokenize(read)) if known.find(word) is None]

    def save_model(self, directory: Path) -> None:
        self.model.save(directory)

    def load_model(self, directory: Path) -> None:
        import_extra("torch", "papers", f"the system {self.name}")
        self.model = MatcherModel.load(directory, self.options, self.build)

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        ids, offsets = self._documents.ids, self._documents.offsets
        if keep is not None:
            lengths = np.diff(offsets)
            ids, offsets = ids[np.repeat(keep, lengths)], np.append(np.int64(0), np.cumsum(lengths[keep]))
        save_array(directory / "documents.ids.npy", ids)
        save_array(directory / "documents.offsets.npy", offsets)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        parts = [
            [load_array(folder / f"documents.{part}.npy") for part in ("ids", "offsets")] for folder in directories
        ]
        for folder, (ids, offsets) in zip(directories, parts, strict=True):
            check_offsets(offsets, len(ids), place_of(folder / "documents.offsets.npy"))
            check_within(ids, 2**31, place_of(folder / "documents.ids.npy"), least=-1)
        self._use(_joined([TextIds(np.asarray(ids), np.asarray(offsets)) for ids, offsets in parts]))
        self._take_order(id_order, len(self._documents))
        return self

    def _use(self, documents: TextIds) -> None:
        from isogloss.papers.layerwise.matchers.pair_scores import PairScores

        self._documents = documents
        self._scoring: Any = PairScores(self.model.scorer, documents)


def _joined(parts: Sequence[TextIds]) -> TextIds:
    """The texts of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    lengths = [np.diff(part.offsets) for part in parts]
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))
    return TextIds(np.concatenate([np.zeros(0, np.int32), *(part.ids for part in parts)]), offsets)


def _negatives(options: MatcherOptions, data: RankingData) -> Negatives:
    from isogloss.papers.layerwise.triples import HardNegatives, InBatchNegatives, RandomNegatives

    triples: Triples = data.triples
    if options.negatives == "hard":
        return HardNegatives(triples, options.seed, data.neighbours, options.hard_share, draws=options.sampled)
    kind = InBatchNegatives if options.negatives == "in-batch" else RandomNegatives
    return kind(triples, options.seed, options.sampled)


def _measured(
    scorer: Scorer, lists: RankedLists, documents: TextIds, names: tuple[str, ...] = ()
) -> dict[str, PerQuery]:
    from isogloss.papers.layerwise.matchers.pair_scores import PairScores

    return lists.measure(PairScores(scorer, documents)(lists.queries, lists.query_of, lists.document_of), names)

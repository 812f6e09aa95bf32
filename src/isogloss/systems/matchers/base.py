"""The base of matchers: networks that score (query, document) pairs, trained on (query, positive, negative) triples.

A matcher reads a query and a document together. It can score a whole collection, pair by pair, but is meant to re-rank
the candidates of a faster system.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.retrieval.ranking import Allowed, Scores
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import import_extra
from isogloss.systems.base import Contribution, SystemOptions
from isogloss.systems.explanations import CutText, explain_by_leaving_out
from isogloss.systems.matchers.options import MatcherOptions
from isogloss.systems.trained import TrainedSystem
from isogloss.text.ids import TextIds
from isogloss.text.tokenizer import tokenize
from isogloss.translation.vectors.word_vectors import Matrix

if TYPE_CHECKING:
    from isogloss.evaluation.measures import PerQuery
    from isogloss.nn.matchers.scorer import Scorer, WordTables
    from isogloss.systems.matchers.data import RankingData, Reading
    from isogloss.systems.matchers.model import MatcherModel
    from isogloss.training.examples import RankedLists
    from isogloss.training.learner import Learner, State
    from isogloss.training.loop import Checkpointer, Evaluator, Recipe, TrainingResult
    from isogloss.training.torch_triples import ExtraTerm
    from isogloss.training.triples import Negatives, Triples

_MEASURES = ("MAP", "P@10", "MRR_mr")


class Matcher(TrainedSystem):
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

    @abstractmethod
    def build(self, tables: WordTables) -> Scorer:
        """The scorer with some tables of word vectors."""

    def extra_term(self, scorer: Scorer) -> ExtraTerm | None:
        """A term of the loss beside that of the ranking."""
        return None

    def query_texts(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts that are read instead of the queries: their translations, say."""
        return texts

    @property
    def one_language(self) -> bool:
        """Whether queries and documents are read in one language."""
        return self.query_language == self.document_language

    @property
    def reading(self) -> Reading:
        """How texts are read."""
        from isogloss.systems.matchers.data import Reading

        options = self.options
        return Reading(
            options.vocabulary, options.minimum_count, options.query_words, options.document_words, self.one_language,
            options.neighbours if options.negatives == "hard" else 0, options.dev_queries, options.query_vectors,
            options.document_vectors, options.dimension if options.starts_from_collection else 0,
        )  # fmt: skip

    @property
    def recipe(self) -> Recipe:
        recipe = self.options.recipe()
        return recipe if self._has_dev else replace(recipe, patience=0)

    def read(self, training: Dataset) -> RankingData:
        """The training data, as arrays."""
        from isogloss.systems.matchers.data import read_ranking_data

        return read_ranking_data(training, self.reading, self.query_texts)

    def prepare(self, training: Dataset) -> tuple[Learner, Evaluator | None]:
        return self.prepare_arrays(self.read(training))

    def prepare_arrays(self, data: RankingData) -> tuple[Learner, Evaluator | None]:
        """The learner, and the evaluator on the dev lists."""
        import_extra("torch", "train", f"the system {self.name}")
        from isogloss.systems.matchers.model import first_scorer
        from isogloss.training.torch_triples import TorchTriples

        options, self._words, self._has_dev = self.options, data.words, data.dev is not None
        scorer = first_scorer(options, self.build, data.first_tables(options.dimension, options.seed))
        learner = TorchTriples(
            scorer, data.triples, _negatives(options, data), options.margin, options.clip, options.seed, options.device,
            self.extra_term(scorer),
        )  # fmt: skip
        return learner, self._evaluator(data.dev, data.triples.documents) if data.dev else None

    def train_arrays(self, data: RankingData, checkpointer: Checkpointer | None = None) -> TrainingResult:
        """Train on arrays alone, where texts cannot be tokenised."""
        from isogloss.training.loop import Training

        learner, evaluate = self.prepare_arrays(data)
        trained = Training(learner, self.recipe, evaluate, checkpointer).run()
        self.adopt(trained.parameters)
        return trained

    def measure_lists(self, lists: RankedLists, documents: TextIds) -> dict[str, PerQuery]:
        """All measures, query by query, of ranked lists as arrays."""
        return _measured(self.model.scorer, lists, documents)

    def _evaluator(self, lists: RankedLists, documents: TextIds) -> Evaluator:
        from isogloss.systems.matchers.model import load_scorer

        names = tuple(dict.fromkeys((*_MEASURES, self.options.measure)))

        def evaluate(parameters: State) -> dict[str, float]:
            scorer = load_scorer(self.options, self.build, parameters)
            found = _measured(scorer, lists, documents, names)
            return {name: float(values.mean()) for name, values in found.items()}

        return evaluate

    def adopt(self, parameters: State) -> None:
        from isogloss.systems.matchers.model import MatcherModel

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
        """The score of each query (a row) with each text (a column), indexed or not."""
        from isogloss.nn.inference import PairScores

        left, right = self.model.ids("query", queries), self.model.ids("document", documents)
        pairs = np.indices((len(left), len(right)), dtype=np.int32).reshape(2, -1)
        scores: Matrix = PairScores(self.model.scorer, right)(left, *pairs)
        return scores.reshape(len(left), len(right))

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        return self.explain_text(query, text, float(self.score(query, np.asarray([row]))[0]))

    def explain_text(self, query: str, text: str, score: float) -> list[Contribution]:
        """Explain the score of a text, indexed or not, by leaving out words that the matcher reads."""
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
        import_extra("torch", "train", f"the system {self.name}")
        from isogloss.systems.matchers.model import MatcherModel

        self.model = MatcherModel.load(directory, self.options, self.build)

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        kept = self._documents if keep is None else _kept(self._documents, keep)
        save_array(directory / "documents.ids.npy", kept.ids)
        save_array(directory / "documents.offsets.npy", kept.offsets)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        parts = [
            [load_array(folder / f"documents.{part}.npy") for part in ("ids", "offsets")] for folder in directories
        ]
        self._use(_joined([TextIds(np.asarray(ids), np.asarray(offsets)) for ids, offsets in parts]))
        self._take_order(id_order, len(self._documents))
        return self

    def _use(self, documents: TextIds) -> None:
        from isogloss.nn.inference import PairScores

        self._documents = documents
        self._scoring: Any = PairScores(self.model.scorer, documents)


def _joined(parts: Sequence[TextIds]) -> TextIds:
    """The texts of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    lengths = [np.diff(part.offsets) for part in parts]
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))
    return TextIds(np.concatenate([np.zeros(0, np.int32), *(part.ids for part in parts)]), offsets)


def _kept(texts: TextIds, keep: Allowed) -> TextIds:
    """Some of the texts, in their order."""
    lengths = np.diff(texts.offsets)
    ids = texts.ids[np.repeat(keep, lengths)]
    return TextIds(ids, np.cumsum(np.concatenate([np.zeros(1, np.int64), lengths[keep]])))


def _negatives(options: MatcherOptions, data: RankingData) -> Negatives:
    from isogloss.training.triples import HardNegatives, InBatchNegatives, RandomNegatives

    triples: Triples = data.triples
    if options.negatives == "hard":
        return HardNegatives(triples, options.seed, data.neighbours, options.hard_share)
    return (InBatchNegatives if options.negatives == "in-batch" else RandomNegatives)(triples, options.seed)


def _measured(
    scorer: Scorer, lists: RankedLists, documents: TextIds, names: tuple[str, ...] = ()
) -> dict[str, PerQuery]:
    from isogloss.nn.inference import PairScores

    return lists.measure(PairScores(scorer, documents)(lists.queries, lists.query_of, lists.document_of), names)

"""Training of ``smooth``: vocabularies, graded pairs, initial vectors, the learner and the dev evaluator."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.papers.examples import Examples, Pairs, graded_examples, measure_scores, redraw
from isogloss.papers.initial_vectors import vectors_from
from isogloss.papers.learner import PairLearner, State
from isogloss.papers.smooth.losses import Loss
from isogloss.papers.smooth.model import SIDES, Side, SmoothModel, SmoothOptions, tower_sizes
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError, import_extra
from isogloss.storage.strings import StringTable
from isogloss.systems.lexicons import fill_languages
from isogloss.text.batches import tokenize_texts
from isogloss.text.ids import TextIds, choose_words, text_ids

_MEASURES = ("P_mr@1", "NDCG@5", "MAP", "MRR_mr")


@dataclass(frozen=True)
class Prepared:
    """Training data: the vocabularies of both sides, the documents as ids, the graded pairs of the train split."""

    words: dict[Side, StringTable]
    documents: TextIds
    examples: Examples
    pairs: Pairs
    grades: int


def prepare(options: SmoothOptions, dataset: Dataset) -> Prepared:
    """Tokenise the train queries and all documents, choose the vocabularies, make the pairs."""
    examples = graded_examples(dataset, "train", options.negatives, options.seed)
    if not examples.queries:
        raise InputError(f"{dataset.source.name}: no query of the train split is judged for {'-'.join(dataset.pair)}")
    queries = tokenize_texts([query.text for query in examples.queries], label="reading queries")
    documents = tokenize_texts(dataset.documents.texts(("text",)), label="reading documents")
    words = {
        side: StringTable.of(choose_words(texts, options.vocabulary, options.minimum_count))
        for side, texts in zip(SIDES, (queries, documents), strict=True)
    }
    query_ids = text_ids(queries, words["query"], options.query_words)
    document_ids = text_ids(documents, words["document"], options.document_words)
    pairs = Pairs(query_ids, document_ids, examples.query_of, examples.document_of, examples.grades)
    return Prepared(words, document_ids, examples, pairs, dataset.judgments.top_grade + 1)


def make_learner(options: SmoothOptions, prepared: Prepared, pair: tuple[str, str]) -> PairLearner:
    """The learner for an encoder and a device."""
    loss = options.make_loss(prepared.grades)
    if loss.grades != prepared.grades:
        what = f"the data have grades 0 to {prepared.grades - 1}, the loss knows 0 to {loss.grades - 1}"
        if options.loss == "3part":
            raise InputError(f"smooth.loss: {what}; choose another loss, like sosl")
        raise InputError(f"smooth.thresholds: {what}; give one threshold fewer than there are grades")
    tables = _first_tables(options, prepared.words, pair)
    if options.encoder != "average" or options.optimizer == "dense":
        learner = _torch_learner(options, tables, prepared.pairs, loss)
    else:
        learner = _average_learner(options, tables, prepared.pairs, loss)
    if options.fresh_negatives:
        count = len(prepared.documents)
        learner.renew = lambda epoch: replace(
            prepared.pairs, document_of=redraw(prepared.examples, count, options.seed, epoch)
        )
    return learner


def _average_learner(options: SmoothOptions, tables: Sequence[Matrix], pairs: Pairs, loss: Loss) -> PairLearner:
    arguments = (tables[0], tables[1], pairs, loss.compiled(), options.eps, options.clip)
    if options.device == "cuda":
        import_extra("torch", "papers", "training on a GPU")
        from isogloss.papers.smooth.learners.cuda import CudaAverage

        return CudaAverage(*arguments)
    if importlib.util.find_spec("numba"):
        from isogloss.papers.smooth.learners.cpu import NumbaAverage

        return NumbaAverage(*arguments)
    from isogloss.papers.smooth.learners.reference import NumpyAverage

    return NumpyAverage(*arguments)


def _torch_learner(options: SmoothOptions, tables: Sequence[Matrix], pairs: Pairs, loss: Loss) -> PairLearner:
    torch = import_extra("torch", "papers", f"training the encoder {options.encoder}")
    from isogloss.papers.smooth.learners.torch_pairs import TorchAverage, TorchPairs
    from isogloss.papers.towers import make_encoders

    kind = TorchAverage if options.encoder == "average" else TorchPairs
    device = options.device if options.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    encoders = make_encoders(
        options.encoder, tables[0], tables[1], tower_sizes(options), options.shared, not options.frozen, options.seed
    )
    return kind(*encoders, pairs, loss, options.eps, options.clip, options.seed, device)


def _first_tables(options: SmoothOptions, words: Mapping[Side, StringTable], pair: tuple[str, str]) -> list[Matrix]:
    """Random vectors, or those of a file, with random ones for words that it lacks."""
    tables = []
    for number, (side, path) in enumerate(zip(SIDES, (options.query_vectors, options.document_vectors), strict=True)):
        rng = np.random.default_rng([options.seed, number])
        table = rng.normal(0.0, options.spread, (len(words[side]), options.dimension)).astype(np.float32)
        if path:
            rows, vectors = vectors_from(Path(fill_languages(path, *pair)), words[side])
            if vectors.shape[1] != options.dimension:
                what = f"has {vectors.shape[1]} dimensions, not {options.dimension}"
                raise InputError(f"{path}: {what}; set dimension to match")
            table[rows] = vectors
        tables.append(table)
    return tables


class DevEvaluator:
    """Evaluates on dev queries with the ``sampled`` protocol, as ``evaluate`` does."""

    def __init__(self, options: SmoothOptions, dataset: Dataset, prepared: Prepared) -> None:
        self._options, self._prepared = options, prepared
        self._examples = graded_examples(dataset, "dev", 40, 0, options.dev_queries)
        texts = tokenize_texts([query.text for query in self._examples.queries], label="reading dev queries")
        self._queries = text_ids(texts, prepared.words["query"], options.query_words)
        self._ties = dataset.documents.id_order[self._examples.document_of].astype(np.int32)
        self._top = dataset.judgments.top_grade
        self._names = tuple(dict.fromkeys((*_MEASURES, options.measure)))

    def __call__(self, parameters: State) -> dict[str, float]:
        """The mean of each measure."""
        model = SmoothModel(self._options, self._prepared.words, parameters)
        queries = model.encode_ids("query", self._queries)
        documents = model.encode_ids("document", self._prepared.documents)
        examples, scores = self._examples, np.empty(len(self._examples.query_of))
        for start in range(0, len(scores), 65_536):
            part = slice(start, start + 65_536)
            rows = queries[examples.query_of[part]], documents[examples.document_of[part]]
            scores[part] = np.einsum("ij,ij->i", *rows, dtype=np.float64)
        found = measure_scores(examples.query_of, examples.grades, scores, self._ties, self._top, self._names)
        return {name: float(values.mean()) for name, values in found.items()}

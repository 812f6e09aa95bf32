"""``bridge``: two-stage retrieval with a translation model, passages and word vectors, for whole collections.

1. The first stage finds the ``depth`` documents with the most likely passages: the log-likelihood of the query given
   the passage, under a translation model trained on translated pages and a lexicon
   (:mod:`isogloss.systems.bridge.matching`).
2. The second stage re-scores them with features x_i: log-likelihoods in both directions, of the best passage and of the
   whole document, lengths and the cosine of vectors (:mod:`isogloss.systems.bridge.features`):

       score(q, d) = sum_i w_i x_i(q, d)

The weights w are fitted on a fifth of the train queries, which the rest of the model is not trained on at that time.
So is the calibration, which turns scores into the log odds of relevance (:mod:`isogloss.systems.bridge.weights`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.nn.encoders.pretrained import PretrainedEncoder
from isogloss.retrieval.ranking import Allowed, Ranking, Rows, Scores, top_k
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.systems.base import Contribution, SystemOptions
from isogloss.systems.bridge.characters import CharacterStage
from isogloss.systems.bridge.documents import Documents, Part, Vectors
from isogloss.systems.bridge.explaining import explain
from isogloss.systems.bridge.features import FEATURES, Features, QueryFeatures, compute_features
from isogloss.systems.bridge.model import BridgeModel, BridgeOptions, default_weights, used_features
from isogloss.systems.bridge.weights import JudgedList, Values, calibrate, context_of, features_help, fit_weights
from isogloss.systems.passages import FindsPassages
from isogloss.systems.trained import Trainable, hold_out
from isogloss.text.batches import tokenize_texts
from isogloss.text.passages import Span, passage_spans
from isogloss.text.tokenizer import Tokenizer, tokenize

if TYPE_CHECKING:
    from isogloss.training.distributed import Team
    from isogloss.training.loop import Checkpointer, TrainingResult

_SHOWN = 5
_BLOCK = 1000
_READ = 40  # words of a document that a pretrained encoder reads: the first ones tell most
_KEPT = 64  # queries that are cached: the hits of each are explained one by one


class Retrieved(NamedTuple):
    """The documents of the first stage, their calibrated scores of the second, and c(q)."""

    rows: Rows
    scores: Scores
    context: float


class Bridge(FindsPassages, Trainable):
    """A translation model in both directions, passages, word vectors, and fitted weights."""

    name = "bridge"
    paper = "isogloss; after Brown et al. 1993, Xue, Jeon and Croft 2008 and the smooth paper's graded thresholds"
    summary = "translation model, passages and word vectors, trained on pages and a dictionary: the one to use"
    options_type = BridgeOptions
    options: BridgeOptions
    learns = True
    joins = True

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check()
        self._encoder = None
        if self.options.pretrained:
            self._encoder = PretrainedEncoder(self.options.pretrained)
            for language in (query_language, document_language):
                self._encoder.check(language)
        self._query_terms = Tokenizer(query_language, self.options.stems)
        self._document_terms = Tokenizer(document_language, self.options.stems)
        self.model: BridgeModel | None = None
        self._use(Documents([]))

    def __copy__(self) -> Bridge:
        """A copy that can index other documents."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._use(Documents([]))
        return made

    def train(
        self, training: Dataset, checkpointer: Checkpointer | None = None, team: Team | None = None
    ) -> TrainingResult:
        """Fit the weights with a model that is trained without a fifth of the train queries; then train on all."""
        started = time.perf_counter()
        from isogloss.training.loop import TrainingResult

        rest, held_out = hold_out(training)
        weights, calibration = default_weights() * used_features(FEATURES, self.options), None
        if held_out and "weights" not in self.options.left_out:
            self.model = self.train_model(rest, characters=True)
            self.index(training.documents, ("text",))
            lists, weights = self._fit_weights(training, held_out)
            calibration = calibrate([each.values @ weights for each in lists], [each.grades for each in lists])
        model = self.train_model(training, characters=len(weights) > len(FEATURES))
        self.model = replace(model, weights=weights[: len(model.features)], calibration=calibration)
        self._use(Documents([]))
        history = [{"epoch": 1, "seconds": round(time.perf_counter() - started, 1)}]
        if checkpointer is not None:
            checkpointer.resume()  # there is no checkpoint, but an older run in the directory is replaced now
            checkpointer.record(history)
        return TrainingResult({}, history)

    def index_texts(self, texts: Sequence[str]) -> None:
        self._take_order(self.id_order, len(texts))
        words, terms = self.options.passages, self._document_terms
        self._use(Documents([Part.build(self._ready.translation, texts, words, terms, self._encoded(texts))]))

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        if allowed is None and k <= self.depth:
            rows, scores, _ = self._retrieved(query)
            return top_k(scores, k, self.id_order, rows)
        rows = self._first_stage(query, max(k, self.depth), allowed)
        return top_k(self.score(query, rows), k, self.id_order, rows)

    def score(self, query: str, rows: Rows) -> Scores:
        scores = self.features(query, rows).values @ self._ready.weights
        return self._ready.calibrated(scores, self.context(query)).astype(np.float32)

    def context(self, query: str) -> float:
        """c(q): how well the query does as a whole."""
        return self._retrieved(query).context

    def scores(self, query: str) -> Scores:
        count = len(self.documents)
        blocks = [np.arange(first, min(count, first + _BLOCK)) for first in range(0, count, _BLOCK)]
        return np.concatenate([np.zeros(0, np.float32), *(self.score(query, block) for block in blocks)])

    def passage(self, query: str, row: int) -> Span | None:
        if not self.options.passages:
            return None
        return self.documents.span(row, int(self.features(query, np.asarray([row])).passages[0]))

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """Each word of the query with the terms that match it; what belongs to no word has a line of its own."""
        features = self.features(query, np.asarray([row]))
        ((part, rows, _),) = self.documents.split(np.asarray([row]))
        written = dict(zip(self._query_terms.terms(words := tokenize(query)), words, strict=True))
        lines = explain(
            self.query_features(query), part, int(rows[0]), features, self._ready, written, self.characters, query
        )
        lines = [line._replace(score=line.score * self._ready.scale) for line in lines]
        context = float(self._ready.calibrated(np.zeros(1), self.context(query))[0])
        return [*lines, *([Contribution("(the whole query)", (), context)] if context else [])]

    def best_possible(self, query: str) -> float:
        statistics = self.query_features(query).statistics
        odds = self._ready.translation.odds_of(statistics)
        bound = float((statistics.times / max(1.0, statistics.length)) @ np.log1p(odds))
        return max(bound * float(self._ready.weights[:2].sum()), 1e-3)

    def unknown_words(self, query: str) -> list[str]:
        statistics = self.query_features(query).statistics
        unknown = {
            word
            for position, (word, number) in enumerate(zip(statistics.words, statistics.numbers.tolist(), strict=True))
            if number == len(self._ready.translation.query_words) and position not in statistics.verbatim
        }
        words = tokenize(query)
        return [word for word, term in zip(words, self._query_terms.terms(words), strict=True) if term in unknown]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        model = self._ready.translation
        found = []
        for word in dict.fromkeys(tokenize(query)):
            number = model.query_words.find(self._query_terms.terms([word])[0])
            if number is not None:
                terms, forward, reverse = model.translations(number)
                order = np.argsort(-forward * reverse, kind="stable")[:_SHOWN]
                found.append((word, [model.document_words[t] for t in terms[order].tolist() if t != model.unknown]))
        return [(word, terms) for word, terms in found if terms]

    def term_of(self, word: str) -> str | None:
        return next(iter(self._document_terms.terms([word])), None)

    def thresholds(self) -> tuple[float, ...]:
        return self._ready.thresholds

    def about(self) -> dict[str, Any]:
        """The size of the model, and the weight of each feature."""
        model = self._ready
        weights = zip(model.features, model.weights.tolist(), strict=True)
        return {
            "words": [len(model.translation.query_words), len(model.translation.document_words)],
            "translations": len(model.translation.terms),
            "weights": {name: round(weight, 4) for name, weight in weights},
        }

    def save_model(self, directory: Path) -> None:
        self._ready.save(directory)

    def load_model(self, directory: Path) -> None:
        self.model = BridgeModel.load(directory)
        self._use(Documents([]))

    def count_only(self, live: Allowed) -> None:
        self._use(Documents(self.documents.parts, live))

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        self.documents.merged(self._ready.translation, keep).save(directory)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        self._use(Documents([Part.load(self._ready.translation, directory) for directory in directories]))
        self._take_order(id_order, len(self.documents))
        return self

    def train_model(self, training: Dataset, characters: bool) -> BridgeModel:
        """A model with default weights; ``characters``: with a model of characters, where scripts have no spaces."""
        from isogloss.systems.bridge.training import page_pairs, read_lexicon, train_characters, train_words

        pairs = page_pairs(training, self.options)
        lexicon = read_lexicon(self.options, self.query_language, self.document_language)
        tokenizers = self._query_terms, self._document_terms
        terms = tokenize_texts(training.documents.texts(("text",)), self._document_terms).terms if lexicon else ()
        try:
            translation, tables = train_words(pairs, lexicon, tokenizers, terms, self.options)
        except InputError as error:
            raise InputError(f"{self.name}: {error}; give it a lexicon: --set lexicon=FILE") from error
        model = BridgeModel(translation, tables, default_weights())
        if not characters or "characters" in self.options.left_out:
            return model
        model = replace(model, characters=train_characters(pairs, lexicon, tokenizers, terms, self.options))
        return replace(model, weights=default_weights(model.features))

    def _fit_weights(self, training: Dataset, held_out: Sequence[str]) -> tuple[list[JudgedList], Values]:
        """The judged features of held-out queries, and fitted weights; features of characters only if they help."""
        lists = [self._judged(training, query) for query in track(held_out, "fitting the weights")]
        features, top_grade = self._ready.features, training.judgments.top_grade
        used, prior = used_features(features, self.options), default_weights(features)
        added = np.arange(len(features)) >= len(FEATURES)
        if added.any() and not features_help(lists, top_grade, used, prior, added):
            self.model = replace(self._ready, characters=None, weights=prior[~added])
            self._use(self.documents)
            return self._fit_weights(training, held_out)
        found = fit_weights(lists, top_grade, used, prior)
        return lists, prior * used if found is None else found

    def _judged(self, training: Dataset, query: str) -> JudgedList:
        """The features of the documents that the first stage finds for a train query, and their grades."""
        text, judgments = training.queries[query].text, training.judgments[query]
        rows = self._first_stage(text, self.depth)
        grade_of = {training.documents.row_of[id_]: grade for id_, grade in judgments.items()}
        grades = np.fromiter((grade_of.get(row, 0) for row in rows.tolist()), np.int64, len(rows))
        return JudgedList(self.features(text, rows).values, grades)

    def _first_stage(self, query: str, count: int, allowed: Allowed | None = None) -> Rows:
        """The documents to re-score."""
        best = self.documents.best(self.query_features(query).statistics)
        return top_k(best if allowed is None else np.where(allowed, best, 0), count, self.id_order, above=0.0).rows

    @property
    def _ready(self) -> BridgeModel:
        if self.model is None:
            raise InputError(f"{self.name}: has to be trained before it can search; give it data, or a lexicon")
        return self.model

    def _use(self, documents: Documents) -> None:
        """Search these documents; what is cached depends on them."""
        self.documents = documents
        self.comparable = self.model is not None and self.model.calibration is not None
        model = self.model.characters if self.model is not None else None
        self.characters = CharacterStage(model, self._query_terms, self._document_terms) if model else None
        self.depth = self.characters.depth(self.options.depth, documents) if self.characters else self.options.depth
        self.query_features = lru_cache(_KEPT)(self._compute_query_features)
        self._retrieved = lru_cache(_KEPT)(self._retrieve)

    def _retrieve(self, query: str) -> Retrieved:
        rows = self._first_stage(query, self.depth, self.documents.live)
        scores = self.features(query, rows).values @ self._ready.weights
        context = context_of(scores)
        return Retrieved(rows, self._ready.calibrated(scores, context).astype(np.float32), context)

    def _compute_query_features(self, query: str) -> QueryFeatures:
        words = tokenize(query)
        terms = self._query_terms.terms(words)
        document_term_of = dict(zip(terms, self._document_terms.terms(words), strict=True))
        statistics = self._ready.translation.query_statistics(Counter(terms), self.documents.has, document_term_of)
        pretrained = self._encoder.encode([query])[0] if self._encoder else None
        return QueryFeatures.of(terms, statistics, self._ready.tables, pretrained)

    def features(self, query: str, rows: Rows) -> Features:
        numbers = rows.astype(np.int64)
        found = compute_features(self.query_features(query), self.documents, numbers, self._ready.tables)
        return self.characters.extend(found, query, self.documents, numbers) if self.characters else found

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        if self._encoder is None:
            return None
        return self._encoder.encode([text[slice(*passage_spans(text, _READ)[0])] for text in texts])

"""``bridge``: two-stage retrieval with a translation model, passages and word vectors, for whole collections.

1. The first stage finds the ``depth`` documents with the most likely passages: the log-likelihood of the query given
   the passage, under a translation model trained on translated pages and a lexicon. It fetches several times as many
   by what was computed of their words at indexing (:mod:`isogloss.systems.bridge.expansion`), and chooses among them
   by the likelihood itself (:mod:`isogloss.systems.bridge.matching`).
2. The second stage re-scores them with features x_i: log-likelihoods in both directions, of the best passage and of the
   whole document, lengths and the cosine of vectors (:mod:`isogloss.systems.bridge.features`):

       score(q, d) = sum_i w_i x_i(q, d)

The weights w are fitted on train queries and their titles, which the rest of the model is not trained on at that time.
So is the calibration, which turns scores into the log odds of relevance (:mod:`isogloss.systems.bridge.weights`). With
few queries or none both are nearly or wholly the defaults.

The ranking is one, however much of it is asked for: after the documents that are re-scored, the others follow in the
order of the first stage, with lower scores.

A word of the query that has no translation and stands verbatim in at most three documents (a name, a command, an error
code) puts one of them among the first three.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection
from isogloss.retrieval.ranking import Allowed, Matches, Ranking, Rows, Scores, top_k
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.storage.strings import StringTable
from isogloss.storage.wording import way
from isogloss.systems.base import VERBATIM, Contribution, QueryVocabulary, SystemOptions, names_among
from isogloss.systems.bridge.characters import CHARACTER_FEATURES
from isogloss.systems.bridge.documents import Documents, Part, Vectors, number_tokens
from isogloss.systems.bridge.encoder_feature import EncoderFeature
from isogloss.systems.bridge.explaining import explain
from isogloss.systems.bridge.features import FEATURES, VectorsInContext
from isogloss.systems.bridge.fetched import (
    CollectionCounts,
    FetchedDocuments,
    sparse_documents,
    sparse_query,
)
from isogloss.systems.bridge.matching import COMPILED
from isogloss.systems.bridge.model import (
    DEFAULT_CALIBRATIONS,
    BridgeModel,
    BridgeOptions,
    default_weights,
    used_features,
)
from isogloss.systems.bridge.retrieving import Retriever, fetched
from isogloss.systems.bridge.weights import (
    JudgedList,
    Values,
    Weights,
    calibrate,
    features_help,
    fit_by_length,
)
from isogloss.systems.glossers import forms_at_hand
from isogloss.systems.passages import FindsPassages
from isogloss.systems.sparse import SparseSystem, SparseVector
from isogloss.systems.trainable import TrainableSystem, TrainingHistory, hold_out
from isogloss.text.passages import Span, cut_texts, passage_spans
from isogloss.text.stemming import as_forms
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.glossing import Glosser
from isogloss.translation.model import Background, Knowledge, share_of

if TYPE_CHECKING:
    from isogloss.systems.run_directory import RunDirectory

_COUNTED = 1_000  # words by which the default calibration can be used
_ENDING = 2  # letters that a stem may leave out of a word of another language which stands in the documents
_SHOWN = 5
_BLOCK = 1000
_READ = 40  # words of a document that a pretrained encoder reads: the first ones tell most
_FEWEST_QUERIES, _ENOUGH_QUERIES = 30, 200  # to fit weights on
_MOST_DOCUMENTS = 20_000  # that weights are fitted on
_KEPT = 64  # queries whose context is kept


class Bridge(FindsPassages, TrainableSystem, SparseSystem):
    """A translation model in both directions, passages, word vectors, and fitted weights."""

    name = "bridge"
    paper = "isogloss; after Brown et al. 1993, Xue, Jeon and Croft 2008 and the smooth paper's graded thresholds"
    summary = "translation model, passages and word vectors, trained on pages and a dictionary: the one to use"
    options_type = BridgeOptions
    options: BridgeOptions
    _retriever: Retriever | None
    statistics: CollectionCounts | None = None
    _observed: CollectionCounts | None = None
    _contexts: dict[str, Values]
    """z(q) of queries whose documents were fetched from an engine; ``_placed``: scores of texts that are not theirs."""
    _placed: dict[str, dict[str, float]]
    _glosser: Glosser | None = None
    _last: tuple[str, dict[int, float]]  # the last query that was searched for, and the scores raised then
    learns = True
    joins = True
    uses_starter = True
    translates = True

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check()
        self._encoder = None
        if self.options.pretrained:
            self._encoder = EncoderFeature(self.options.pretrained)
            for language in (query_language, document_language):
                self._encoder.encoder.check(language)
        self._query_terms = Tokenizer(query_language, self.options.stems)
        self._document_terms = Tokenizer(document_language, self.options.stems)
        self.model: BridgeModel | None = None
        self._contexts, self._placed = {}, {}
        self._use(Documents([]))

    def __copy__(self) -> Bridge:
        """A copy that can index other documents."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._use(Documents([]))
        return made

    def train(self, training: Dataset, run: RunDirectory | None = None) -> TrainingHistory:
        """Fit the weights with models that are trained without a fifth of the train queries; then train on all."""
        started = time.perf_counter()
        from isogloss.systems.bridge.training import read_knowledge

        weights = Weights(*(each * used_features(FEATURES, self.options) for each in default_weights()))
        calibration = default = DEFAULT_CALIBRATIONS[bool(self.options.pretrained)]
        if self._encoder is not None:
            self._encoder.fit()
        knowledge = read_knowledge(self.options, (self._query_terms, self._document_terms))
        lists = [] if "weights" in self.options.left_out else self._judged_lists(training, knowledge)
        if lists:
            weights = self._fit_weights(lists, training.judgments.top_grade)
            lists = [each._replace(values=each.values[:, : len(weights.long)]) for each in lists]
            calibration = calibrate(lists, weights, default)
        model = self.train_model(training, knowledge, characters=len(weights.long) > len(FEATURES))
        weights = Weights(*(each[: len(model.features)] for each in weights))
        self.model = replace(model, weights=weights, calibration=calibration)
        self._use(Documents([]))
        epoch = {"epoch": 1, "seconds": round(time.perf_counter() - started, 1)}
        if run is not None:
            run.begin()  # an older run in the directory is replaced now
            run.record([epoch])
        return TrainingHistory([epoch], epoch)

    def index_texts(self, texts: Sequence[str]) -> None:
        self._take_order(self.id_order, len(texts))
        if self.statistics is not None:
            self._use(self._read(texts))
            return
        words, terms = self.options.passages, self._document_terms
        self._use(Documents([Part.build(self._ready.translation, texts, words, terms, self._encoded(texts))]))

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        live, retriever = self.documents.live, self.retriever
        within = None if allowed is live else allowed
        found = retriever.retrieved(query) if within is None else retriever.retrieve_among(query, within)
        ranking, placed = top_k(found.scores, k, self.id_order, found.scored.rows), found.placed
        if k > len(ranking.rows):
            rest = retriever.rest(query, k, live if within is None else within, found)
            placed = placed | dict(zip(rest.rows.tolist(), rest.scores.tolist(), strict=True))
            ranking = Ranking(*(np.concatenate(both) for both in zip(ranking, rest, strict=True)))
        self._last = query, placed
        return ranking

    def count_matches(self, query: str, allowed: Allowed | None = None) -> Matches:
        if self.statistics is not None:
            return Matches(0, False)
        return self.documents.count_matches(self.retriever.query_features(query).statistics, allowed)

    def chance(self, score: float) -> float | None:
        return 1 / (1 + math.exp(-max(-700.0, score))) if self._is_calibrated else None

    def warm(self) -> None:
        COMPILED.begin()
        if self.statistics is not None and find_spec("numba") is not None:  # then each query reads many texts
            import_module("isogloss.text.compiled.scan")

    def score(self, query: str, rows: Rows) -> Scores:
        found = self.retriever.retrieved(query)
        scores = self.retriever.calibrated(query, self.retriever.features(query, rows), found.context)
        return np.asarray(
            [found.placed.get(row, score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)],
            np.float32,
        )

    def scores(self, query: str) -> Scores:
        count = len(self.documents)
        blocks = [np.arange(first, min(count, first + _BLOCK)) for first in range(0, count, _BLOCK)]
        return np.concatenate([np.zeros(0, np.float32), *(self.score(query, block) for block in blocks)])

    def passage(self, query: str, row: int) -> Span | None:
        return self.retriever.passage(query, row) if self.options.passages else None

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """Each word of the query with the terms that match it; what belongs to no word has a line of its own.

        Which documents are raised depends on the filter: it is that of the last search, where this was for the query.
        """
        retriever = self.retriever
        lines = explain(
            retriever.query_features(query), retriever.query_table(query), retriever.found(query, row), self._ready,
            retriever.written(query), retriever.characters, query,
        )  # fmt: skip
        scale, found = self._ready.scale, retriever.retrieved(query)
        lines = [Contribution(word, terms, score * scale) for word, terms, score in lines]
        context = float(self._ready.calibrated(np.zeros(1), found.context)[0])
        lines += [Contribution("(the whole query)", (), context)] if context else []
        placed = self._last[1] if self._last[0] == query else found.placed
        if query in self._placed:
            own = self._placed[query].get(text)
            placed = {} if own is None else {row: own}
        if row in placed:
            rest = placed[row] - sum(line.score for line in lines)
            lines.append(Contribution("(verbatim)" if rest > 0 else "(first stage)", (), rest))
        return lines

    def best_possible(self, query: str) -> float:
        statistics = self.retriever.query_features(query).statistics
        odds = self._background.of(statistics)
        bound = float((statistics.times / max(1.0, statistics.length)) @ np.log1p(odds))
        return max(bound * float(self.retriever.weights_of(query)[:2].sum()), 1e-3)

    def unknown_words(self, query: str) -> list[str]:
        statistics = self.retriever.query_features(query).statistics
        unknown = {
            word
            for position, (word, number) in enumerate(zip(statistics.words, statistics.numbers.tolist(), strict=True))
            if number == len(self._ready.translation.query_words) and position not in statistics.verbatim
        }
        words = tokenize(query)
        return [word for word, term in zip(words, self._query_terms.terms(words), strict=True) if term in unknown]

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Whether each word has a translation, or stands in the documents.

        By a stem that leaves out more than an ending it does not: in Czech, with five letters, ``contaner`` is one word
        with ``contains``.
        """
        model, documents = self._ready.translation, self.retriever.documents
        each = zip(words, self._query_terms.terms(words), self._document_terms.terms(words), strict=True)
        return [
            model.find_word(stem) is not None
            or (len(word) - len(term) <= _ENDING and model.find_term(term) is None and documents.count_of(term) > 0)
            for word, stem, term in each
        ]

    def frequencies(self, words: Sequence[str]) -> NDArray[np.float64]:
        """P(w) of each word: what the translation model expects of it in the collection, or its share there verbatim.

        A form counts the less the more letters its stem leaves out. A name has no forms: a term of the documents that
        is a stem is of a word of their language.
        """
        model, documents, background = self._ready.translation, self.retriever.documents, self._background
        stems = self._query_terms.terms(words)
        numbers = model.query_words.find_all(stems)
        expected = np.where(numbers < 0, 0.0, share_of(background.query_odds[numbers]))
        verbatim = names_among(words, documents.other_counts(words), self._document_terms) / background.size
        return np.maximum(as_forms(expected, words, stems), VERBATIM * verbatim)

    def query_vocabulary(self) -> QueryVocabulary:
        return QueryVocabulary(self._ready.translation.letters, len(self._ready.translation.query_words))

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """The likeliest translations of each word, in full where the forms of stems are at hand."""
        model = self._ready.translation
        form_of = forms_at_hand(self.document_language) if self.options.stems else str
        found = []
        for word in dict.fromkeys(tokenize(query)):
            number = model.find_word(self._query_terms.terms([word])[0])
            if number is not None:
                terms, forward, reverse = model.translations(number)
                order = np.argsort(-forward * reverse, kind="stable")[:_SHOWN]
                known = (model.document_words[t] for t in terms[order].tolist() if t != model.unknown)
                found.append((word, list(dict.fromkeys(map(form_of, known)))))
        return [(word, terms) for word, terms in found if terms]

    def glosser(self) -> Glosser:
        model = self._ready
        if self._glosser is None or self._glosser.model is not model.translation:
            form_of = model.form_of if model.forms is not None else forms_at_hand(self.query_language)
            vectors = VectorsInContext(model.tables) if model.tables.trained else None
            self._glosser = Glosser(model.translation, (self._query_terms, self._document_terms), form_of, vectors)
        return self._glosser

    def term_of(self, word: str) -> str | None:
        return next(iter(self._document_terms.terms([word])), None)

    def thresholds(self) -> tuple[float, ...]:
        return self._ready.thresholds if self._is_calibrated else ()

    @property
    def _is_calibrated(self) -> bool:
        """Whether scores say how likely a document is relevant.

        The default calibration rests on how frequent words are. A few short texts and a short dictionary do not tell.
        """
        calibration = self._ready.calibration
        few = calibration in DEFAULT_CALIBRATIONS.values() and self._background.size < _COUNTED
        return calibration is not None and not few

    @property
    def _background(self) -> Background:
        return (self.documents.statistics if self.documents.parts else self._ready.translation).background

    def about(self) -> dict[str, Any]:
        """The size of the model, and the weight of each feature for long and for short queries."""
        model = self._ready
        weights = zip(model.features, np.stack(model.weights, axis=1).tolist(), strict=True)
        return {
            "words": [len(model.translation.query_words), len(model.translation.document_words)],
            "translations": len(model.translation.terms),
            "weights": {name: [round(weight, 4) for weight in each] for name, each in weights},
        }

    @property
    def candidates(self) -> int:  # type: ignore[override]
        return fetched(self.options.depth, self.statistics.statistics) if self.statistics is not None else 0

    def observe(self, texts: Sequence[str]) -> None:
        words, translation = self.options.passages, self._ready.translation
        self._observed = self._observed or CollectionCounts(translation)
        cut = cut_texts(texts, words, self._document_terms, "counting")
        self._observed.observe(*number_tokens(translation, cut.terms, words), passages=len(cut.spans))

    def freeze(self) -> None:
        self.statistics, self._observed = self._observed or CollectionCounts(self._ready.translation), None
        self._use(Documents([]))

    def sparse_documents(self, texts: Sequence[str]) -> list[SparseVector]:
        assert self.statistics is not None, "the statistics are not frozen yet"
        return sparse_documents(self.statistics, texts, self.options.passages, self._document_terms)

    def sparse_query(self, query: str) -> SparseVector:
        assert self.statistics is not None, "the statistics are not frozen yet"
        return sparse_query(self.statistics, self.retriever.query_features(query).statistics)

    def rescore(self, query: str, texts: Sequence[str]) -> Scores:
        """The first of the texts are re-scored; the others keep their order after them."""
        other = copy(self)
        other._contexts, other._placed = {}, {}
        other.index_texts(texts)
        rows, found = other.search(query, len(texts))
        scores = np.zeros(len(texts))
        scores[rows] = found
        if len(self._contexts) >= _KEPT:
            self._contexts.clear()
            self._placed.clear()
        self._contexts[query] = other.retriever.retrieved(query).context
        self._placed[query] = {texts[row]: score for row, score in other._last[1].items()}
        return scores

    def save_shared(self, directory: Path) -> None:
        super().save_shared(directory)
        if self.statistics is not None:
            self.statistics.save(directory)

    def load_shared(self, directory: Path) -> Self:
        super().load_shared(directory)
        self.statistics = CollectionCounts.load(directory, self._ready.translation)
        return self

    def save_model(self, directory: Path) -> None:
        self._ready.save(directory)
        if self._encoder is not None:
            self._encoder.save(directory)

    def load_model(self, directory: Path) -> None:
        self.model = BridgeModel.load(directory)
        if self._encoder is not None:
            self._encoder.load(directory)
        self._use(Documents([]))

    def count_only(self, live: Allowed) -> None:
        self._use(Documents(self.documents.parts, live))

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        self.documents.merged(self._ready.translation, keep, self.options.passages).save(directory)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        model, words = self._ready.translation, self.options.passages
        self._use(Documents([Part.load(model, directory, words) for directory in directories]))
        self._take_order(id_order, len(self.documents))
        return self

    def train_model(self, training: Dataset, knowledge: Sequence[Knowledge], characters: bool) -> BridgeModel:
        """A model with default weights; ``characters``: with a model of characters, where scripts have no spaces."""
        from isogloss.systems.bridge.training import (
            find_compounds,
            page_pairs,
            query_forms,
            train_characters,
            train_words,
        )

        pairs = page_pairs(training, self.options)
        tokenizers = self._query_terms, self._document_terms
        left_out = self.options.left_out
        texts = () if "compounds" in left_out else training.documents.texts(("text",))
        try:
            translation, tables = train_words(
                pairs, knowledge, tokenizers, self.options, find_compounds(texts, self._document_terms)
            )
        except InputError as error:
            lexicon = way("--set lexicon=FILE", "lexicon='FILE'")
            what = f"install isogloss-starter, or give it translated pages or a lexicon: {lexicon}"
            raise InputError(f"{self.name}: {error}; {what}") from error
        forms = query_forms(pairs, knowledge, tokenizers[0])
        own = StringTable.of(form if (form := forms.get(word, "")) != word else "" for word in translation.query_words)
        model = BridgeModel(translation, tables, default_weights(), forms=own)
        if not characters or "characters" in left_out:
            return model
        model = replace(model, characters=train_characters(pairs, knowledge, tokenizers, self.options))
        return replace(model, weights=default_weights(model.features))

    def _judged_lists(self, training: Dataset, knowledge: Sequence[Knowledge]) -> list[JudgedList]:
        """The judged features of train queries, each with a model that was trained without it; none if they are few.

        One fifth of the queries is enough if they are many; of few all are used, one fifth after another.
        """
        fifth = len(training.splits.get("train", ())) // 5
        folds = min(5, -(-_ENOUGH_QUERIES // fifth)) if 5 * fifth >= _FEWEST_QUERIES else 0
        if folds:
            # Compiled code and numpy differ in the last bit, which fitting turns into other weights: what the process
            # has done before must not decide which of them is used, and when.
            COMPILED.begin()
            COMPILED.functions(0)
        lists = []
        for fold in range(folds):
            rest, held_out = hold_out(training, fold, fewest=1)
            self.model = self.train_model(rest, knowledge, characters=True)
            documents = _sample(training, held_out)
            self.index(documents, ("text",))
            for query in track(held_out, "fitting the weights"):
                judgments = training.judgments[query]
                grade_of = {documents.row_of[id_]: grade for id_, grade in judgments.items() if id_ in documents.row_of}
                text = training.queries[query].text
                lists += [
                    self._judged(each, grade_of) for each in (text, training.queries[query].title) if each.strip()
                ]
        width = min((each.values.shape[1] for each in lists), default=0)
        return [each._replace(values=each.values[:, :width]) for each in lists]

    def _fit_weights(self, lists: Sequence[JudgedList], top_grade: int) -> Weights:
        """Fitted weights; those of the features of characters only if they help."""
        features = FEATURES + CHARACTER_FEATURES if lists[0].values.shape[1] > len(FEATURES) else FEATURES
        used, prior = used_features(features, self.options), default_weights(features)
        added = np.arange(len(features)) >= len(FEATURES)
        if added.any() and not features_help(lists, top_grade, used, prior.long, added):
            return self._fit_weights([each._replace(values=each.values[:, ~added]) for each in lists], top_grade)
        return fit_by_length(lists, top_grade, used, prior)

    def _judged(self, text: str, grade_of: Mapping[int, int]) -> JudgedList:
        """The features of the documents that the first stage finds for a train query, and their grades."""
        retriever = self.retriever
        found = retriever.first_stage(text, retriever.depth, self.documents.live, ())
        grades = np.fromiter((grade_of.get(row, 0) for row in found.rows.tolist()), np.int64, len(found.rows))
        return JudgedList(found.features.values, grades, retriever.known_of(text))

    @property
    def _ready(self) -> BridgeModel:
        if self.model is None:
            raise InputError(f"{self.name}: has to be trained before it can search; give it data, or a lexicon")
        return self.model

    def _use(self, documents: Documents) -> None:
        """Search these documents from now on."""
        self.documents, self._retriever, self._last = documents, None, ("", {})
        self.comparable = self.model is not None and self.model.calibration is not None

    @property
    def retriever(self) -> Retriever:
        """What searches the documents."""
        if self._retriever is None or self._retriever.id_order is not self.id_order:
            if self.statistics is not None and not self.documents.parts:
                self.documents = self._read([])
            tokenizers = self._query_terms, self._document_terms
            self._retriever = Retriever(
                self._ready, self.documents, self.id_order, self.options.depth, tokenizers, self._encoder,
                self._contexts,
            )  # fmt: skip
        return self._retriever

    def _read(self, texts: Sequence[str]) -> FetchedDocuments:
        """Texts that an engine has found, as documents."""
        assert self.statistics is not None
        words, terms = self.options.passages, self._document_terms
        return FetchedDocuments.of(self.statistics, texts, words, terms, self._encoded(texts))

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        if self._encoder is None:
            return None
        return self._encoder.encode_documents([text[slice(*passage_spans(text, _READ)[0])] for text in texts])


def _sample(training: Dataset, queries: Sequence[str]) -> Collection:
    """The documents that are judged for some queries, and a random sample of the others if they are very many."""
    documents = training.documents
    if len(documents) <= _MOST_DOCUMENTS:
        return documents
    judged = {documents.row_of[id_] for query in queries for id_ in training.judgments[query]}
    others = np.random.default_rng(0).permutation(len(documents))[:_MOST_DOCUMENTS].tolist()
    return Collection((documents[row] for row in sorted(judged.union(others))), documents.language)

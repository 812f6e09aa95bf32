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

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection
from isogloss.nn.encoders.pretrained import PretrainedEncoder
from isogloss.retrieval.ranking import Allowed, Ranking, Rows, Scores, top_k
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.systems.base import Contribution, SystemOptions
from isogloss.systems.bridge.characters import CHARACTER_FEATURES, CharacterStage
from isogloss.systems.bridge.documents import Documents, Part, Vectors, number_tokens
from isogloss.systems.bridge.expansion import SCALE
from isogloss.systems.bridge.explaining import Found, explain, word_scores
from isogloss.systems.bridge.features import FEATURES, Features, QueryFeatures, compute_features, products
from isogloss.systems.bridge.fetched import (
    CollectionCounts,
    FetchedDocuments,
    sparse_documents,
    sparse_query,
    word_dimensions,
)
from isogloss.systems.bridge.matching import COMPILED, DocumentMatches, QueryTable
from isogloss.systems.bridge.model import (
    DEFAULT_CALIBRATIONS,
    BridgeModel,
    BridgeOptions,
    default_weights,
    used_features,
)
from isogloss.systems.bridge.weights import (
    JudgedList,
    Values,
    Weights,
    calibrate,
    context_of,
    features_help,
    fit_by_length,
)
from isogloss.systems.passages import FindsPassages
from isogloss.systems.sparse import SparseSystem, SparseVector
from isogloss.systems.trained import Trainable, hold_out
from isogloss.text.batches import available_cores
from isogloss.text.passages import Span, cut_texts, passage_spans
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.model import Knowledge

if TYPE_CHECKING:
    from isogloss.training.distributed import Team
    from isogloss.training.loop import Checkpointer, TrainingResult

_SHOWN = 5
_BLOCK = 1000
_FETCHED = 5  # times as many documents as are re-scored: the score at indexing is only an upper bound
_MANY_DOCUMENTS = 100_000  # with fewer, a query takes less time than a thread costs
_READ = 40  # words of a document that a pretrained encoder reads: the first ones tell most
_FEWEST_QUERIES, _ENOUGH_QUERIES = 30, 200  # to fit weights on
_MOST_DOCUMENTS = 20_000  # that weights are fitted on
_FIRST, _RARE = 3, 3  # a word that stands verbatim in so few documents puts one of them among the first three
_TAIL = 0.22  # of the forward log-likelihood that a query could have: what the hundredth document has (median)
_STAYS = 0.2  # P(w | w) of a word that is not translated
_KEPT = 64  # queries that are cached: the hits of each are explained one by one


class Scored(NamedTuple):
    """The documents of the first stage, their match statistics and features, and the documents of each rare word."""

    rows: NDArray[np.int64]
    matches: DocumentMatches
    features: Features
    rare: Sequence[list[int]]


class Retrieved(NamedTuple):
    """Documents with their calibrated scores, z(q), and those scores that are not their own: of raised documents."""

    scored: Scored
    scores: Scores
    context: Values
    placed: dict[int, float]

    def position_of(self, row: int) -> int | None:
        """Where a document is among them."""
        found = np.flatnonzero(self.scored.rows == row)
        return int(found[0]) if len(found) else None


class Bridge(FindsPassages, Trainable, SparseSystem):
    """A translation model in both directions, passages, word vectors, and fitted weights."""

    name = "bridge"
    paper = "isogloss; after Brown et al. 1993, Xue, Jeon and Croft 2008 and the smooth paper's graded thresholds"
    summary = "translation model, passages and word vectors, trained on pages and a dictionary: the one to use"
    options_type = BridgeOptions
    options: BridgeOptions
    statistics: CollectionCounts | None = None
    _observed: CollectionCounts | None = None
    _contexts: dict[str, tuple[Values, dict[str, float]]]
    """Of queries whose documents were fetched from an engine: z(q), and the scores of texts that are not their own."""
    _last: tuple[str, dict[int, float]]  # the last query that was searched for, and the scores raised then
    learns = True
    joins = True
    uses_starter = True

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
        self._contexts: dict[str, tuple[Values, dict[str, float]]] = {}
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
        """Fit the weights with models that are trained without a fifth of the train queries; then train on all."""
        started = time.perf_counter()
        from isogloss.systems.bridge.training import read_knowledge
        from isogloss.training.loop import TrainingResult

        weights = Weights(*(each * used_features(FEATURES, self.options) for each in default_weights()))
        calibration = default = DEFAULT_CALIBRATIONS[bool(self.options.pretrained)]
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
        history = [{"epoch": 1, "seconds": round(time.perf_counter() - started, 1)}]
        if checkpointer is not None:
            checkpointer.resume()  # there is no checkpoint, but an older run in the directory is replaced now
            checkpointer.record(history)
        return TrainingResult({}, history)

    def index_texts(self, texts: Sequence[str]) -> None:
        self._take_order(self.id_order, len(texts))
        words, terms = self.options.passages, self._document_terms
        if self.statistics is not None:
            self._use(FetchedDocuments.of(self.statistics, texts, words, terms, self._encoded(texts)))
            return
        self._use(Documents([Part.build(self._ready.translation, texts, words, terms, self._encoded(texts))]))

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        live = self.documents.live
        within = None if allowed is live else allowed
        found = self._retrieved(query) if within is None else self._retrieve_among(query, within)
        ranking, placed = top_k(found.scores, k, self.id_order, found.scored.rows), found.placed
        if k > len(ranking.rows):
            rest = self._rest(query, k, live if within is None else within, found)
            placed = placed | dict(zip(rest.rows.tolist(), rest.scores.tolist(), strict=True))
            ranking = Ranking(*(np.concatenate(both) for both in zip(ranking, rest, strict=True)))
        self._last = query, placed
        return ranking

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """In a large collection, one thread a query: compiled code releases the interpreter lock."""
        if len(queries) < 2 or len(self.documents) < _MANY_DOCUMENTS:
            return super().search_texts(queries, k, allowed)
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        with ThreadPoolExecutor(available_cores()) as threads:
            return list(threads.map(lambda query: self.search(query, k, allowed), queries))

    def warm(self) -> None:
        COMPILED.begin()

    def score(self, query: str, rows: Rows) -> Scores:
        found = self._retrieved(query)
        scores = self._calibrated(query, self.features(query, rows), found.context)
        return np.asarray(
            [found.placed.get(row, score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)],
            np.float32,
        )

    def scores(self, query: str) -> Scores:
        count = len(self.documents)
        blocks = [np.arange(first, min(count, first + _BLOCK)) for first in range(0, count, _BLOCK)]
        return np.concatenate([np.zeros(0, np.float32), *(self.score(query, block) for block in blocks)])

    def passage(self, query: str, row: int) -> Span | None:
        if not self.options.passages:
            return None
        return self.documents.span(row, int(self._found(query, row).passage[0]))

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """Each word of the query with the terms that match it; what belongs to no word has a line of its own.

        Which documents are raised depends on the filter: it is that of the last search, where this was for the query.
        """
        lines = explain(
            self.query_features(query), self.query_table(query), self._found(query, row), self._ready,
            self._written(query), self.characters, query,
        )  # fmt: skip
        scale, found = self._ready.scale, self._retrieved(query)
        lines = [Contribution(word, terms, score * scale) for word, terms, score in lines]
        context = float(self._ready.calibrated(np.zeros(1), found.context)[0])
        lines += [Contribution("(the whole query)", (), context)] if context else []
        placed = self._last[1] if self._last[0] == query else found.placed
        if self.statistics is not None and query in self._contexts:
            own = self._contexts[query][1].get(text)
            placed = {} if own is None else {row: own}
        if row in placed:
            rest = placed[row] - sum(line.score for line in lines)
            lines.append(Contribution("(verbatim)" if rest > 0 else "(first stage)", (), rest))
        return lines

    def _compute_written(self, query: str) -> dict[str, str]:
        """The terms of a query as they are written in it."""
        words = tokenize(query)
        return dict(zip(self._query_terms.terms(words), words, strict=True))

    def _found(self, query: str, row: int) -> Found:
        """A document with what each word adds to its score; what a search has computed of it is not computed again."""
        retrieved = self._retrieved(query)
        position, scored = retrieved.position_of(row), retrieved.scored
        if position is None:
            scored, position = self._score(query, np.asarray([row])), 0
            scores = self._word_scores(query, scored)
        else:
            scores = self._retrieved_word_scores(query)
        ((part, rows, _),) = self.documents.split(np.asarray([row]))
        here = slice(position, position + 1)
        return Found(
            part, int(rows[0]), scored.features.passages[here], scored.features.values[position], scores[position]
        )

    def _word_scores(self, query: str, scored: Scored) -> Values:
        features, table = self.query_features(query), self.query_table(query)
        return word_scores(features, table, self._ready, scored.matches, scored.features)

    def best_possible(self, query: str) -> float:
        statistics = self.query_features(query).statistics
        background = (self.documents.statistics if self.documents.parts else self._ready.translation).background
        odds = background.of(statistics)
        bound = float((statistics.times / max(1.0, statistics.length)) @ np.log1p(odds))
        return max(bound * float(self._weights_of(query)[:2].sum()), 1e-3)

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
            number = model.find_word(self._query_terms.terms([word])[0])
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
        return _FETCHED * self.options.depth

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
        words, names = self.options.passages, self._word_dimensions()
        return sparse_documents(self.statistics, texts, words, self._document_terms, names)

    def sparse_query(self, query: str) -> SparseVector:
        assert self.statistics is not None, "the statistics are not frozen yet"
        return sparse_query(self.statistics, self.query_features(query).statistics)

    def rescore(self, query: str, texts: Sequence[str]) -> Scores:
        """The first of the texts are re-scored; the others keep their order after them."""
        fetched = copy(self)
        fetched._contexts = {}
        fetched.index_texts(texts)
        rows, found = fetched.search(query, len(texts))
        scores = np.zeros(len(texts))
        scores[rows] = found
        if len(self._contexts) >= _KEPT:
            self._contexts.clear()
        placed = {texts[row]: score for row, score in fetched._last[1].items()}
        self._contexts[query] = fetched._retrieved(query).context, placed
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

    def load_model(self, directory: Path) -> None:
        self.model = BridgeModel.load(directory)
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
        from isogloss.systems.bridge.training import find_compounds, page_pairs, train_characters, train_words

        pairs = page_pairs(training, self.options)
        tokenizers = self._query_terms, self._document_terms
        left_out = self.options.left_out
        texts = () if "compounds" in left_out else training.documents.texts(("text",))
        try:
            translation, tables = train_words(
                pairs, knowledge, tokenizers, self.options, find_compounds(texts, self._document_terms)
            )
        except InputError as error:
            way = "install isogloss-starter, or give it translated pages or a lexicon: --set lexicon=FILE"
            raise InputError(f"{self.name}: {error}; {way}") from error
        model = BridgeModel(translation, tables, default_weights())
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
        found = self._first_stage(text, self.depth, self.documents.live, ())
        grades = np.fromiter((grade_of.get(row, 0) for row in found.rows.tolist()), np.int64, len(found.rows))
        return JudgedList(found.features.values, grades, self.known_of(text))

    def _weights_of(self, query: str) -> Values:
        return self._ready.weights.of(self.query_features(query).statistics.length)

    def context(self, query: str, scores: Values) -> Values:
        """The context z(q) of a query; the default calibration takes ``depth`` documents for granted.

        So where fewer are found, the others are taken to be as good as the last ones usually are: a share of what the
        words of the query could give. In a collection of three documents the best is not right just for being best.
        """
        known = self.known_of(query)
        missing = self.depth - len(scores)
        if missing > 0 and self._ready.calibration in DEFAULT_CALIBRATIONS.values():
            tail = _TAIL * known[0] * float(self._weights_of(query)[0])
            scores = np.append(scores, np.full(missing, tail))
        return context_of(scores, known)

    def known_of(self, query: str) -> tuple[float, float]:
        """The information of a query, and ln |q|: the last entries of z(q)."""
        statistics = self.query_features(query).statistics
        if not len(statistics.words) or not len(self.documents):
            return 0.0, 0.0
        information = np.log1p(self.documents.statistics.background.of(statistics))
        return float(np.average(information, weights=statistics.times)), float(np.log(statistics.length))

    def _first_stage(self, query: str, count: int, allowed: Allowed | None, rare: Sequence[list[int]]) -> Scored:
        """The documents to re-score: the best by translations, by the encoder if there is one, and rare words."""
        features, documents = self.query_features(query), self.documents
        rows = documents.best(features.statistics, _FETCHED * count, self.id_order, allowed).rows.astype(np.int64)
        others = [row for of_word in rare for row in of_word]
        if features.pretrained is not None:
            cosines = documents.cosines(features.pretrained)
            others += top_k(
                cosines if allowed is None else np.where(allowed, cosines, 0), count, self.id_order, above=0.0
            ).rows.tolist()
        found = documents.best_passages(self.query_table(query), features.statistics, rows)
        best = top_k(found.scores, count, self.id_order[rows]).rows
        added = np.setdiff1d(np.asarray(others, np.int64), rows[best])
        more = documents.best_passages(self.query_table(query), features.statistics, added)
        return self._score(query, np.append(rows[best], added), np.append(found.numbers[best], more.numbers), rare)

    def _score(
        self, query: str, rows: NDArray[np.int64], best: NDArray[np.int64] | None = None,
        rare: Sequence[list[int]] = (),
    ) -> Scored:  # fmt: skip
        """The features of some documents, whose best passages may be known."""
        features, table, documents = self.query_features(query), self.query_table(query), self.documents
        if best is None:
            best = documents.best_passages(table, features.statistics, rows).numbers
        matches = documents.match(table, features.statistics, rows, best)
        found = compute_features(features, table, documents, rows, matches, self._ready.tables)
        if self.characters:
            found = self.characters.extend(found, query, documents, rows)
        return Scored(rows, matches, found, rare)

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
        self.query_table = lru_cache(_KEPT)(self._compute_query_table)
        self._word_dimensions = lru_cache(1)(lambda: word_dimensions(self._ready.translation))
        self._retrieved = lru_cache(_KEPT)(self._retrieve)
        self._written = lru_cache(_KEPT)(self._compute_written)
        self._retrieved_word_scores = lru_cache(_KEPT)(
            lambda query: self._word_scores(query, self._retrieved(query).scored)
        )
        self._last = "", {}

    def _retrieve(self, query: str) -> Retrieved:
        scored = self._candidates(query, self.documents.live)
        context = self.context(query, products(scored.features.values, self._weights_of(query)))
        if self.statistics is not None and query in self._contexts:
            context = self._contexts[query][0]  # one of the documents that were fetched for it is explained
        scores = self._calibrated(query, scored.features, context)
        return Retrieved(scored, scores, context, self._raise(scored.rows, scores, scored.rare))

    def _retrieve_among(self, query: str, allowed: Allowed) -> Retrieved:
        """Some of the documents, with the scores that they have among all."""
        found, scored = self._retrieved(query), self._candidates(query, allowed)
        scores = self._calibrated(query, scored.features, found.context)
        for position, row in enumerate(scored.rows.tolist()):
            scores[position] = found.placed.get(row, scores[position])
        return Retrieved(scored, scores, found.context, found.placed | self._raise(scored.rows, scores, scored.rare))

    def _candidates(self, query: str, allowed: Allowed | None) -> Scored:
        return self._first_stage(query, self.depth, allowed, self._rare_words(query, allowed))

    def _rest(self, query: str, k: int, allowed: Allowed | None, found: Retrieved) -> Ranking:
        """The documents after those re-scored, in the order of the first stage; their scores continue the others'."""
        rows, scores = self.documents.best(
            self.query_features(query).statistics, k + self.depth, self.id_order, allowed
        )
        others = ~np.isin(rows, found.scored.rows)
        rows, scores = rows[others][: k - len(found.scores)], scores[others][: k - len(found.scores)]
        if not len(rows):
            return Ranking(rows, scores.astype(np.float32))
        lowest = np.nextafter(found.scores.min(initial=0.0), np.float32(-np.inf))
        scale = self._ready.scale * max(1e-6, float(self._weights_of(query)[0])) / SCALE
        return Ranking(rows, float(lowest) - scale * (int(scores[0]) - scores.astype(np.float64)))

    def _calibrated(self, query: str, features: Features, context: Values) -> Scores:
        scores = products(features.values, self._weights_of(query))
        return self._ready.calibrated(scores, context).astype(np.float32)

    def _raise(self, rows: Rows, scores: Scores, rare: Sequence[list[int]]) -> dict[int, float]:
        """Raise one document of each rare word to the first three, in ``scores``; the new scores."""
        before = top_k(scores, _FIRST, self.id_order, rows).rows.tolist()
        score_of = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        first, kept = before.copy(), set[int]()
        for documents in rare:
            if kept & {*documents}:
                continue
            here = [row for row in first if row in documents]
            free = [row for row in first if row not in kept]
            if not here and free:
                here = [max(documents, key=lambda row: (score_of[row], -self.id_order[row]))]
                first = [row for row in first if row != free[-1]] + here
            kept.update(here[:1])
        bar = max((score_of[row] for row in before if row not in first), default=-np.inf)
        above = float(np.nextafter(np.float32(bar), np.float32(np.inf)))
        raised = {row: above for row in first if row in kept and score_of[row] <= bar}
        for row, score in raised.items():
            scores[rows == row] = score
        return raised

    def _rare_words(self, query: str, allowed: Allowed | None) -> list[list[int]]:
        """The documents of each word that stands verbatim in very few: a name, a number, a word without translation.

        Words that have other translations do not count: where these are in a document by chance they say little, and
        raising their documents cost .004 MRR (lohelp de).
        """
        words = [word for word in dict.fromkeys(tokenize(query)) if word not in stop_words(self.query_language)]
        terms = zip(self._query_terms.terms(words), self._document_terms.terms(words), strict=True)
        rare = (self.documents.rows_with(term, _RARE) for of_query, term in terms if self._is_name(of_query, term))
        found = ([row for row in rows if allowed is None or allowed[row]] for rows in rare)
        return [rows for rows in found if rows]

    def _is_name(self, word: str, term: str) -> bool:
        """Whether a word has no translation, or stays as it is."""
        translation = self._ready.translation
        number, own = translation.find_word(word), translation.find_term(term)
        if number is None or not word.isalpha():
            return True
        terms, _, reverse = translation.translations(number)
        return bool(reverse[terms == own].sum() >= _STAYS) if own is not None else False

    def _compute_query_features(self, query: str) -> QueryFeatures:
        words = tokenize(query)
        terms = self._query_terms.terms(words)
        document_term_of = dict(zip(terms, self._document_terms.terms(words), strict=True))
        count_of = self.documents.count_of
        if self.statistics is not None:
            counts = self.statistics
            count_of = lambda term: int(counts.of_terms([term])[0, 0])  # noqa: E731
        statistics = self._ready.translation.query_statistics(Counter(terms), count_of, document_term_of)
        pretrained = self._encoder.encode([query])[0] if self._encoder and words else None
        return QueryFeatures.of(terms, statistics, self._ready.tables, pretrained)

    def _compute_query_table(self, query: str) -> QueryTable:
        collection = self.documents.statistics if self.documents.parts else None
        return QueryTable(self._ready.translation, self.query_features(query).statistics, collection)

    def features(self, query: str, rows: Rows) -> Features:
        """The features of some documents."""
        return self._score(query, rows.astype(np.int64)).features

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        if self._encoder is None:
            return None
        return self._encoder.encode([text[slice(*passage_spans(text, _READ)[0])] for text in texts])


def _sample(training: Dataset, queries: Sequence[str]) -> Collection:
    """The documents that are judged for some queries, and a random sample of the others if they are very many."""
    documents = training.documents
    if len(documents) <= _MOST_DOCUMENTS:
        return documents
    judged = {documents.row_of[id_] for query in queries for id_ in training.judgments[query]}
    others = np.random.default_rng(0).permutation(len(documents))[:_MOST_DOCUMENTS].tolist()
    return Collection((documents[row] for row in sorted(judged.union(others))), documents.language)

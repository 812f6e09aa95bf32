"""``bridge``: the house's own system, made for whole collections and for what a user has at hand.

A noisy channel between the languages (:mod:`isogloss.translation.model`), learned from translated pages and a dictionary,
finds the documents with the likeliest passages; these are looked at closely, in both directions, as passages and as
whole documents, with word vectors that start from the same translations (:mod:`isogloss.systems.bridge.features`); and

    score(q, d) = sum_i w_i x_i(q, d)

with weights fitted on a fifth of the train queries that nothing else has learned from (``bridge_weights``), like the
scores from which on a document is partially relevant, or relevant.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.nn.encoders.pretrained import PretrainedEncoder
from isogloss.retrieval.ranking import Allowed, Ranking, Rows, Scores, top_k
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.systems.base import Contribution, SystemOptions
from isogloss.systems.bridge.characters import CharacterMatches
from isogloss.systems.bridge.documents import Documents, Part, PassageMatches, Vectors
from isogloss.systems.bridge.explaining import explain
from isogloss.systems.bridge.features import EVIDENCE, Features, QueryFeatures, gather, places_among, question_vector
from isogloss.systems.bridge.model import BridgeModel, default_weights, used_features
from isogloss.systems.bridge.options import BridgeOptions
from isogloss.systems.bridge.weights import JudgedList, Values, calibrate, context_of, fit_weights, pays
from isogloss.systems.passages import FindsPassages
from isogloss.systems.trained import Trainable
from isogloss.text.batches import tokenize_texts
from isogloss.text.passages import Span, passage_spans
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.model import QueryStatistics

if TYPE_CHECKING:
    from isogloss.training.distributed import Team
    from isogloss.training.loop import Checkpointer, TrainingResult

_SHOWN = 5
_BLOCK = 1000
_READ = 40  # words of a document that a pretrained encoder reads: what it says first tells most
_KEPT = 64  # questions that are remembered: the hits of each are explained one by one


class Bridge(FindsPassages, Trainable):
    """A noisy channel in both directions, passages, word vectors, and weights that are learned."""

    name = "bridge"
    paper = "isogloss; after Brown et al. 1993, Xue, Jeon and Croft 2008 and the smooth paper's graded thresholds"
    summary = "translations, passages and vectors learned together from pages and a dictionary: the one to use"
    options_type = BridgeOptions
    options: BridgeOptions
    learns = True
    joins = True

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check()
        self._encoder = self._pretrained_encoder()
        self._query_terms = Tokenizer(query_language, self.options.stems)
        self._document_terms = Tokenizer(document_language, self.options.stems)
        self._model: BridgeModel | None = None
        self._use(Documents([]))

    def __copy__(self) -> Bridge:
        """One that can be given other documents."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._use(Documents([]))
        return made

    def train(
        self, training: Dataset, checkpointer: Checkpointer | None = None, team: Team | None = None
    ) -> TrainingResult:
        """Fit the weights with all else learned without a fifth of the train queries; then learn all else from all."""
        started = time.perf_counter()
        from isogloss.systems.hybrid import hold_out
        from isogloss.training.loop import TrainingResult

        rest, held = hold_out(training)
        weights, calibration = default_weights() * used_features(EVIDENCE, self.options), None
        if held and "weights" not in self.options.left_out:
            self._model = self._learned(rest, characters=True)
            self.index(training.documents, ("text",))
            lists, weights = self._weighed(training, held)
            calibration = calibrate([each.values @ weights for each in lists], [each.grades for each in lists])
        learned = self._learned(training, characters=len(weights) > len(EVIDENCE))
        self._model = replace(learned, weights=weights[: len(learned.kinds)], calibration=calibration)
        self._use(Documents([]))
        history = [{"epoch": 1, "seconds": round(time.perf_counter() - started, 1)}]
        if checkpointer is not None:
            checkpointer.resume()  # there is nothing to go on from, but now the run may take its place
            checkpointer.record(history)
        return TrainingResult({}, history)

    def index_texts(self, texts: Sequence[str]) -> None:
        self._take_order(self.id_order, len(texts))
        words, terms = self.options.passages, self._document_terms
        self._use(Documents([Part.build(self._ready.channel, texts, words, terms, self._encoded(texts))]))

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        if allowed is None and k <= self._depth:
            rows, scores, _ = self._found(query)
            return top_k(scores, k, self.id_order, rows)
        rows = self._likely(query, max(k, self._depth), allowed)
        return top_k(self.score(query, rows), k, self.id_order, rows)

    def score(self, query: str, rows: Rows) -> Scores:
        scores = self._evidence(query, rows).values @ self._ready.weights
        return self._ready.shown(scores, self._found(query).context).astype(np.float32)

    def context(self, query: str) -> float:
        """c(q): how well the query does as a whole."""
        return self._found(query).context

    def scores(self, query: str) -> Scores:
        count = len(self._documents)
        blocks = [np.arange(first, min(count, first + _BLOCK)) for first in range(0, count, _BLOCK)]
        return np.concatenate([np.zeros(0, np.float32), *(self.score(query, block) for block in blocks)])

    def passage(self, query: str, row: int) -> Span | None:
        if not self.options.passages:
            return None
        return self._documents.span(row, int(self._evidence(query, np.asarray([row])).passages[0]))

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """Every word of the query with the words that say it; what is no word's own is put down by its name."""
        question = self._question(query)
        evidence = self._evidence(query, np.asarray([row]))
        ((part, rows, _),) = self._documents.split(np.asarray([row]))
        written = dict(zip(self._query_terms.terms(words := tokenize(query)), words, strict=True))
        said = explain(question, part, int(rows[0]), evidence, self._ready, written, self._look, query)
        lines = [line._replace(score=line.score * self._ready.scale) for line in said]
        context = float(self._ready.shown(np.zeros(1), self._found(query).context)[0])
        return [*lines, *([Contribution("(the whole query)", (), context)] if context else [])]

    def best_possible(self, query: str) -> float:
        asked, channel = self._question(query).asked, self._ready.channel
        bound = float((asked.times / max(1.0, asked.length)) @ np.log1p(channel.odds_of(asked)))
        return max(bound * float(self._ready.weights[:2].sum()), 1e-3)

    def unknown_words(self, query: str) -> list[str]:
        asked = self._question(query).asked
        unknown = {
            word
            for place, (word, number) in enumerate(zip(asked.words, asked.numbers.tolist(), strict=True))
            if number == len(self._ready.channel.query_words) and place not in asked.verbatim
        }
        words = tokenize(query)
        return [word for word, term in zip(words, self._query_terms.terms(words), strict=True) if term in unknown]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        channel = self._ready.channel
        found = []
        for word in dict.fromkeys(tokenize(query)):
            number = channel.query_words.find(self._query_terms.terms([word])[0])
            if number is not None:
                terms, said, meant = channel.translations(number)
                order = np.argsort(-said * meant, kind="stable")[:_SHOWN]
                known = [channel.document_words[term] for term in terms[order].tolist() if term != channel.unknown]
                found.append((word, known))
        return [(word, terms) for word, terms in found if terms]

    def term_of(self, word: str) -> str | None:
        return next(iter(self._document_terms.terms([word])), None)

    def thresholds(self) -> tuple[float, ...]:
        return self._ready.thresholds

    def about(self) -> dict[str, Any]:
        """What was learned, and how much each kind of evidence counts."""
        model = self._ready
        weights = zip(model.kinds, model.weights.tolist(), strict=True)
        return {
            "words": [len(model.channel.query_words), len(model.channel.document_words)],
            "translations": len(model.channel.terms),
            "weights": {name: round(weight, 4) for name, weight in weights},
        }

    def save_model(self, directory: Path) -> None:
        self._ready.save(directory)

    def load_model(self, directory: Path) -> None:
        self._model = BridgeModel.load(directory)
        self._use(Documents([]))

    def count_only(self, live: Allowed) -> None:
        self._use(self._documents.counting_only(live))

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        self._documents.merged(self._ready.channel, keep).save(directory)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        self._use(Documents([Part.load(self._ready.channel, directory) for directory in directories]))
        self._take_order(id_order, len(self._documents))
        return self

    def _learned(self, training: Dataset, characters: bool) -> BridgeModel:
        """All but weights; ``characters``: those, too, of documents that are written without spaces."""
        from isogloss.systems.bridge.character_learning import learn_characters
        from isogloss.systems.bridge.learning import learn, page_pairs, read_lexicon

        pairs = page_pairs(training, self.options)
        lexicon = read_lexicon(self.options, self.query_language, self.document_language)
        tokenizers = self._query_terms, self._document_terms
        held = tokenize_texts(training.documents.texts(("text",)), self._document_terms).terms if lexicon else ()
        try:
            channel, tables = learn(pairs, lexicon, tokenizers, held, self.options)
        except InputError as error:
            raise InputError(f"{self.name}: {error}; give it a lexicon: --set lexicon=FILE") from error
        model = BridgeModel(channel, tables, default_weights())
        if not characters or "characters" in self.options.left_out:
            return model
        model = replace(model, characters=learn_characters(pairs, lexicon, tokenizers, held, self.options))
        return replace(model, weights=default_weights(model.kinds))

    def _weighed(self, training: Dataset, held: Sequence[str]) -> tuple[list[JudgedList], Values]:
        """What is found for held queries, and the weights of its evidence; characters are looked at if it pays."""
        lists = [self._judged(training, query) for query in track(held, "weighing the evidence")]
        kinds, top_grade = self._ready.kinds, training.judgments.top_grade
        used, usual = used_features(kinds, self.options), default_weights(kinds)
        more = np.arange(len(kinds)) >= len(EVIDENCE)
        if more.any() and not pays(lists, top_grade, used, usual, more):
            self._model = replace(self._ready, characters=None, weights=usual[~more])
            self._use(self._documents)
            return self._weighed(training, held)
        found = fit_weights(lists, top_grade, used, usual)
        return lists, usual * used if found is None else found

    def _judged(self, training: Dataset, query: str) -> JudgedList:
        """What is found for a train query, without its judgments being known, and how it was judged."""
        text, judgments = training.queries[query].text, training.judgments[query]
        rows = self._likely(text, self._depth)
        grade_of = {training.documents.row_of[id_]: grade for id_, grade in judgments.items()}
        grades = np.fromiter((grade_of.get(row, 0) for row in rows.tolist()), np.int64, len(rows))
        return JudgedList(self._evidence(text, rows).values, grades)

    def _likely(self, query: str, count: int, allowed: Allowed | None = None) -> Rows:
        """The documents to look at closely."""
        best = self._documents.best(self._question(query).asked)
        return top_k(best if allowed is None else np.where(allowed, best, 0), count, self.id_order, above=0.0).rows

    def _find(self, query: str) -> PassageMatches:
        rows = self._likely(query, self._depth, self._documents.live)
        scores = self._evidence(query, rows).values @ self._ready.weights
        context = context_of(scores)
        return PassageMatches(rows, self._ready.shown(scores, context).astype(np.float32), context)

    @property
    def _ready(self) -> BridgeModel:
        if self._model is None:
            raise InputError(f"{self.name}: has to learn before it can search; give it data, or a lexicon")
        return self._model

    def _use(self, documents: Documents) -> None:
        self._documents = documents
        self.comparable = self._model is not None and self._model.calibration is not None
        characters = self._model.characters if self._model is not None else None
        self._look = CharacterMatches(characters, self._query_terms, self._document_terms) if characters else None
        self._depth = self._look.depth(self.options.depth, documents) if self._look else self.options.depth
        self._question = lru_cache(_KEPT)(self._ask)
        self._found = lru_cache(_KEPT)(self._find)

    def _ask(self, query: str) -> QueryFeatures:
        words = tokenize(query)
        terms = self._query_terms.terms(words)
        here = dict(zip(terms, self._document_terms.terms(words), strict=True))
        asked: QueryStatistics = self._ready.channel.query_statistics(Counter(terms), self._documents.has, here)
        pretrained = self._encoder.encode([query])[0] if self._encoder else None
        places = places_among(terms, asked)
        return QueryFeatures(asked, places, question_vector(asked, places, self._ready.tables), pretrained)

    def _evidence(self, query: str, rows: Rows) -> Features:
        numbers = rows.astype(np.int64)
        found = gather(self._question(query), self._documents, numbers, self._ready.tables)
        return self._look.added_to(found, query, self._documents, numbers) if self._look else found

    def _pretrained_encoder(self) -> PretrainedEncoder | None:
        if not self.options.pretrained:
            return None
        encoder = PretrainedEncoder(self.options.pretrained)
        for language in (self.query_language, self.document_language):
            encoder.check(language)
        return encoder

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        if self._encoder is None:
            return None
        return self._encoder.encode([text[slice(*passage_spans(text, _READ)[0])] for text in texts])

"""Two-stage retrieval in some documents with a trained model of ``bridge``; what is computed of a query is cached.

1. ``first_stage`` fetches five to ten times ``depth`` documents by what was computed of their words at indexing, and
   chooses among them by the likelihood of the query given their best passages.
2. ``retrieved`` has the calibrated scores of the chosen ones by all features; ``rest`` are the documents after them, in
   the order of the first stage.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed, Ranking, Rows, Scores, top_k
from isogloss.systems.bridge.characters import CharacterStage
from isogloss.systems.bridge.documents import Documents
from isogloss.systems.bridge.encoder_feature import EncoderFeature
from isogloss.systems.bridge.expansion import SCALE
from isogloss.systems.bridge.explaining import Found, word_scores
from isogloss.systems.bridge.features import Features, QueryFeatures, compute_features, products
from isogloss.systems.bridge.matching import BestPassages, CollectionStatistics, DocumentMatches, QueryTable
from isogloss.systems.bridge.model import DEFAULT_CALIBRATIONS, BridgeModel
from isogloss.systems.bridge.weights import Values, context_of
from isogloss.text.passages import Span
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.model import Numbers

FETCHED = 5, 10
"""Times as many documents as are re-scored, at least and at most."""
_FIRST, _RARE = 3, 3  # a word that stands verbatim in so few documents puts one of them among the first three
_TAIL = 0.22  # of the forward log-likelihood that a query could have: what the hundredth document has (median)
_STAYS = 0.2  # P(w | w) of a word that is not translated
_SHOWN = 128  # hits that are cached: they are explained one by one
_KEPT = 64  # queries that are cached: the hits of each are explained one by one


def fetched(count: int, collection: CollectionStatistics) -> int:
    """How many documents to fetch so that the best ``count`` are among them.

    The score at indexing bounds that of the best passage the more loosely the more passages a document has.
    """
    least, most = FETCHED
    return count * min(most, max(least, math.ceil(1.5 * collection.mean_document / collection.mean_length)))


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


class Retriever:
    """Searches some documents; ``id_order`` orders equal scores. ``contexts`` has z(q) of queries where it is given."""

    def __init__(
        self, model: BridgeModel, documents: Documents, id_order: Numbers, depth: int,
        tokenizers: tuple[Tokenizer, Tokenizer], encoder: EncoderFeature | None = None,
        contexts: Mapping[str, Values] | None = None,
    ) -> None:  # fmt: skip
        self.model, self.documents, self.id_order = model, documents, id_order
        self.contexts = contexts or {}
        self._query_terms, self._document_terms = tokenizers
        self._encoder = encoder
        self.characters = CharacterStage(model.characters, *tokenizers) if model.characters else None
        self.depth = self.characters.depth(depth, documents) if self.characters else depth
        self.query_features = lru_cache(_KEPT)(self._compute_query_features)
        self.query_table = lru_cache(_KEPT)(self._compute_query_table)
        self.retrieved = lru_cache(_KEPT)(self._retrieve)
        self.written = lru_cache(_KEPT)(self._compute_written)
        self.found = lru_cache(_SHOWN)(self._find)
        self._retrieved_word_scores = lru_cache(_KEPT)(
            lambda query: self._word_scores(query, self.retrieved(query).scored)
        )

    def weights_of(self, query: str) -> Values:
        """Those of a query of this length."""
        return self.model.weights.of(self.query_features(query).statistics.length)

    def context(self, query: str, scores: Values) -> Values:
        """The context z(q) of a query; the default calibration takes ``depth`` documents for granted.

        So where fewer are found, the others are taken to be as good as the last ones usually are: a share of what the
        words of the query could give. In a collection of three documents the best is not right just for being best.
        """
        known = self.known_of(query)
        missing = self.depth - len(scores)
        if missing > 0 and self.model.calibration in DEFAULT_CALIBRATIONS.values():
            tail = _TAIL * known[0] * float(self.weights_of(query)[0])
            scores = np.append(scores, np.full(missing, tail))
        return context_of(scores, known)

    def known_of(self, query: str) -> tuple[float, float]:
        """The information of a query, and ln |q|: the last entries of z(q)."""
        statistics = self.query_features(query).statistics
        if not len(statistics.words) or not len(self.documents):
            return 0.0, 0.0
        information = np.log1p(self.documents.statistics.background.of(statistics))
        return float(np.average(information, weights=statistics.times)), float(np.log(statistics.length))

    def first_stage(self, query: str, count: int, allowed: Allowed | None, rare: Sequence[list[int]]) -> Scored:
        """The documents to re-score: the best by translations, by the encoder if there is one, and rare words."""
        features, documents = self.query_features(query), self.documents
        others = [row for of_word in rare for row in of_word]
        if features.pretrained is not None:
            cosines = documents.cosines(features.pretrained)
            others += top_k(
                cosines if allowed is None else np.where(allowed, cosines, 0), count, self.id_order, above=0.0
            ).rows.tolist()
        rows, passages = self._likeliest(query, count, allowed)
        if others:
            added = np.setdiff1d(np.asarray(others, np.int64), rows)
            more = documents.best_passages(self.query_table(query), features.statistics, added)
            rows, passages = np.append(rows, added), np.append(passages, more.numbers)
        return self._score(query, rows, passages, rare)

    def _likeliest(self, query: str, count: int, allowed: Allowed | None) -> tuple[Numbers, Numbers]:
        """The documents with the highest likelihoods of the query, and the number of the best passage of each.

        Those that are fetched are taken from the first on, until the bound of the next is below the likelihoods found.
        """
        statistics, documents, table = self.query_features(query).statistics, self.documents, self.query_table(query)
        wanted = fetched(count, documents.statistics) if len(documents) else count
        rows, bounds = documents.best(statistics, wanted, self.id_order, allowed)
        taken, found = np.zeros(0, np.int64), BestPassages(np.zeros(0), np.zeros(0, np.int64))
        for first in range(0, len(rows), 2 * count):
            if first and bounds[first] / SCALE < found.scores.min():
                break
            here = np.append(taken, rows[first : first + 2 * count].astype(np.int64))
            own = documents.best_passages(table, statistics, here[len(taken) :])
            both = BestPassages(*(np.append(one, other) for one, other in zip(found, own, strict=True)))
            best = top_k(both.scores, count, self.id_order[here]).rows
            taken, found = here[best], BestPassages(both.scores[best], both.numbers[best])
        return taken, found.numbers

    def _score(
        self, query: str, rows: NDArray[np.int64], best: NDArray[np.int64] | None = None,
        rare: Sequence[list[int]] = (),
    ) -> Scored:  # fmt: skip
        """The features of some documents, whose best passages may be known."""
        features, table, documents = self.query_features(query), self.query_table(query), self.documents
        if best is None:
            best = documents.best_passages(table, features.statistics, rows).numbers
        matches = documents.match(table, features.statistics, rows, best)
        found = compute_features(features, table, documents, rows, matches, self.model.tables)
        if self.characters:
            found = self.characters.extend(found, query, documents, rows)
        return Scored(rows, matches, found, rare)

    def _retrieve(self, query: str) -> Retrieved:
        scored = self._candidates(query, self.documents.live)
        context = self.context(query, products(scored.features.values, self.weights_of(query)))
        context = self.contexts.get(query, context)
        scores = self.calibrated(query, scored.features, context)
        return Retrieved(scored, scores, context, self._raise(scored.rows, scores, scored.rare))

    def retrieve_among(self, query: str, allowed: Allowed) -> Retrieved:
        """Some of the documents, with the scores that they have among all."""
        found, scored = self.retrieved(query), self._candidates(query, allowed)
        scores = self.calibrated(query, scored.features, found.context)
        for position, row in enumerate(scored.rows.tolist()):
            scores[position] = found.placed.get(row, scores[position])
        return Retrieved(scored, scores, found.context, found.placed | self._raise(scored.rows, scores, scored.rare))

    def _candidates(self, query: str, allowed: Allowed | None) -> Scored:
        return self.first_stage(query, self.depth, allowed, self.rare_words(query, allowed))

    def rest(self, query: str, k: int, allowed: Allowed | None, found: Retrieved) -> Ranking:
        """The documents after those re-scored, in the order of the first stage; their scores continue the others'."""
        rows, scores = self.documents.best(
            self.query_features(query).statistics, k + self.depth, self.id_order, allowed
        )
        others = ~np.isin(rows, found.scored.rows)
        rows, scores = rows[others][: k - len(found.scores)], scores[others][: k - len(found.scores)]
        if not len(rows):
            return Ranking(rows, scores.astype(np.float32))
        lowest = np.nextafter(found.scores.min(initial=0.0), np.float32(-np.inf))
        scale = self.model.scale * max(1e-6, float(self.weights_of(query)[0])) / SCALE
        return Ranking(rows, float(lowest) - scale * (int(scores[0]) - scores.astype(np.float64)))

    def calibrated(self, query: str, features: Features, context: Values) -> Scores:
        scores = products(features.values, self.weights_of(query))
        return self.model.calibrated(scores, context).astype(np.float32)

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

    def rare_words(self, query: str, allowed: Allowed | None) -> list[list[int]]:
        """The documents of each word that stands verbatim in very few: a name, a number, a word without translation.

        Words that have other translations do not count: where these are in a document by chance they say little, and
        raising their documents cost .004 MRR (lohelp de).
        """
        words = [word for word in dict.fromkeys(tokenize(query)) if word not in stop_words(self._query_terms.language)]
        terms = zip(self._query_terms.terms(words), self._document_terms.terms(words), strict=True)
        rare = (self.documents.rows_with(term, _RARE) for of_query, term in terms if self.is_name(of_query, term))
        found = ([row for row in rows if allowed is None or allowed[row]] for rows in rare)
        return [rows for rows in found if rows]

    def is_name(self, word: str, term: str) -> bool:
        """Whether a word has no translation, or stays as it is."""
        translation = self.model.translation
        number, own = translation.find_word(word), translation.find_term(term)
        if number is None or not word.isalpha():
            return True
        terms, _, reverse = translation.translations(number)
        return bool(reverse[terms == own].sum() >= _STAYS) if own is not None else False

    def _compute_written(self, query: str) -> dict[str, str]:
        """The terms of a query as they are written in it."""
        words = tokenize(query)
        return dict(zip(self._query_terms.terms(words), words, strict=True))

    def _find(self, query: str, row: int) -> Found:
        """A document with what each word adds to its score; what a search has computed of it is not computed again."""
        scored, position = self._scored(query, row)
        is_retrieved = scored is self.retrieved(query).scored
        scores = self._retrieved_word_scores(query) if is_retrieved else self._word_scores(query, scored)
        ((part, rows, _),) = self.documents.split(np.asarray([row]))
        here = slice(position, position + 1)
        return Found(
            part, int(rows[0]), scored.features.passages[here], scored.features.values[position], scores[position]
        )

    def _scored(self, query: str, row: int) -> tuple[Scored, int]:
        """The features of a document, and where it is among those that have been computed with it."""
        retrieved = self.retrieved(query)
        position = retrieved.position_of(row)
        return (self._score(query, np.asarray([row])), 0) if position is None else (retrieved.scored, position)

    def passage(self, query: str, row: int) -> Span:
        """Where the best passage of a document begins and ends in its text."""
        scored, position = self._scored(query, row)
        ((part, rows, _),) = self.documents.split(np.asarray([row]))
        return part.span(int(rows[0]), int(scored.features.passages[position]))

    def _word_scores(self, query: str, scored: Scored) -> Values:
        features, table = self.query_features(query), self.query_table(query)
        return word_scores(features, table, self.model, scored.matches, scored.features)

    def _compute_query_features(self, query: str) -> QueryFeatures:
        words = tokenize(query)
        terms = self._query_terms.terms(words)
        document_term_of = dict(zip(terms, self._document_terms.terms(words), strict=True))
        statistics = self.model.translation.query_statistics(Counter(terms), self.documents.count_of, document_term_of)
        pretrained = self._encoder.encode_query(query) if self._encoder and words else None
        return QueryFeatures.of(terms, statistics, self.model.tables, pretrained)

    def _compute_query_table(self, query: str) -> QueryTable:
        collection = self.documents.statistics if self.documents.parts else None
        return QueryTable(self.model.translation, self.query_features(query).statistics, collection)

    def features(self, query: str, rows: Rows) -> Features:
        """The features of some documents."""
        return self._score(query, rows.astype(np.int64)).features

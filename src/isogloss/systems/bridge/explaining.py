"""What each word of a query contributes to a score of ``bridge``; the contributions add up to the score.

- *forward* is a sum over the words of the query, so each word has its summand.
- *reverse* is a sum over the terms t of the document. Query word w has the share P(t | w) n(w, q) / sum_w' P(t | w')
  n(w', q) of each summand.
- The cosine is linear in the vectors of the query's words; the vector of a phrase counts half for each of its words.
- The lengths and the pretrained encoder belong to no word, and have a line of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from isogloss.systems.base import Contribution
from isogloss.systems.bridge.characters import CharacterStage
from isogloss.systems.bridge.documents import Part
from isogloss.systems.bridge.features import FEATURES, Features, QueryFeatures, Tables, Values, query_word_vectors
from isogloss.systems.bridge.matching import CollectionStatistics, QueryTable
from isogloss.systems.bridge.model import BridgeModel
from isogloss.text.ids import TextIds
from isogloss.translation.model import Numbers

Columns = NDArray[np.int32]
"""The columns of a query's table that the words of a text have."""
_SHOWN = 3
_NO_WORDS = {"passage length": "(length)", "document length": "(length)", "pretrained": "(pretrained)"}


def explain(
    query: QueryFeatures, part: Part, row: int, features: Features, model: BridgeModel, written: Mapping[str, str],
    characters: CharacterStage | None, text: str, collection: CollectionStatistics,
) -> list[Contribution]:  # fmt: skip
    """One line a word of the query ``text``, the best first; ``written`` has the spelling of each term."""
    statistics, values = query.statistics, features.values[0]
    weight = dict(zip(model.features, model.weights.of(statistics.length).tolist(), strict=True))
    passages = part.passages_of(np.asarray([row])).numbers
    best = passages[features.passages[:1]]
    table = QueryTable(part.index.translation, statistics, collection)
    scores = np.zeros(len(statistics.words))
    matching = np.zeros((len(statistics.words), table.forward.shape[1]))
    means = table.mean_length, table.mean_document
    for texts, which, mean in zip((best, passages), ("passage", "document"), means, strict=True):
        words = table.columns[part.index.words_of(texts, statistics)[0]]
        scores += weight[f"{which} forward"] * _forward(table, words)
        scores += weight[f"{which} reverse"] * _reverse(table, words)
        frequencies = table.both[:, words].sum(axis=1, keepdims=True)
        scores += weight[f"{which} bm25"] * table.bm25(frequencies, np.full(1, len(words), np.float32), mean)[:, 0]
        matching += table.forward * np.bincount(words, minlength=table.forward.shape[1])
    numbers, starts = part.index.words_of(best)
    if model.tables.trained:
        scores += weight["vectors"] * _cosine(query, model.tables, TextIds(numbers.astype(np.int32), starts))
    if characters is not None:
        scores += _of_characters(characters, text, characters.passages_of(part.index, best), weight)
    unknown = set(np.flatnonzero(statistics.numbers == len(part.index.translation.query_words)).tolist())
    unknown -= set(statistics.verbatim)
    lines = [
        Contribution(
            written.get(word, word),
            () if position in unknown else _names(part, table.terms, matching[position, 1:], query),
            float(scores[position]),
        )
        for position, word in enumerate(statistics.words)
    ]
    rest: dict[str, float] = {}
    for name, shown in _NO_WORDS.items():
        rest[shown] = rest.get(shown, 0.0) + weight[name] * float(values[FEATURES.index(name)])
    lines += [Contribution(name, (), value) for name, value in rest.items() if value]
    return sorted((line for line in lines if line.score), key=lambda line: -line.score)


def _forward(table: QueryTable, words: Columns) -> Values:
    """The summands of forward(q, d), by word of the query."""
    gains: Values = np.log1p(table.odds * table.forward[:, words].sum(axis=1) / max(1, len(words)))
    return gains * table.each


def _reverse(table: QueryTable, words: Columns) -> Values:
    """reverse(q, d) / |d|, shared among the words of the query."""
    gains = np.log1p(table.document_odds[words] * table.reverse[words]) / max(1, len(words))
    whole = table.reverse[words]
    shares: Values = (table.shares[:, words] / np.where(whole > 0, whole, 1)) @ gains
    return shares


def _cosine(query: QueryFeatures, tables: Tables, text: TextIds) -> Values:
    """The cosine, shared among the words of the query."""
    vector = tables.of_documents(text)[0]
    rows = query_word_vectors(query.statistics, query.positions, tables)
    length = float(np.linalg.norm(rows.sum(axis=0)))
    shares: Values = (rows @ vector) / length if length else np.zeros(len(rows))
    return shares


def _of_characters(stage: CharacterStage, query: str, text: TextIds, weight: Mapping[str, float]) -> Values:
    """The features of a passage's characters, weighted, by word of the query."""
    model, features = stage.model, stage.query_features(query)
    scores = weight["character vectors"] * _cosine(features, model.tables, text)
    bigrams = model.tables.document_phrases.added_to(text)
    for name, translation, units in (("character", model.translation, text), ("bigram", model.bigrams, bigrams)):
        table = QueryTable(translation, features.statistics)
        words = table.columns[units.ids]
        scores = scores + weight[f"{name} forward"] * _forward(table, words)
        scores = scores + weight[f"{name} reverse"] * _reverse(table, words)
    return scores


def _names(part: Part, terms: Numbers, matching: Values, query: QueryFeatures) -> tuple[str, ...]:
    """The document's terms that match a query word most, without *unknown*, which means many words."""
    translation, verbatim = part.index.translation, query.statistics.verbatim_terms
    best = np.argsort(-matching, kind="stable")[:_SHOWN]
    numbers = [int(terms[column]) for column in best if matching[column] > 0 and terms[column] != translation.unknown]
    return tuple(
        translation.document_words[number]
        if number < translation.unknown
        else verbatim[number - translation.unknown - 1]
        for number in numbers
    )

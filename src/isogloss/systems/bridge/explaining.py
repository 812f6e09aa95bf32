"""What each word of a query contributes to a score of ``bridge``; the contributions add up to the score.

- *forward* is a sum over the words of the query, so each word has its summand.
- *reverse* is a sum over the terms t of the document. Query word w has the share P(t | w) n(w, q) / sum_w' P(t | w')
  n(w', q) of each summand.
- The cosine is linear in the vectors of the query's words; the vector of a phrase counts half for each of its words.
- The lengths and the pretrained encoder belong to no word, and have a line of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from isogloss.systems.base import Contribution
from isogloss.systems.bridge.characters import CharacterStage
from isogloss.systems.bridge.documents import Part
from isogloss.systems.bridge.features import (
    FEATURES,
    Features,
    QueryFeatures,
    Tables,
    Values,
    forward_parts,
    query_word_vectors,
)
from isogloss.systems.bridge.matching import DocumentMatches, QueryTable, match
from isogloss.systems.bridge.model import BridgeModel
from isogloss.text.ids import TextIds
from isogloss.translation.model import Floats, Numbers, QueryStatistics

_SHOWN = 3
_NO_WORDS = {"passage length": "(length)", "document length": "(length)", "pretrained": "(pretrained)"}


def word_scores(
    query: QueryFeatures, table: QueryTable, model: BridgeModel, matches: DocumentMatches, features: Features
) -> Values:
    """What each word of a query (a column) adds to the score of each of some documents (a row), without characters."""
    weight = dict(zip(model.features, model.weights.of(query.statistics.length).tolist(), strict=True))
    lengths = np.maximum(1, matches.lengths)
    scores: Values = (
        weight["passage forward"] * forward_parts(table, matches.passage_counts, matches.lengths[:, 0])
        + weight["document forward"] * forward_parts(table, matches.counts, matches.lengths[:, 1])
        + weight["passage reverse"] * matches.passage_reverse / lengths[:, :1]
        + weight["document reverse"] * matches.reverse / lengths[:, 1:]
        + weight["passage bm25"] * table.bm25(matches.passage_frequencies, matches.lengths[:, 0], table.mean_length)
        + weight["document bm25"] * table.bm25(matches.frequencies, matches.lengths[:, 1], table.mean_document)
    )
    if features.vectors is not None:
        scores = scores + weight["vectors"] * _cosines(query, model.tables, features.vectors)
    return scores


class Found(NamedTuple):
    """A document to explain: its part and row there, its best passage, its features, what each word adds to them."""

    part: Part
    row: int
    passage: Numbers
    values: Values
    word_scores: Values


def explain(
    query: QueryFeatures, table: QueryTable, found: Found, model: BridgeModel, written: Mapping[str, str],
    characters: CharacterStage | None, text: str,
) -> list[Contribution]:  # fmt: skip
    """One line a word of the query ``text``, the best first; ``written`` has the spelling of each term."""
    statistics, scores = query.statistics, found.word_scores
    weight = dict(zip(model.features, model.weights.of(statistics.length).tolist(), strict=True))
    if characters is not None:
        of_passage = characters.passages_of(found.part, np.asarray([found.row]), found.passage)
        scores = scores + _of_characters(characters, text, of_passage, weight)
    names = _names(found.part, found.row, table, statistics)
    lines = [
        Contribution(written.get(word, word), names.get(position, ()), score)
        for position, (word, score) in enumerate(zip(statistics.words, scores.tolist(), strict=True))
    ]
    rest: dict[str, float] = {}
    for name, shown in _NO_WORDS.items():
        rest[shown] = rest.get(shown, 0.0) + weight[name] * float(found.values[FEATURES.index(name)])
    lines += [Contribution(name, (), value) for name, value in rest.items() if value]
    return sorted((line for line in lines if line.score), key=lambda line: -line.score)


def _cosines(query: QueryFeatures, tables: Tables, vectors: Floats) -> Values:
    """The cosine of each of some vectors, shared among the words of the query."""
    rows = query_word_vectors(query.statistics, query.positions, tables)
    length = float(np.linalg.norm(rows.sum(axis=0)))
    if not length:
        return np.zeros((len(vectors), len(rows)))
    shares: Values = (vectors @ rows.T).astype(np.float64) / length
    return shares


def _of_characters(stage: CharacterStage, query: str, text: TextIds, weight: Mapping[str, float]) -> Values:
    """The features of a passage's characters, weighted, by word of the query."""
    model, features = stage.model, stage.query_features(query)
    bigrams = model.tables.document_phrases.added_to(text)
    scores: Values = weight["character vectors"] * _cosines(features, model.tables, model.tables.of_documents(text))[0]
    for name, translation, units in (("character", model.translation, text), ("bigram", model.bigrams, bigrams)):
        table = QueryTable(translation, features.statistics)
        found = match(table, units.ids.astype(np.int64), units.offsets)
        scores = scores + weight[f"{name} forward"] * found.forward[0]
        scores = scores + weight[f"{name} reverse"] * found.reverse[0] / max(1.0, float(found.lengths[0]))
    return scores


def _names(part: Part, row: int, table: QueryTable, query: QueryStatistics) -> dict[int, tuple[str, ...]]:
    """The document's terms that match each query word most, without *unknown*, which means many words.

    A word that is unknown itself matches no term but the same.
    """
    tokens, own_terms = part.tokens, query.verbatim_terms
    terms = tokens.ids[int(tokens.offsets[row]) : int(tokens.offsets[row + 1])]
    numbers = np.minimum(terms, tokens.unknown)
    for number, own in enumerate(part.verbatim(query).tolist(), table.unknown + 1):
        numbers[terms == own] = number
    matching: dict[int, dict[int, float]] = {}
    for number, times in Counter(numbers[(table.columns[numbers] > 0) & (numbers != table.unknown)].tolist()).items():
        for word, probability in table.pairs_of(int(table.columns[number])):
            matching.setdefault(word, {})[number] = times * probability
    unknown = part.translation.unknown_word
    return {
        word: tuple(
            part.term(number) if number < table.unknown else own_terms[number - table.unknown - 1]
            for number in sorted((n for n in found if found[n] > 0), key=lambda n: (-found[n], n))[:_SHOWN]
        )
        for word, found in matching.items()
        if query.numbers[word] != unknown or word in query.verbatim
    }

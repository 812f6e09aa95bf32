"""What each word of a query contributes to a score of ``bridge``; the contributions add up to the score.

- *forward* is a sum over the words of the query, so each word has its summand.
- *reverse* is a sum over the terms t of the document. Query word w has the share P(t | w) n(w, q) / sum_w' P(t | w')
  n(w', q) of each summand.
- The cosine is linear in the vectors of the query's words; the vector of a phrase counts half for each of its words.
- The lengths and the pretrained encoder belong to no word, and have a line of their own.
"""

from __future__ import annotations

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
from isogloss.translation.model import QueryStatistics

_SHOWN = 3
_NO_WORDS = {"passage length": "(length)", "document length": "(length)", "pretrained": "(pretrained)"}


class Found(NamedTuple):
    """A document to explain: its part and row there, its match statistics and its features."""

    part: Part
    row: int
    matches: DocumentMatches
    features: Features


def explain(
    query: QueryFeatures, table: QueryTable, found: Found, model: BridgeModel, written: Mapping[str, str],
    characters: CharacterStage | None, text: str,
) -> list[Contribution]:  # fmt: skip
    """One line a word of the query ``text``, the best first; ``written`` has the spelling of each term."""
    statistics, matches, values = query.statistics, found.matches, found.features.values[0]
    weight = dict(zip(model.features, model.weights.of(statistics.length).tolist(), strict=True))
    passage, whole = np.maximum(1, matches.lengths[0])
    bm25 = (
        table.bm25(matches.passage_frequencies, matches.lengths[:, 0], table.mean_length),
        table.bm25(matches.frequencies, matches.lengths[:, 1], table.mean_document),
    )
    scores = (
        weight["passage forward"] * forward_parts(table, matches.passage_counts, matches.lengths[:, 0])[0]
        + weight["document forward"] * forward_parts(table, matches.counts, matches.lengths[:, 1])[0]
        + weight["passage reverse"] * matches.passage_reverse[0] / passage
        + weight["document reverse"] * matches.reverse[0] / whole
        + weight["passage bm25"] * bm25[0][0]
        + weight["document bm25"] * bm25[1][0]
    )
    if model.tables.trained:
        passage_words = found.part.words_of(np.asarray([found.row]), matches.best)
        scores += weight["vectors"] * _cosine(query, model.tables, passage_words)
    if characters is not None:
        of_passage = characters.passages_of(found.part, np.asarray([found.row]), matches.best)
        scores += _of_characters(characters, text, of_passage, weight)
    unknown = set(np.flatnonzero(statistics.numbers == found.part.translation.unknown_word).tolist())
    names = _names(found.part, found.row, table, statistics)
    lines = [
        Contribution(
            written.get(word, word),
            () if position in unknown and position not in statistics.verbatim else names.get(position, ()),
            float(scores[position]),
        )
        for position, word in enumerate(statistics.words)
    ]
    rest: dict[str, float] = {}
    for name, shown in _NO_WORDS.items():
        rest[shown] = rest.get(shown, 0.0) + weight[name] * float(values[FEATURES.index(name)])
    lines += [Contribution(name, (), value) for name, value in rest.items() if value]
    return sorted((line for line in lines if line.score), key=lambda line: -line.score)


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
        found = match(table, units.ids.astype(np.int64), units.offsets)
        scores = scores + weight[f"{name} forward"] * found.forward[0]
        scores = scores + weight[f"{name} reverse"] * found.reverse[0] / max(1.0, float(found.lengths[0]))
    return scores


def _names(part: Part, row: int, table: QueryTable, query: QueryStatistics) -> dict[int, tuple[str, ...]]:
    """The document's terms that match each query word most, without *unknown*, which means many words."""
    tokens, own_terms = part.tokens, query.verbatim_terms
    terms = tokens.ids[int(tokens.offsets[row]) : int(tokens.offsets[row + 1])]
    numbers = np.minimum(terms, tokens.unknown).astype(np.int64)
    for number, own in enumerate(part.verbatim(query).tolist(), table.unknown + 1):
        numbers[terms == own] = number
    starts, words, forward, _, _ = table.by_column
    matching: dict[int, dict[int, float]] = {}
    for number in numbers[table.columns[numbers] > 0].tolist():
        column = int(table.columns[number])
        for pair in range(int(starts[column]), int(starts[column + 1])) if number != table.unknown else ():
            of_word = matching.setdefault(int(words[pair]), {})
            of_word[number] = of_word.get(number, 0.0) + float(forward[pair])
    return {
        word: tuple(
            part.translation.document_words[number] if number < table.unknown else own_terms[number - table.unknown - 1]
            for number in sorted((n for n in found if found[n] > 0), key=lambda n: (-found[n], n))[:_SHOWN]
        )
        for word, found in matching.items()
    }

"""What made a score of ``bridge``, in pairs of words that add up to it.

*said* is a sum over the words of the query: each is put down to its word, beside the words of the document that say it.
*meant* is a sum over the words t of the document; of each, a query word w gets the share P(t | w) n(w, q) / sum_w' …
The cosine of the vectors is linear in the query's word vectors; those of phrases go to both words alike. Lengths, and
the pretrained encoder, have no word.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from isogloss.systems.base import Contribution
from isogloss.systems.bridge.characters import CharacterMatches, CharacterQuery
from isogloss.systems.bridge.documents import Part
from isogloss.systems.bridge.features import EVIDENCE, Features, QueryFeatures, Tables, question_rows
from isogloss.systems.bridge.model import BridgeModel
from isogloss.systems.bridge.texts import QueryTable
from isogloss.text.ids import TextIds
from isogloss.translation.model import Numbers, QueryStatistics

_SHOWN = 3
_NO_WORDS = {"passage length": "(length)", "document length": "(length)", "pretrained": "(pretrained)"}
Values = NDArray[np.float64]


def explain(
    question: QueryFeatures, part: Part, row: int, evidence: Features, model: BridgeModel, written: Mapping[str, str],
    look: CharacterMatches | None, query: str,
) -> list[Contribution]:  # fmt: skip
    """One line a word of the query, the best first; ``written`` is how the query writes its terms."""
    asked, values = question.asked, evidence.values[0]
    weight = dict(zip(model.kinds, model.weights.tolist(), strict=True))
    passages = part.passages_of(np.asarray([row])).numbers
    best = passages[evidence.passages[:1]]
    table = QueryTable(part.texts.channel, asked)
    scores = np.zeros(len(asked.words))
    saying = np.zeros((len(asked.words), table.said.shape[1]))
    for texts, which in ((best, "passage"), (passages, "document")):
        words, _ = part.texts.words_of(texts, asked)
        scores += weight[f"{which} said"] * _said(table, words, asked)
        scores += weight[f"{which} meant"] * _meant(table, words)
        saying += table.said * np.bincount(words, minlength=table.said.shape[1])
    scores += weight["vectors"] * _by_vector(asked, question.places, model.tables, _read(part, int(best[0])))
    if look is not None:
        scores += _by_characters(look, look.question(query), look.texts_of(part.texts, best), weight)
    unknown = set(np.flatnonzero(asked.numbers == len(part.texts.channel.query_words)).tolist()) - set(asked.verbatim)
    lines = [
        Contribution(
            written.get(word, word),
            () if place in unknown else _names(part, saying[place], question),
            float(scores[place]),
        )
        for place, word in enumerate(asked.words)
    ]
    rest: dict[str, float] = {}
    for name, shown in _NO_WORDS.items():
        rest[shown] = rest.get(shown, 0.0) + weight[name] * float(values[EVIDENCE.index(name)])
    lines += [Contribution(name, (), value) for name, value in rest.items() if value]
    return sorted((line for line in lines if line.score), key=lambda line: -line.score)


def _meant(table: QueryTable, words: NDArray[np.int64]) -> Values:
    """*meant*, shared out among the words of the query."""
    gains = np.log1p(table.document_odds[words] * table.meant[words]) / max(1, len(words))
    whole = table.meant[words]
    shares: Values = (table.shares[:, words] / np.where(whole > 0, whole, 1)) @ gains
    return shares


def _by_vector(asked: QueryStatistics, places: Numbers, tables: Tables, text: TextIds) -> Values:
    """The cosine, shared out among the words of the query."""
    vector = tables.of_documents(text)[0]
    rows = question_rows(asked, places, tables)
    length = float(np.linalg.norm(rows.sum(axis=0)))
    shares: Values = (rows @ vector) / length if length else np.zeros(len(rows))
    return shares


def _by_characters(
    look: CharacterMatches, question: CharacterQuery, text: TextIds, weight: Mapping[str, float]
) -> Values:  # fmt: skip
    """What the characters of a passage give, by word of the query."""
    characters, asked = look.characters, question.asked
    scores = weight["character vectors"] * _by_vector(asked, question.places, characters.tables, text)
    pairs = characters.tables.document_phrases.added_to(text)
    for name, channel, read in (("characters", characters.channel, text), ("pairs", characters.pairs, pairs)):
        table, units = QueryTable(channel, asked), read.ids.astype(np.int64)
        scores = scores + weight[f"{name} said"] * _said(table, units, asked)
        scores = scores + weight[f"{name} meant"] * _meant(table, units)
    return scores


def _said(table: QueryTable, words: Numbers, asked: QueryStatistics) -> Values:
    """*said*, by word of the query."""
    said: Values = np.log1p(table.odds * table.said[:, words].sum(axis=1) / max(1, len(words)))
    return said * asked.times / max(1.0, asked.length)


def _read(part: Part, passage: int) -> TextIds:
    """A passage in the words of the channel."""
    words, starts = part.texts.words_of(np.asarray([passage]))
    return TextIds(words.astype(np.int32), starts)


def _names(part: Part, saying: Values, question: QueryFeatures) -> tuple[str, ...]:
    """The words of the document that say a word most; none for an unknown word, which is one of many alike."""
    channel, own = part.texts.channel, question.asked.verbatim_terms
    best = np.argsort(-saying, kind="stable")[:_SHOWN]
    numbers = [int(number) for number in best if saying[number] > 0 and number != channel.unknown]
    return tuple(
        channel.document_words[number] if number < channel.unknown else own[number - channel.unknown - 1]
        for number in numbers
    )

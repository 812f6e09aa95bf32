"""Documents without spaces between words, looked at by their characters: a second opinion for ``bridge``.

How such a text is cut into words is a guess, and the words of a rare expression are unknown where its characters are
not. So what is learned of words is learned of characters, too:

    characters said     said(q, p)   p in characters, the best passage of a document by its words
    characters meant    said(p, q)
    pairs said, pairs meant          the same of characters and of pairs that stand side by side
    character vectors   the cosine of the vectors of q and p, sums of those of words, characters and pairs of these

The words of a query are what they are; words of a document in a script with spaces are taken whole. An index holds the
words of its documents, and these their characters: nothing more is indexed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.nn.encoders.unit_sums import encode
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.strings import StringTable
from isogloss.systems.bridge.documents import Documents
from isogloss.systems.bridge.features import Features, Phrases, Tables, Values, places_among, question_vector
from isogloss.systems.bridge.texts import IndexedTexts, hear
from isogloss.text.batches import tokenize_texts
from isogloss.text.ids import TextIds
from isogloss.text.normalization import UNSPACED
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.model import ARRAYS, Floats, Numbers, QueryStatistics, TranslationModel

KINDS = ("characters said", "characters meant", "pairs said", "pairs meant", "character vectors")
_FILE = "characters.safetensors"


@dataclass(frozen=True)
class CharacterQuery:
    """A query as documents are asked for it by characters; ``places``: of each of its words among the distinct ones."""

    asked: QueryStatistics
    places: Numbers
    vector: Floats


@dataclass(frozen=True)
class Characters:
    """What was learned: translations into characters, into characters and ``pairs`` of them, and vectors.

    The three number characters alike, *unknown* after the last; pairs follow as the phrases of the vectors do.
    """

    channel: TranslationModel
    pairs: TranslationModel
    tables: Tables
    kinds = len(KINDS)

    def ask(self, terms: Sequence[str]) -> CharacterQuery:
        """The words of a query; none stands for itself, what documents have as it stands is seen by their words."""
        asked = self.channel.query_statistics(Counter(terms), lambda term: False, {})
        places = places_among(terms, asked)
        return CharacterQuery(asked, places, question_vector(asked, places, self.tables))

    def look(self, question: CharacterQuery, texts: TextIds) -> Values:
        """One row a text of characters, one column a kind of evidence."""
        with_pairs = self.tables.document_phrases.added_to(texts)
        columns = []
        for channel, read in ((self.channel, texts), (self.pairs, with_pairs)):
            heard = hear(channel, question.asked, read.ids.astype(np.int64), read.offsets)
            columns += [heard.said.sum(axis=1), heard.meant / np.maximum(1, heard.lengths)]
        columns.append(encode(self.tables.document, with_pairs) @ question.vector)
        return np.stack(columns, axis=1).astype(np.float64)

    def save(self, directory: Path) -> None:
        """Write it into an existing directory."""
        tables, words = self.tables, self.channel.query_words
        tensors: dict[str, NDArray[Any]] = {"query": tables.query, "document": tables.document}
        tensors |= {"words": words.data, "word_offsets": words.offsets}
        tensors |= {"query_phrases": tables.query_phrases.keys, "document_phrases": tables.document_phrases.keys}
        for name, channel in (("channel", self.channel), ("pairs", self.pairs)):
            tensors |= {f"{name}.{array}": values for array, values in channel.arrays().items()}
        characters = self.channel.document_words
        tensors |= {"characters": characters.data, "character_offsets": characters.offsets}
        write_tensors(directory / _FILE, tensors)

    @classmethod
    def load(cls, directory: Path) -> Characters | None:
        """Read what ``save`` wrote, if it did."""
        if not (directory / _FILE).exists():
            return None
        tensors, _ = read_tensors(directory / _FILE)
        words = StringTable(tensors["words"], tensors["word_offsets"])
        characters = StringTable(tensors["characters"], tensors["character_offsets"])
        phrases = [
            Phrases(len(tensors[side]) - len(tensors[f"{side}_phrases"]), tensors[f"{side}_phrases"])
            for side in ("query", "document")
        ]
        channel, pairs = (
            TranslationModel(words, names, *(tensors[f"{name}.{array}"] for array in ARRAYS))
            for name, names in (("channel", characters), ("pairs", with_pairs(characters, phrases[1])))
        )
        return cls(channel, pairs, Tables(tensors["query"], tensors["document"], *phrases))


def spaced(text: str) -> str:
    """With spaces around every character of a script without.

    >>> spaced("CSS属性").split()
    ['CSS', '属', '性']
    """
    return UNSPACED.sub(r" \g<0> ", text)


def with_pairs(characters: StringTable, phrases: Phrases) -> StringTable:
    """The names of characters, of *unknown* and of pairs."""
    names = [*characters, ""]
    return StringTable.of(names + [names[key // phrases.words] + names[key % phrases.words] for key in phrases.keys])


# Indexed documents looked at by characters, which are those of their words: nothing more is kept of them.

_KEPT = 64  # questions that are remembered
_PASSAGES = 3  # to look at, for every document that would be looked at without characters


class CharacterTexts:
    """Texts in the numbers of the characters of their words."""

    def __init__(self, characters: Characters, texts: IndexedTexts, tokenizer: Tokenizer) -> None:
        spelt = tokenize_texts([spaced(term) for term in texts.postings.terms], tokenizer)
        channel = characters.channel
        number_of = {character: number for number, character in enumerate(channel.document_words)}
        numbers = np.fromiter((number_of.get(term, channel.unknown) for term in spelt.terms), np.int32)
        self._spelling = TextIds(numbers[spelt.ids] if len(numbers) else spelt.ids, spelt.offsets)
        self._texts = TextIds(texts.tokens, texts.offsets)

    def of(self, numbers: Numbers) -> TextIds:
        """Some of the texts."""
        tokens = self._texts.words_of(numbers)
        ends = np.append(0, np.cumsum(self._spelling.lengths[tokens]))
        offsets = np.append(0, np.cumsum(self._texts.offsets[numbers + 1] - self._texts.offsets[numbers]))
        return TextIds(self._spelling.words_of(tokens), ends[offsets])


class CharacterMatches:
    """A look at documents by characters; what it needs of a query, or of a part of the index, is made once."""

    def __init__(self, characters: Characters, queries: Tokenizer, documents: Tokenizer) -> None:
        self.characters, self._queries, self._documents = characters, queries, documents
        self.question = lru_cache(_KEPT)(self._question)
        self._texts = lru_cache(None)(self._made_texts)

    def added_to(self, found: Features, query: str, documents: Documents, rows: Numbers) -> Features:
        """The evidence of some documents and, in further columns, that of the characters of their best passages."""
        values = np.zeros((len(rows), found.values.shape[1] + self.characters.kinds))
        values[:, : found.values.shape[1]] = found.values
        for part, part_rows, which in documents.split(rows):
            numbers, starts = part.passages_of(part_rows)
            texts = self.texts_of(part.texts, numbers[starts[:-1] + found.passages[which]])
            values[which, found.values.shape[1] :] = self.characters.look(self.question(query), texts)
        return replace(found, values=values)

    def depth(self, depth: int, documents: Documents) -> int:
        """How many documents to look at: where they are short more, as many as have so many passages.

        What characters tell is not seen by the words that find documents.
        """
        passages = documents.passages
        return max(depth, int(_PASSAGES * depth * len(passages) / max(1, int(passages.sum()))))

    def texts_of(self, texts: IndexedTexts, numbers: Numbers) -> TextIds:
        """Passages of a part of the index in characters."""
        return self._texts(texts).of(numbers)

    def _question(self, query: str) -> CharacterQuery:
        return self.characters.ask(self._queries(query))

    def _made_texts(self, texts: IndexedTexts) -> CharacterTexts:
        return CharacterTexts(self.characters, texts, self._documents)

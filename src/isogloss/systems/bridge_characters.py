r"""Documents without spaces between words, looked at by their characters: a second opinion for ``bridge``.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.base.strings import StringTable
from isogloss.base.tensors import read_tensors, write_tensors
from isogloss.lexical.channel import Asked, Channel, Floats, Numbers
from isogloss.lexical.channel_texts import hear
from isogloss.systems.bridge_evidence import Tables, Values, places_among, question_vector
from isogloss.systems.bridge_phrases import Phrases
from isogloss.text.characters import UNSPACED
from isogloss.training.pairs import TextIds
from isogloss.training.softmax_average import encode

KINDS = ("characters said", "characters meant", "pairs said", "pairs meant", "character vectors")
_FILE = "characters.safetensors"
_ARRAYS = ("offsets", "terms", "said", "meant", "query_counts", "document_counts")


@dataclass(frozen=True)
class AskedCharacters:
    """A query as documents are asked for it by characters; ``places``: of each of its words among the distinct ones."""

    asked: Asked
    places: Numbers
    vector: Floats


@dataclass(frozen=True)
class Characters:
    """What was learned: translations into characters, into characters and ``pairs`` of them, and vectors.

    The three number characters alike, *unknown* after the last; pairs follow as the phrases of the vectors do.
    """

    channel: Channel
    pairs: Channel
    tables: Tables
    kinds = len(KINDS)

    def ask(self, terms: Sequence[str]) -> AskedCharacters:
        """The words of a query; none stands for itself, what documents have as it stands is seen by their words."""
        asked = self.channel.ask(Counter(terms), lambda term: False, {})
        places = places_among(terms, asked)
        return AskedCharacters(asked, places, question_vector(asked, places, self.tables))

    def look(self, question: AskedCharacters, texts: TextIds) -> Values:
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
            tensors |= {f"{name}.{array}": getattr(channel, array) for array in _ARRAYS}
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
            Channel(words, names, *(tensors[f"{name}.{array}"] for array in _ARRAYS))
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

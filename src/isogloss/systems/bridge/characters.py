"""Features of characters, for documents in scripts without spaces between words.

The segmentation of such a text into words is uncertain, and the words of a rare expression are unknown where its
characters are not. So the second stage computes five more features, p being the best passage of a document:

    character forward   forward(q, p)         p as single characters
    character reverse   reverse(q, p) / |p|
    bigram forward      forward(q, p)         p as characters and character bigrams
    bigram reverse      reverse(q, p) / |p|
    character vectors   cosine of the vectors of q and p: sums of the vectors of words, characters and bigrams

Queries are read as words; words of a document in a script with spaces stay whole. The characters of a document are
those of its indexed words, so nothing more is indexed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.strings import StringTable
from isogloss.systems.bridge.documents import Documents, Part
from isogloss.systems.bridge.features import Features, Phrases, QueryFeatures, Tables, Values, products
from isogloss.systems.bridge.matching import QueryTable, match, passage_terms
from isogloss.systems.bridge.text_vectors import encode
from isogloss.text.batches import tokenize_texts
from isogloss.text.ids import TextIds
from isogloss.text.normalization import UNSPACED
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.model import ARRAYS, Numbers, TranslationModel

CHARACTER_FEATURES = (
    "character forward", "character reverse", "bigram forward", "bigram reverse", "character vectors",
)  # fmt: skip
_FILE = "characters.safetensors"
_KEPT = 64  # queries whose features are cached
_PASSAGES = 3  # passages to re-score for each document that would be re-scored without characters


@dataclass(frozen=True)
class CharacterModel:
    """Translation models from words into characters, and into characters and bigrams; vectors of words and characters.

    All three number characters alike, *unknown* after the last; bigrams follow, as the phrases of ``tables``.
    """

    translation: TranslationModel
    bigrams: TranslationModel
    tables: Tables

    def query_features(self, terms: Sequence[str]) -> QueryFeatures:
        """The features of a query; no term is verbatim, because the features of words cover verbatim matches."""
        return QueryFeatures.of(
            terms, self.translation.query_statistics(Counter(terms), lambda term: 0, {}), self.tables
        )

    def features(self, query: QueryFeatures, texts: TextIds) -> Values:
        """One row a text of characters, one column a feature."""
        bigrams = self.tables.document_phrases.added_to(texts)
        columns = []
        for translation, units in ((self.translation, texts), (self.bigrams, bigrams)):
            matches = match(QueryTable(translation, query.statistics), units.ids.astype(np.int64), units.offsets)
            columns += [matches.forward.sum(axis=1), matches.reverse.sum(axis=1) / np.maximum(1, matches.lengths)]
        columns.append(products(encode(self.tables.document, bigrams), query.vector))
        return np.stack(columns, axis=1).astype(np.float64)

    def save(self, directory: Path) -> None:
        tables, words = self.tables, self.translation.query_words
        tensors: dict[str, NDArray[Any]] = {"query": tables.query, "document": tables.document}
        tensors |= {"words": words.data, "word_offsets": words.offsets}
        tensors |= {"query_phrases": tables.query_phrases.keys, "document_phrases": tables.document_phrases.keys}
        for name, translation in (("translation", self.translation), ("bigrams", self.bigrams)):
            tensors |= {f"{name}.{array}": values for array, values in translation.arrays().items()}
        characters = self.translation.document_words
        tensors |= {"characters": characters.data, "character_offsets": characters.offsets}
        write_tensors(directory / _FILE, tensors)

    @classmethod
    def load(cls, directory: Path) -> CharacterModel | None:
        """Read what ``save`` wrote; None where there is no such file."""
        if not (directory / _FILE).exists():
            return None
        tensors, _ = read_tensors(directory / _FILE)
        words = StringTable(tensors["words"], tensors["word_offsets"])
        characters = StringTable(tensors["characters"], tensors["character_offsets"])
        phrases = [
            Phrases(len(tensors[side]) - len(tensors[f"{side}_phrases"]), tensors[f"{side}_phrases"])
            for side in ("query", "document")
        ]
        translation, bigrams = (
            TranslationModel(words, names, *(tensors[f"{name}.{array}"] for array in ARRAYS))
            for name, names in (("translation", characters), ("bigrams", with_bigrams(characters, phrases[1])))
        )
        return cls(translation, bigrams, Tables(tensors["query"], tensors["document"], *phrases))


def spaced(text: str) -> str:
    """The text with spaces around every character of a script without spaces.

    >>> spaced("CSS属性").split()
    ['CSS', '属', '性']
    """
    return UNSPACED.sub(r" \g<0> ", text)


def with_bigrams(characters: StringTable, phrases: Phrases) -> StringTable:
    """The names of characters, of *unknown* and of bigrams."""
    names = [*characters, ""]
    return StringTable.of(names + [names[key // phrases.words] + names[key % phrases.words] for key in phrases.keys])


class CharacterPassages:
    """Indexed passages as the numbers of their characters."""

    def __init__(self, translation: TranslationModel, part: Part, tokenizer: Tokenizer) -> None:
        terms = chain(part.translation.document_words, [""], part.others)
        spelt = tokenize_texts([spaced(term) for term in terms], tokenizer)
        number_of = {character: number for number, character in enumerate(translation.document_words)}
        numbers = np.fromiter((number_of.get(term, translation.unknown) for term in spelt.terms), np.int32)
        self._spelling = TextIds(numbers[spelt.ids] if len(numbers) else spelt.ids, spelt.offsets)
        self._tokens = part.tokens

    def of(self, rows: Numbers, passages: Numbers) -> TextIds:
        """One passage of each of some documents."""
        terms, starts, _ = passage_terms(self._tokens, rows, passages)
        ends = np.append(0, np.cumsum(self._spelling.lengths[terms]))
        return TextIds(self._spelling.words_of(terms), ends[starts])


class CharacterStage:
    """Adds the features of characters; what it needs of a query, or of a part of the index, is computed once."""

    def __init__(self, model: CharacterModel, queries: Tokenizer, documents: Tokenizer) -> None:
        self.model, self._documents = model, documents
        self.query_features = lru_cache(_KEPT)(lambda query: model.query_features(queries(query)))
        self._passages = lru_cache(None)(lambda part: CharacterPassages(model.translation, part, documents))

    def extend(self, found: Features, query: str, documents: Documents, rows: Numbers) -> Features:
        """The features of some documents and, in further columns, those of the characters of their best passages."""
        width = found.values.shape[1]
        values = np.zeros((len(rows), width + len(CHARACTER_FEATURES)))
        values[:, :width] = found.values
        for part, part_rows, which in documents.split(rows):
            texts = self.passages_of(part, part_rows, found.passages[which])
            values[which, width:] = self.model.features(self.query_features(query), texts)
        return replace(found, values=values)

    def depth(self, depth: int, documents: Documents) -> int:
        """How many documents to re-score: more than ``depth`` where documents have few passages.

        The first stage does not see what characters tell.
        """
        passages = documents.passages
        return max(depth, int(_PASSAGES * depth * len(passages) / max(1, int(passages.sum()))))

    def passages_of(self, part: Part, rows: Numbers, passages: Numbers) -> TextIds:
        """One passage of each of some documents of a part as characters."""
        return self._passages(part).of(rows, passages)

"""Indexed documents looked at by characters, which are those of their words: nothing more is kept of them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from isogloss.lexical.channel import Numbers
from isogloss.lexical.channel_texts import ChannelTexts
from isogloss.systems.bridge_characters import AskedCharacters, Characters, spaced
from isogloss.systems.bridge_documents import Documents
from isogloss.systems.bridge_evidence import Evidence
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.training.pairs import TextIds

_KEPT = 64  # questions that are remembered
_PASSAGES = 3  # to look at, for every document that would be looked at without characters


class CharacterTexts:
    """Texts in the numbers of the characters of their words."""

    def __init__(self, characters: Characters, texts: ChannelTexts, tokenizer: Tokenizer) -> None:
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


class CharacterLook:
    """A look at documents by characters; what it needs of a query, or of a part of the index, is made once."""

    def __init__(self, characters: Characters, queries: Tokenizer, documents: Tokenizer) -> None:
        self.characters, self._queries, self._documents = characters, queries, documents
        self.question = lru_cache(_KEPT)(self._question)
        self._texts = lru_cache(None)(self._made_texts)

    def added_to(self, found: Evidence, query: str, documents: Documents, rows: Numbers) -> Evidence:
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

    def texts_of(self, texts: ChannelTexts, numbers: Numbers) -> TextIds:
        """Passages of a part of the index in characters."""
        return self._texts(texts).of(numbers)

    def _question(self, query: str) -> AskedCharacters:
        return self.characters.ask(self._queries(query))

    def _made_texts(self, texts: ChannelTexts) -> CharacterTexts:
        return CharacterTexts(self.characters, texts, self._documents)

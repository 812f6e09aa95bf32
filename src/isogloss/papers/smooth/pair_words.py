"""A pair of a source as words: read and tokenised once, for all trials of the pair."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Collection
from isogloss.data.formats import open_source
from isogloss.data.problems import Problems
from isogloss.data.source import Pair
from isogloss.papers.fingerprints import fingerprint
from isogloss.storage.errors import InputError
from isogloss.text.batches import TokenizedTexts, tokenize_texts


class PairWords(Protocol):
    """What trials read of a pair."""

    @property
    def dataset(self) -> Dataset:
        """Ids, judgments and splits; texts only where they were read here."""

    @property
    def fingerprint(self) -> str:
        """A hash of the content: documents, queries, judgments, splits. Where the data lie is no part of it."""

    @property
    def documents(self) -> TokenizedTexts:
        """The words of each document."""

    @property
    def queries(self) -> TokenizedTexts:
        """The words of each query."""

    @property
    def source_documents(self) -> TokenizedTexts | None:
        """The words of each document of the query language, where the data have such."""


class ReadWords(PairWords):
    """The pair as its source has it."""

    def __init__(self, source: str, pair: Pair, skip_bad: bool = False) -> None:
        self._source, self._pair, self._skip_bad = source, pair, skip_bad

    @cached_property
    def dataset(self) -> Dataset:
        return load_dataset(open_source(self._source), self._pair, problems=Problems(not self._skip_bad))

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.dataset)

    @cached_property
    def documents(self) -> TokenizedTexts:
        return tokenize_texts(self.dataset.documents.texts(("text",)), label="reading documents")

    @cached_property
    def queries(self) -> TokenizedTexts:
        return tokenize_texts([query.text for query in self.dataset.queries.values()], label="reading queries")

    @cached_property
    def source_documents(self) -> TokenizedTexts | None:
        try:
            found: Collection = self.dataset.source_documents
        except InputError:
            return None
        return tokenize_texts(found.texts(("text",)), label="reading documents")


def chosen_texts(texts: TokenizedTexts, rows: NDArray[np.int64]) -> TokenizedTexts:
    """Some of the texts, in this order.

    >>> chosen_texts(tokenize_texts(["to be", "or not", "to be"]), np.asarray([1, 0])).text(0)
    ['or', 'not']
    """
    lengths = np.diff(texts.offsets)[rows]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(texts.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return TokenizedTexts(texts.terms, texts.ids[places], offsets)

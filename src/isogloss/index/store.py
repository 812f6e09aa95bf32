"""The documents of an index, each read from disk only when it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.strings import StringTable
from isogloss.corpus.collection import Collection
from isogloss.corpus.formats.jsonl import document_of, page_object
from isogloss.corpus.records import Document


class DocumentStore:
    """Documents by row, as JSON in a memory-mapped table, and the order of their ids."""

    def __init__(self, pages: StringTable, id_order: NDArray[np.int64]) -> None:
        self._pages = pages
        self.id_order = id_order

    @classmethod
    def of(cls, documents: Collection) -> DocumentStore:
        """A store in memory."""
        return cls(StringTable.of(_lines(documents)), documents.id_order)

    def __len__(self) -> int:
        return len(self._pages)

    def __getitem__(self, row: int) -> Document:
        return document_of(json.loads(self._pages[row]))

    def save(self, directory: Path) -> None:
        """Write the store into a directory."""
        self._pages.save(directory, "pages")
        save_array(directory / "id_order.npy", self.id_order)

    @classmethod
    def load(cls, directory: Path) -> DocumentStore:
        """Map what ``save`` wrote."""
        return cls(StringTable.load(directory, "pages"), load_array(directory / "id_order.npy"))


def _lines(documents: Iterable[Document]) -> Iterable[str]:
    return (json.dumps(page_object(document), ensure_ascii=False) for document in documents)

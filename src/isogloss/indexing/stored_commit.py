"""A change to an index whose documents are in a store: one batch there, then the count of changes here goes up."""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from isogloss.corpus.collection import Collection
from isogloss.corpus.records import Document
from isogloss.evaluation.system import System
from isogloss.index.commit_writer import CommitWriter
from isogloss.index.draft import Draft
from isogloss.index.manifest import StoreNote
from isogloss.indexing.reader import OpenIndex
from isogloss.indexing.stored_shelf import for_store, padded
from isogloss.stores.opening import OwnedStore
from isogloss.stores.store import Matrix


class StoredCommit(CommitWriter):
    """What is to be added and deleted; documents of all languages are added all or none."""

    def __init__(self, index: OpenIndex, store: OwnedStore, note: StoreNote) -> None:
        super().__init__(index.path, index.commit, {language: Draft() for language in index.commit.languages})
        self._store, self._dimension, self._fields = store, note.dimension, index.manifest.fields
        self._documents: list[Document] = []
        self._vectors: list[Matrix] = []
        self._gone: dict[str, set[str]] = {}

    def change(self, language: str, documents: Collection, gone: Container[str], system: System) -> None:
        """Add documents to a language, in place of those with the same ids; those that are to go are deleted."""
        if language not in self._drafts:
            if not len(documents):
                return
            self.begin_language(language, system.save_shared)
        self._gone[language] = {*gone}.difference(documents.ids)
        if len(documents):
            system.index(documents, self._fields)
            self._vectors.append(padded(for_store(system).document_matrix, self._dimension))
            self._documents += in_language(documents, language)

    def commit(self, always: bool = False) -> bool:
        """Send it all to the store. False if nothing has changed."""
        if self._documents:
            self._store.add(self._documents, np.concatenate(self._vectors))
        deleted = sum(self._store.delete(language, sorted(ids)) for language, ids in self._gone.items() if ids)
        return super().commit(always or bool(self._documents) or deleted > 0)


def in_language(documents: Iterable[Document], language: str) -> list[Document]:
    """Documents that all tell their language, as a store wants them."""
    return [
        document if document.language == language else replace(document, language=language) for document in documents
    ]

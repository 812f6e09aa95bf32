"""A change to an index whose documents are in a store: one batch there, then the count of changes here goes up."""

from __future__ import annotations

import logging
from collections.abc import Collection as Container
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isogloss.data.documents import Collection, Document
from isogloss.engines.base import Matrix
from isogloss.engines.registry import (
    Approximating,
    IndexEngine,
    check_engine,
    complete,
    create_engine,
    finish_engine,
    in_use,
    new_name,
    open_engine,
    remember,
)
from isogloss.index.commit_writer import CommitWriter, PendingSegments
from isogloss.index.language_index import for_engine, padded
from isogloss.index.manifest import Manifest, StoreNote
from isogloss.index.reader import OpenIndex, open_index
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.systems.base import System
from isogloss.systems.dense import DenseSystem


class EngineCommit(CommitWriter):
    """What is to be added and deleted; documents of all languages are added all or none."""

    def __init__(self, index: OpenIndex, store: IndexEngine, note: StoreNote) -> None:
        super().__init__(index.path, index.commit, {language: PendingSegments() for language in index.commit.languages})
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
            self._vectors.append(padded(for_engine(system).document_matrix, self._dimension))
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


# Making an index in a store: a place of its own there, filled, and taken away again if no index comes about.

BATCH = 10_000
"""Documents that are put into a store at once."""


@dataclass(frozen=True)
class NewEngineIndex:
    """A store in the making; ``systems``, one a language, decide how long its vectors are."""

    store: IndexEngine
    note: StoreNote
    systems: Sequence[DenseSystem]

    def fill(self, language: str, system: DenseSystem, documents: Collection) -> None:
        """Put the documents of a language in, with the vectors that the system has made of them."""
        vectors = padded(system.document_matrix, self.note.dimension)
        starts = range(0, len(documents), BATCH)
        sizes = (min(BATCH, len(documents) - start) for start in starts)
        for start in track(starts, f"storing {len(documents):,} documents", total=len(documents), sizes=sizes):
            rows = slice(start, start + BATCH)
            self.store.add(in_language(documents.documents[rows], language), vectors[rows])

    def finish(self) -> None:
        """All is in it: the index may appear."""
        finish_engine(self.store)


@contextmanager
def new_engine_index(url: str, index: Path, systems: Iterable[DenseSystem]) -> Iterator[NewEngineIndex]:
    """A store for an index; what fails takes it away again."""
    used = complete(in_use(url), index)
    check_engine(used)
    ready = list(systems)
    dimension = max(system.encode_queries([""]).shape[1] for system in ready)
    note = StoreNote(remember(used), new_name(index), dimension)
    store = create_engine(used, dimension, note.name)
    try:
        yield NewEngineIndex(store, note, ready)
    except BaseException:
        _drop(store, note)
        raise
    store.close()


@contextmanager
def dropping_the_old_engine_index(index: Path) -> Iterator[None]:
    """When an index takes the place of another, what that one has in a store goes too."""
    old = _store_of(index)
    yield
    if old is not None:
        try:
            _drop(open_engine(old.url, old.name), old)
        except InputError as error:
            _left_behind(old, error)


def _store_of(index: Path) -> StoreNote | None:
    try:
        return Manifest.load(index).store
    except InputError:  # there is none, or a damaged one
        return None


def _drop(store: IndexEngine, note: StoreNote) -> None:
    try:
        store.drop()
    except Exception as error:  # whatever the engine raises: why it failed is told by the first error
        _left_behind(note, error)


def _left_behind(note: StoreNote, error: Exception) -> None:
    logging.getLogger("isogloss").warning("%s: %s is left there: %s", note.url, note.name, error)


# An index in a store, searched exactly or approximately: what an index in files decides by itself when it is made.


def approximate_in_engine(path: Path, how: str) -> dict[str, float]:
    """Let a store search approximately (``yes``; ``auto``: where it pays), or exactly (``no``).

    What is given is the recall@10 measured in each language that is searched approximately from now on.
    """
    with closing(open_index(path)) as index:
        if index.engine is None:
            what = "its vectors are in files, which decide by themselves"
            raise InputError(f"{path}: {what}; --approximate is for an index in a store")
        if isinstance(index.engine, Approximating):
            return index.engine.approximate(how)
        if how == "yes":
            assert index.manifest.store is not None
            raise InputError(f"{index.manifest.store.url}: this engine searches exactly; leave --approximate out")
        return {}

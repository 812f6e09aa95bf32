"""An index whose documents and vectors are in an engine: made, changed, dropped, and searched approximately."""

from __future__ import annotations

import logging
from collections.abc import Collection as Container
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isogloss.data.documents import Collection, Document
from isogloss.engines import registry
from isogloss.engines.base import Approximating, IndexEngine, Matrix
from isogloss.index.commit_writer import CommitWriter, PendingSegments
from isogloss.index.language_index import for_engine, padded
from isogloss.index.language_systems import LanguageSystems
from isogloss.index.manifest import EngineNote, Manifest
from isogloss.index.reader import OpenIndex, open_index
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.systems.dense import DenseSystem

BATCH = 10_000
"""Documents that are sent to an engine at a time while an index is made."""


class EngineCommit(CommitWriter):
    """Changes to an index in an engine: one batch there, then the commit here. All documents are added, or none."""

    def __init__(self, index: OpenIndex, engine: IndexEngine, note: EngineNote) -> None:
        super().__init__(index.path, index.commit, {language: PendingSegments() for language in index.commit.languages})
        self._engine, self._dimension, self._fields = engine, note.dimension, index.manifest.fields
        self._documents: list[Document] = []
        self._vectors: list[Matrix] = []
        self._deleted: dict[str, set[str]] = {}

    def change(self, language: str, documents: Collection, deleted: Container[str], systems: LanguageSystems) -> None:
        """Add documents to a language, in place of those with the same ids; delete others."""
        if not self.has_language(language, documents, systems):
            return
        self._deleted[language] = {*deleted}.difference(documents.ids)
        if len(documents):
            (system,) = systems.values()  # an engine has one vector of each document
            system.index(documents, self._fields)
            self._vectors.append(padded(for_engine(system).document_matrix, self._dimension))
            self._documents += in_language(documents, language)

    def commit(self, always: bool = False) -> bool:
        """Send the changes to the engine. False if nothing has changed."""
        if self._documents:
            self._engine.add(self._documents, np.concatenate(self._vectors))
        deleted = sum(self._engine.delete(language, sorted(ids)) for language, ids in self._deleted.items() if ids)
        return super().commit(always or bool(self._documents) or deleted > 0)


def in_language(documents: Iterable[Document], language: str) -> list[Document]:
    """The documents with their language set, as engines need them."""
    return [
        document if document.language == language else replace(document, language=language) for document in documents
    ]


@dataclass(frozen=True)
class NewEngineIndex:
    """An engine being filled for a new index; the widest of ``systems``, one a language, decides the dimension."""

    engine: IndexEngine
    note: EngineNote
    systems: Sequence[LanguageSystems]

    def fill(self, language: str, system: DenseSystem, documents: Collection) -> None:
        """Add the documents of a language, with the vectors that the system has indexed."""
        vectors = padded(system.document_matrix, self.note.dimension)
        starts = range(0, len(documents), BATCH)
        sizes = (min(BATCH, len(documents) - start) for start in starts)
        for start in track(starts, f"storing {len(documents):,} documents", total=len(documents), sizes=sizes):
            rows = slice(start, start + BATCH)
            self.engine.add(in_language(documents.documents[rows], language), vectors[rows])


@contextmanager
def new_engine_index(url: str, index: Path, systems: Iterable[LanguageSystems]) -> Iterator[NewEngineIndex]:
    """A new and empty place in an engine for an index; it is dropped if making the index fails."""
    used = registry.complete(registry.in_use(url), index)
    registry.check_engine(used)
    ready = list(systems)
    dense = [for_engine(system) for of_language in ready for system in of_language.values()]
    dimension = max(system.encode_queries([""]).shape[1] for system in dense)
    note = EngineNote(registry.remember(used), registry.new_name(index), dimension)
    engine = registry.create_engine(used, dimension, note.name)
    try:
        yield NewEngineIndex(engine, note, ready)
    except BaseException:
        _drop(engine, note)
        raise
    engine.close()


@contextmanager
def dropping_the_old_engine_index(index: Path) -> Iterator[None]:
    """When the block ends well, drop from its engine the index that was in this directory before it."""
    try:
        old = Manifest.load(index).engine
    except InputError:  # there is none, or a damaged one
        old = None
    yield
    if old is not None:
        try:
            _drop(registry.open_engine(old.url, old.name), old)
        except InputError as error:
            _left_behind(old, error)


def _drop(engine: IndexEngine, note: EngineNote) -> None:
    try:
        engine.drop()
    except Exception as error:  # whatever the engine raises; the first error says why the index was not made
        _left_behind(note, error)


def _left_behind(note: EngineNote, error: Exception) -> None:
    logging.getLogger("isogloss").warning("%s: %s is left there: %s", note.url, note.name, error)


def approximate_in_engine(path: Path, how: str) -> dict[str, float]:
    """Let an engine search approximately (``yes``; ``auto``: where it pays), or exactly (``no``).

    Returns the measured recall@10 of each language that is searched approximately. An index in files decides this by
    itself when it is made.
    """
    with closing(open_index(path)) as index:
        if index.engine is None:
            what = "its vectors are in files, which decide by themselves"
            raise InputError(f"{path}: {what}; --approximate is for an index in an engine")
        if isinstance(index.engine, Approximating):
            return index.engine.approximate(how)
        if how == "yes":
            assert index.manifest.engine is not None
            raise InputError(f"{index.manifest.engine.url}: this engine searches exactly; leave --approximate out")
        return {}

"""An index whose documents and vectors are in an engine: made, changed, dropped, and searched approximately.

Sparse weights depend on statistics of the collection (document frequencies, the mean length). They are those of the
documents that an index, or a language in it, is made with, and later changes leave them. After f N documents were added
to N, idf(t) = ln((N + 1) / (df(t) + .5)) is at most ln(1 + f) lower and ln(1 + f N / (df(t) + .5)) higher than if all
were counted, and the same where new documents have the words of the old. ``re_encode`` counts them all.
"""

from __future__ import annotations

import logging
from collections.abc import Collection as Container
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isogloss.data.documents import Collection, Document
from isogloss.engines import addresses, registry
from isogloss.engines.base import Approximating, IndexEngine, Points
from isogloss.index.commit_writer import CommitWriter, PendingSegments
from isogloss.index.engine_systems import for_engine
from isogloss.index.language_systems import Encode, LanguageSystems
from isogloss.index.manifest import EngineNote, Manifest
from isogloss.index.reader import OpenIndex, open_index
from isogloss.storage.errors import InputError


class EngineCommit(CommitWriter):
    """Changes to an index in an engine: one batch there, then the commit here. All documents are added, or none."""

    def __init__(self, index: OpenIndex, engine: IndexEngine, note: EngineNote) -> None:
        super().__init__(index.path, index.commit, {language: PendingSegments() for language in index.commit.languages})
        self._engine, self._dimension, self._fields = engine, note.dimension, index.manifest.fields
        self._batches: list[tuple[list[Document], Points]] = []
        self._deleted: dict[str, set[str]] = {}

    def change(self, language: str, documents: Collection, deleted: Container[str], systems: LanguageSystems) -> None:
        """Add documents to a language, in place of those with the same ids; delete others."""
        (system,) = systems.values()  # an engine has one vector of each kind of a document
        if len(documents):
            is_new = language not in self._pending
            found = for_engine(system).points(documents, self._fields, self._dimension, is_new)
            self._batches += [(in_language(batch, language), points) for batch, points in found]
        if self.has_language(language, documents, systems):
            self._deleted[language] = {*deleted}.difference(documents.ids)

    def commit(self, always: bool = False) -> bool:
        """Send the changes to the engine. False if nothing has changed."""
        for batch, points in _joined(self._batches):
            self._engine.add(batch, points)
        deleted = sum(self._engine.delete(language, sorted(ids)) for language, ids in self._deleted.items() if ids)
        return super().commit(always or bool(self._batches) or deleted > 0)


def _joined(batches: Sequence[tuple[list[Document], Points]]) -> Iterator[tuple[list[Document], Points]]:
    """All with the same kinds of vectors as one batch, which an engine adds as a whole: almost always there is one."""
    groups: dict[tuple[bool, bool], list[tuple[list[Document], Points]]] = {}
    for batch, points in batches:
        groups.setdefault((points.dense is None, points.sparse is None), []).append((batch, points))
    for same in groups.values():
        counts, dense, sparse = zip(*(points for _, points in same), strict=True)
        yield (
            [document for batch, _ in same for document in batch],
            Points(
                np.concatenate(counts),
                None if dense[0] is None else np.concatenate(dense),
                None if sparse[0] is None else [vector for vectors in sparse for vector in vectors],
            ),
        )


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

    def fill(
        self, language: str, documents: Collection, systems: LanguageSystems, fields: tuple[str, ...],
        encode: Encode | None = None,
    ) -> None:  # fmt: skip
        """Add the documents of a language with their points, batch by batch."""
        (system,) = systems.values()
        made = for_engine(system).points(documents, fields, self.note.dimension, is_new=True, encode=encode)
        for batch, points in made:
            self.engine.add(in_language(batch, language), points)


@contextmanager
def new_engine_index(url: str, index: Path, systems: Iterable[LanguageSystems]) -> Iterator[NewEngineIndex]:
    """A new and empty place in an engine for an index; it is dropped if making the index fails."""
    used = addresses.complete(addresses.in_use(url), index)
    registry.check_engine(used)
    ready = list(systems)
    found = [for_engine(system) for of_language in ready for system in of_language.values()]
    dimension = max(system.dimension for system in found)
    note = EngineNote(addresses.without_password(used), registry.new_name(index), dimension)
    engine = registry.create_engine(used, dimension, note.name, any(system.sparse is not None for system in found))
    addresses.confirm(note.url, note.name, used)
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
            _drop(registry.open_engine(addresses.address_of(old.url, old.name), old.name), old)
        except InputError as error:
            _left_behind(old, error)


def _drop(engine: IndexEngine, note: EngineNote) -> None:
    try:
        engine.drop()
        addresses.forget(note.url, note.name)
    except Exception as error:  # whatever the engine raises; the first error says why the index was not made
        _left_behind(note, error)


def _left_behind(note: EngineNote, error: Exception) -> None:
    logging.getLogger("isogloss").warning("%r: %r is left there: %s", note.url, note.name, error)


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

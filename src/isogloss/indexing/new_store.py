"""Making an index in a store: a place of its own there, filled, and taken away again if no index comes about."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.progress import track
from isogloss.corpus.collection import Collection
from isogloss.index.manifest import Manifest, StoreNote
from isogloss.indexing.stored_commit import in_language
from isogloss.indexing.stored_shelf import padded
from isogloss.stores.addresses import complete, in_use, remember
from isogloss.stores.opening import OwnedStore, check_engine, create_store, finish_store, new_name, open_store
from isogloss.systems.dense import DenseSystem

BATCH = 10_000
"""Documents that are put into a store at once."""


@dataclass(frozen=True)
class NewStore:
    """A store in the making; ``systems``, one a language, decide how long its vectors are."""

    store: OwnedStore
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
        finish_store(self.store)


@contextmanager
def new_store(url: str, index: Path, systems: Iterable[DenseSystem]) -> Iterator[NewStore]:
    """A store for an index; what fails takes it away again."""
    used = complete(in_use(url), index)
    check_engine(used)
    ready = list(systems)
    dimension = max(system.encode_queries([""]).shape[1] for system in ready)
    note = StoreNote(remember(used), new_name(index), dimension)
    store = create_store(used, dimension, note.name)
    try:
        yield NewStore(store, note, ready)
    except BaseException:
        _drop(store, note)
        raise
    store.close()


@contextmanager
def dropping_the_old_store(index: Path) -> Iterator[None]:
    """When an index takes the place of another, what that one has in a store goes too."""
    old = _store_of(index)
    yield
    if old is not None:
        try:
            _drop(open_store(old.url, old.name), old)
        except InputError as error:
            _left_behind(old, error)


def _store_of(index: Path) -> StoreNote | None:
    try:
        return Manifest.load(index).store
    except InputError:  # there is none, or a damaged one
        return None


def _drop(store: OwnedStore, note: StoreNote) -> None:
    try:
        store.drop()
    except Exception as error:  # whatever the engine raises: why it failed is told by the first error
        _left_behind(note, error)


def _left_behind(note: StoreNote, error: Exception) -> None:
    logging.getLogger("isogloss").warning("%s: %s is left there: %s", note.url, note.name, error)

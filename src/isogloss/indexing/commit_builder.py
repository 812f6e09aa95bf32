"""A commit in the making: new files beside those of the last one, taken away again if it does not come about."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Collection as Container
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.base.files import sync_directory, sync_tree
from isogloss.corpus.collection import Collection
from isogloss.evaluation.system import Allowed, System
from isogloss.index import checksums
from isogloss.index.checksums import FileNote, write_checksums
from isogloss.index.commit import Commit, LanguageEntry
from isogloss.index.draft import Draft, Piece, with_deleted
from isogloss.index.manifest import FILE as MANIFEST
from isogloss.index.merged_segments import save_merged
from isogloss.index.segments import (
    DELETED,
    ORDERS,
    SEGMENTS,
    SHARED,
    SOURCES,
    Segment,
    new_name,
    pack_deleted,
    write_array,
    write_parts,
    write_segment,
)  # fmt: skip
from isogloss.index.store import rows_of
from isogloss.indexing.compaction import Merge
from isogloss.indexing.reader import OpenIndex


class Merged(NamedTuple):
    """A segment made of the kept documents of others."""

    segment: Segment
    kept: dict[str, Allowed]


class CommitBuilder:
    """Changes to an index, written but not yet named by its ``commit.json``; as a context it cleans up after itself."""

    def __init__(self, index: OpenIndex) -> None:
        self._written: list[Path] = []
        self._files: dict[str, FileNote] = {}
        self.rebase(index)

    def rebase(self, index: OpenIndex) -> None:
        """Start from a commit; of what was done before only merged segments that have no place yet are kept."""
        self._index, self._path = index, index.path
        self._drafts = {language: _draft(index, language) for language in index.commit.languages}
        self._generation = index.commit.generation + 1
        for folder in (SEGMENTS, DELETED, ORDERS, SHARED):
            (self._path / folder).mkdir(exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for path in self._written:
            remove(path)

    def change(self, language: str, documents: Collection, gone: Container[str], system: System) -> None:
        """Add documents to a language; those with the same ids, and those that are to go, are deleted."""
        if language not in self._drafts:
            if not len(documents):
                return
            self.add_language(language, system)
        draft, going = self._drafts[language], {*gone, *documents.ids}
        lost = 0
        for piece in draft.pieces:
            before = int(piece.live.sum())
            piece.lose(rows_of(piece.segment.store, going))
            lost += before - int(piece.live.sum())
        if not system.joins and (lost or len(documents)):
            documents = Collection([*_documents(draft), *documents], language)
            draft.pieces = []
        if len(documents):
            draft.append(self._new_segment(language, documents, system))

    def add_language(self, language: str, system: System) -> None:
        """Write what the system of a language needs and no document decides."""
        folder = self._path / SHARED / language
        self._written.append(folder)
        folder.mkdir(parents=True)
        system.save_shared(folder)
        self._files[f"{SHARED}/{language}/{checksums.FILE}"] = write_checksums(folder)
        sync_tree(folder)
        sync_directory(folder.parent)
        self._drafts[language] = Draft()

    def merge(self, merge: Merge, name: str) -> Merged:
        """Write one segment of the documents of several that are not deleted."""
        pieces = self._drafts[merge.language].named(merge.names)
        kept = {piece.entry.name: piece.live for piece in pieces}
        keep = np.concatenate([piece.live for piece in pieces])
        segments = [piece.segment for piece in pieces]
        order = Draft(pieces=pieces, has_gaps=True).order
        system = copy(self._index.systems[merge.language]).load_parts([segment.part for segment in segments], order)
        self._write_segment(
            name,
            lambda: write_parts(
                self._path, name, lambda folder: save_merged(segments, keep, folder),
                lambda folder: system.save_part(folder, keep),
            ),
        )  # fmt: skip
        return Merged(Segment.load(self._path, name), kept)

    def put_in_place(self, merge: Merge, merged: Merged) -> None:
        """Let a merged segment replace its parts."""
        self._drafts[merge.language].put_in_place_of(merge.names, merged.kept, merged.segment)

    def commit(self) -> bool:
        """Write ``commit.json``: from now on it is so. False if nothing has changed."""
        languages = {language: self._entry(language, draft) for language, draft in self._drafts.items()}
        old = self._index.commit
        if languages == old.languages:
            return False
        notes = {**old.files, **self._files}
        names = {MANIFEST, *_named(languages), *(name for name in notes if name.startswith(f"{SOURCES}/"))}
        files = {name: notes[name] for name in sorted(names)}
        Commit(old.identity, self._generation, languages, files).save(self._path)
        self._written = []
        return True

    def _entry(self, language: str, draft: Draft) -> LanguageEntry:
        draft.without_empty()
        segments = tuple(self._segment_entry(piece) for piece in draft.pieces)
        if not draft.is_rearranged:
            return replace(draft.entry, segments=segments)
        order_file = ""
        if len(segments) > 1:
            order_file = f"{ORDERS}/{language}.{self._generation}.npy"
            self._write_array(order_file, draft.order)
        return LanguageEntry(segments, order_file)

    def _segment_entry(self, piece: Piece) -> Any:
        if np.count_nonzero(~piece.live) == piece.entry.deleted:
            return piece.entry
        name = f"{DELETED}/{piece.entry.name}.{self._generation}.npy"
        self._write_array(name, pack_deleted(~piece.live))
        return with_deleted(piece.entry, piece.live, name)

    def _new_segment(self, language: str, documents: Collection, system: System) -> Segment:
        name = new_name(language, self._generation)
        system.index(documents, self._index.manifest.fields)
        self._write_segment(name, lambda: write_segment(self._path, name, documents, system.save_part))
        return Segment.load(self._path, name)

    def _write_segment(self, name: str, write: Callable[[], FileNote]) -> None:
        self._written.append(self._path / SEGMENTS / name)
        self._files[f"{SEGMENTS}/{name}/{checksums.FILE}"] = write()

    def _write_array(self, name: str, array: NDArray[Any]) -> None:
        self._written.append(self._path / name)
        self._files[name] = write_array(self._path, name, array)


def sweep(path: Path, commit: Commit, building: Container[str] = ()) -> None:
    """Take away what a commit does not name: what it has replaced, and what a writer that was killed has left."""
    segments = {segment.name for segment in commit.segments} | set(building)
    kept = {
        SEGMENTS: segments,
        SHARED: set(commit.languages),
        **{
            folder: {Path(name).name for name in commit.files if name.startswith(f"{folder}/")}
            for folder in (DELETED, ORDERS)
        },
    }
    for folder, names in kept.items():
        for entry in (path / folder).iterdir() if (path / folder).is_dir() else ():
            if entry.name not in names:
                remove(entry)
    for left in path.glob(".*.partial"):
        remove(left)


def remove(path: Path) -> None:
    """Take away a file or a directory, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _draft(index: OpenIndex, language: str) -> Draft:
    shelf = index.engine.shelves.get(language)
    if shelf is None:
        return Draft()
    return Draft.of(index.commit.languages[language], index.segments, shelf.live, shelf.store.id_order)


def _documents(draft: Draft) -> Iterator[Any]:
    for piece in draft.pieces:
        yield from (piece.segment.store[row] for row in np.flatnonzero(piece.live).tolist())


def _named(languages: Mapping[str, LanguageEntry]) -> Iterator[str]:
    """The files that a commit names."""
    for language, entry in languages.items():
        yield f"{SHARED}/{language}/{checksums.FILE}"
        if entry.order_file:
            yield entry.order_file
        for segment in entry.segments:
            yield f"{SEGMENTS}/{segment.name}/{checksums.FILE}"
            if segment.deleted_file:
                yield segment.deleted_file

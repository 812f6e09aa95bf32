"""Pending commits: new files beside those of the last commit, removed again if the commit fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Container
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document
from isogloss.index.commit import Commit, LanguageEntry, Merge, SegmentEntry
from isogloss.index.documents import Rows, extended_order
from isogloss.index.language_systems import LanguageSystems
from isogloss.index.manifest import FILE as MANIFEST
from isogloss.index.origins import FOLDER as ORIGINS
from isogloss.index.origins import OriginRecord, records_in
from isogloss.index.origins import new_name as new_record
from isogloss.index.segments import (
    DELETED,
    ORDERS,
    SEGMENTS,
    SHARED,
    SOURCES,
    Segment,
    new_name,
    save_merged,
    write_array,
    write_parts,
    write_segment,
)  # fmt: skip
from isogloss.retrieval.ranking import Allowed
from isogloss.storage import checksums
from isogloss.storage.checksums import FileNote, write_checksums
from isogloss.storage.files import sync_directory, sync_tree

Mask = NDArray[np.bool_]


@dataclass
class PendingSegment:
    """A segment of a pending commit: which of its documents are not deleted, and the rank of each id among all ids."""

    segment: Segment
    entry: SegmentEntry
    live: Mask
    order: Rows


@dataclass
class PendingSegments:
    """The segments of a language in a pending commit, in the order of their rows."""

    entry: LanguageEntry = field(default_factory=LanguageEntry)
    segments: list[PendingSegment] = field(default_factory=list)
    has_gaps: bool = False
    """Whether some ranks of ids are unused, or used twice."""

    def append(self, segment: Segment) -> None:
        """Add a new segment after the others."""
        store = segment.store
        entry, live = SegmentEntry(segment.name, len(store)), np.ones(len(store), dtype=bool)
        self.segments.append(PendingSegment(segment, entry, live, store.id_order))
        if len(self.segments) > 1:
            before = PendingSegments(segments=self.segments[:-1], has_gaps=self.has_gaps)
            order = extended_order(before.order, [each.segment.store for each in before.segments], store)
            ends = np.cumsum([each.entry.documents for each in before.segments])
            for each, share in zip(self.segments, np.split(order, ends), strict=True):
                each.order = share

    def replace_merged(self, old: Sequence[str], kept: Mapping[str, Mask], segment: Segment) -> None:
        """Replace segments by one made of their kept documents; what they have lost since is deleted in it too."""
        pending = {each.entry.name: each for each in self.segments}
        live, order = [], []
        for name, mask in kept.items():  # a segment that is no longer there has lost all its documents
            part = pending.get(name)
            live.append(np.zeros(np.count_nonzero(mask), bool) if part is None else part.live[mask])
            order.append(np.zeros(np.count_nonzero(mask), np.int64) if part is None else part.order[mask])
        entry = SegmentEntry(segment.name, len(segment.store))
        merged = PendingSegment(segment, entry, np.concatenate(live), np.concatenate(order))
        position = min((i for i, each in enumerate(self.segments) if each.entry.name in old), default=0)
        rest = [each for each in self.segments if each.entry.name not in old]
        self.segments = [*rest[:position], merged, *rest[position:]]
        self.has_gaps = True

    @property
    def order(self) -> Rows:
        """The rank of each row's id among all ids."""
        values = np.concatenate([np.zeros(0, np.int64), *(each.order for each in self.segments)])
        if not self.has_gaps:
            return values
        order = np.empty(len(values), dtype=np.int64)
        order[np.argsort(values, kind="stable")] = np.arange(len(values))
        return order


class Merged(NamedTuple):
    """A segment made of the kept documents of others."""

    segment: Segment
    kept: dict[str, Allowed]


class CommitWriter:
    """Changes to segments, written but not yet named by ``commit.json``; leaving its context removes unused files.

    ``pending`` are the segments of each language at the commit that it starts from.
    """

    def __init__(self, path: Path, commit: Commit, pending: Mapping[str, PendingSegments]) -> None:
        self._written: list[Path] = []
        self._files: dict[str, FileNote] = {}
        self._replaced_origins: set[str] = set()
        self._path = path
        self.start_from(commit, pending)

    def start_from(self, commit: Commit, pending: Mapping[str, PendingSegments]) -> None:
        """Start from a commit; of earlier changes, only merged segments that are not in use yet stay."""
        self._old, self._pending = commit, dict(pending)
        self._generation = commit.generation + 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path in self._written:
            remove(path)

    def has_language(self, language: str, documents: Collection, systems: LanguageSystems) -> bool:
        """Whether there is anything to change in a language; a new one is begun if there are documents for it."""
        if language not in self._pending and len(documents):
            folder = self._path / SHARED / language
            self._written.append(folder)
            folder.mkdir(parents=True)
            systems.save_shared(folder)
            self._files[f"{SHARED}/{language}/{checksums.FILE}"] = write_checksums(folder)
            sync_tree(folder)
            sync_directory(folder.parent)
            self._pending[language] = PendingSegments()
        return language in self._pending

    def delete(self, language: str, ids: set[str]) -> int:
        """Delete documents; how many there were."""
        count = 0
        for each in self._pending[language].segments:
            rows = each.segment.store.rows_of(ids)
            if found := int(np.count_nonzero(each.live[rows])):
                each.live = each.live.copy()
                each.live[rows] = False
                count += found
        return count

    def append(self, language: str, documents: Collection, save_part: Callable[[Path], None]) -> None:
        """Write a segment of new documents, after the others of its language."""
        name = new_name(language, self._generation)
        self._write_segment(name, lambda: write_segment(self._path, name, documents, save_part))
        self._pending[language].append(Segment.load(self._path, name))

    def take_all(self, language: str) -> list[Document]:
        """Remove all segments of a language; its documents that are not deleted."""
        pending = self._pending[language]
        found = [each.segment.store[row] for each in pending.segments for row in np.flatnonzero(each.live).tolist()]
        pending.segments = []
        return found

    def merge(self, merge: Merge, name: str, systems: LanguageSystems) -> Merged:
        """Write one segment of the documents of several that are not deleted; the systems load their parts."""
        parts = [each for each in self._pending[merge.language].segments if each.entry.name in merge.names]
        keep = np.concatenate([each.live for each in parts])
        segments = [each.segment for each in parts]
        order = PendingSegments(segments=parts, has_gaps=True).order
        self._write_segment(
            name,
            lambda: write_parts(
                self._path, name, lambda folder: save_merged(segments, keep, order, folder),
                lambda folder: systems.load_parts([each.part for each in segments], order).save_part(folder, keep),
            ),
        )  # fmt: skip
        return Merged(Segment.load(self._path, name), {each.entry.name: each.live for each in parts})

    def replace_merged(self, merge: Merge, merged: Merged) -> None:
        """Let a merged segment replace its parts."""
        self._pending[merge.language].replace_merged(merge.names, merged.kept, merged.segment)

    def set_origin(self, name: str, record: OriginRecord | None) -> None:
        """Record what an origin has, a new one where ``name`` is empty; None: it is no origin any more."""
        if name in (known := records_in(self._old)):
            self._replaced_origins.add(f"{ORIGINS}/{known[name]}/{checksums.FILE}")
        if record is not None:
            folder = new_record(name, self._generation)
            self._written.append(self._path / ORIGINS / folder)
            self._files[f"{ORIGINS}/{folder}/{checksums.FILE}"] = record.write(self._path, folder)

    def commit(self, always: bool = False) -> bool:
        """Write ``commit.json``, which makes the changes valid. False if nothing has changed, unless ``always``."""
        languages = {language: self._entry(language, pending) for language, pending in self._pending.items()}
        old = self._old
        has_new_origin = any(name.startswith(f"{ORIGINS}/") for name in self._files)
        if languages == old.languages and not (always or has_new_origin or self._replaced_origins):
            return False
        notes = {**old.files, **self._files}
        folders = tuple(f"{folder}/" for folder in (SOURCES, SHARED, ORIGINS))
        kept = {name for name in notes if name == MANIFEST or name.startswith(folders)} - self._replaced_origins
        files = {name: notes[name] for name in sorted({*kept, *_named(languages)})}
        Commit(old.identity, self._generation, languages, files).save(self._path)
        self._written = []
        return True

    def _entry(self, language: str, pending: PendingSegments) -> LanguageEntry:
        kept = [each for each in pending.segments if each.live.any()]
        pending.segments, pending.has_gaps = kept, pending.has_gaps or len(kept) < len(pending.segments)
        segments = tuple(self._segment_entry(each) for each in pending.segments)
        if [segment.name for segment in segments] == [segment.name for segment in pending.entry.segments]:
            return LanguageEntry(segments, pending.entry.order_file)  # the rows are those of the last commit
        order_file = ""
        if len(segments) > 1:
            order_file = f"{ORDERS}/{language}.{self._generation}.npy"
            self._write_array(order_file, pending.order)
        return LanguageEntry(segments, order_file)

    def _segment_entry(self, pending: PendingSegment) -> SegmentEntry:
        deleted = int(np.count_nonzero(~pending.live))
        if deleted == pending.entry.deleted:
            return pending.entry
        name = f"{DELETED}/{pending.entry.name}.{self._generation}.npy"
        self._write_array(name, np.packbits(~pending.live))
        return replace(pending.entry, deleted=deleted, deleted_file=name)

    def _write_segment(self, name: str, write: Callable[[], FileNote]) -> None:
        self._written.append(self._path / SEGMENTS / name)
        self._files[f"{SEGMENTS}/{name}/{checksums.FILE}"] = write()

    def _write_array(self, name: str, array: NDArray[Any]) -> None:
        self._written.append(self._path / name)
        (self._path / name).parent.mkdir(exist_ok=True)
        self._files[name] = write_array(self._path, name, array)


def sweep(path: Path, commit: Commit, building: Container[str] = ()) -> None:
    """Remove files that a commit does not name: those it has replaced, and those of a writer that was killed."""
    segments = {segment.name for segment in commit.segments} | set(building)
    kept = {
        SEGMENTS: segments,
        SHARED: set(commit.languages),
        ORIGINS: set(records_in(commit).values()),
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
    """Remove a file or a directory, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _named(languages: Mapping[str, LanguageEntry]) -> Iterator[str]:
    """The files of segments that a commit names."""
    for entry in languages.values():
        if entry.order_file:
            yield entry.order_file
        for segment in entry.segments:
            yield f"{SEGMENTS}/{segment.name}/{checksums.FILE}"
            if segment.deleted_file:
                yield segment.deleted_file

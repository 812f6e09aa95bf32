"""A commit in the making: new files beside those of the last one, taken away again if it does not come about."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Container
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document
from isogloss.index.commit import Commit, LanguageEntry, Merge, SegmentEntry
from isogloss.index.documents import Rows, extended_order
from isogloss.index.manifest import FILE as MANIFEST
from isogloss.index.segments import (
    DELETED,
    ORDERS,
    SEGMENTS,
    SHARED,
    SOURCES,
    Segment,
    new_name,
    pack_deleted,
    save_merged,
    write_array,
    write_parts,
    write_segment,  # fmt: skip
)
from isogloss.retrieval.ranking import Allowed
from isogloss.storage import checksums
from isogloss.storage.checksums import FileNote, write_checksums
from isogloss.storage.files import sync_directory, sync_tree

# The segments of a language while a commit is being made, each with its share of the order of all ids.

Mask = NDArray[np.bool_]


@dataclass
class PendingSegment:
    """A segment as it will be: which of its documents are not deleted, and how its ids compare with all others."""

    segment: Segment
    entry: SegmentEntry
    live: Mask
    order: Rows

    def lose(self, rows: Rows) -> int:
        """Delete some documents, each named once; how many had not been before."""
        lost = int(np.count_nonzero(self.live[rows]))
        if lost:
            self.live = self.live.copy()
            self.live[rows] = False
        return lost


@dataclass
class PendingSegments:
    """The segments of a language, in the order of their rows."""

    entry: LanguageEntry = field(default_factory=LanguageEntry)
    pieces: list[PendingSegment] = field(default_factory=list)
    has_gaps: bool = False
    """Whether the places of some ids among all are taken by none, or by several."""

    @classmethod
    def of(
        cls, entry: LanguageEntry, segments: Mapping[str, Segment], live: Mask | None, order: Rows
    ) -> PendingSegments:
        """What a commit says of a language; ``live`` and ``order`` speak of all its rows."""
        ends = np.cumsum([part.documents for part in entry.segments])
        pieces = []
        for part, end in zip(entry.segments, ends.tolist(), strict=True):
            rows = slice(end - part.documents, end)
            alive = np.ones(part.documents, dtype=bool) if live is None else live[rows]
            pieces.append(PendingSegment(segments[part.name], part, alive, order[rows]))
        return cls(entry, pieces)

    def named(self, names: Iterable[str]) -> list[PendingSegment]:
        """The segments with these names, in the order of their rows."""
        wanted = set(names)
        return [piece for piece in self.pieces if piece.entry.name in wanted]

    def append(self, segment: Segment) -> None:
        """Put a new segment behind the others."""
        added = PendingSegment(segment, SegmentEntry(segment.name, len(segment.store)), *_whole(segment))
        if self.pieces:
            order = extended_order(self.order, [piece.segment.store for piece in self.pieces], segment.store)
            for piece, share in zip([*self.pieces, added], self._shares(order, segment), strict=True):
                piece.order = share
        self.pieces.append(added)

    def put_in_place_of(self, old: Sequence[str], kept: Mapping[str, Mask], segment: Segment) -> None:
        """A segment made of the kept documents of others replaces them; what they have lost since is lost in it."""
        there = {piece.entry.name: piece for piece in self.pieces}
        live, order = [], []
        for name, mask in kept.items():  # a part that is no longer there has lost all its documents
            piece = there.get(name)
            live.append(np.zeros(np.count_nonzero(mask), bool) if piece is None else piece.live[mask])
            order.append(np.zeros(np.count_nonzero(mask), np.int64) if piece is None else piece.order[mask])
        entry = SegmentEntry(segment.name, len(segment.store))
        merged = PendingSegment(segment, entry, np.concatenate(live), np.concatenate(order))
        place = min((i for i, piece in enumerate(self.pieces) if piece.entry.name in old), default=0)
        rest = [piece for piece in self.pieces if piece.entry.name not in old]
        self.pieces = [*rest[:place], merged, *rest[place:]]
        self.has_gaps = True

    @property
    def order(self) -> Rows:
        """The place of each row's id among all ids."""
        values = np.concatenate([np.zeros(0, np.int64), *(piece.order for piece in self.pieces)])
        if not self.has_gaps:
            return values
        order = np.empty(len(values), dtype=np.int64)
        order[np.argsort(values, kind="stable")] = np.arange(len(values))
        return order

    def without_empty(self) -> None:
        """Let go of segments that have lost all their documents."""
        kept = [piece for piece in self.pieces if piece.live.any()]
        self.has_gaps |= len(kept) < len(self.pieces)
        self.pieces = kept

    @property
    def is_rearranged(self) -> bool:
        """Whether the rows are others than they were, and so is their order."""
        return [piece.entry.name for piece in self.pieces] != [segment.name for segment in self.entry.segments]

    def _shares(self, order: Rows, added: Segment) -> list[Rows]:
        counts = [*(piece.entry.documents for piece in self.pieces), len(added.store)]
        return np.split(order, np.cumsum(counts)[:-1])


def with_deleted(entry: SegmentEntry, live: Mask, file: str) -> SegmentEntry:
    """The entry of a segment that has lost documents."""
    return replace(entry, deleted=int(np.count_nonzero(~live)), deleted_file=file)


def _whole(segment: Segment) -> tuple[Mask, Rows]:
    return np.ones(len(segment.store), dtype=bool), segment.store.id_order


SaveMerged = Callable[[Path, list[Segment], Allowed, Rows], None]
"""Writes the system's part of a merged segment: where to, of which segments, which rows to keep, the order of ids."""


class Merged(NamedTuple):
    """A segment made of the kept documents of others."""

    segment: Segment
    kept: dict[str, Allowed]


class CommitWriter:
    """Changes to segments, written but not yet named by ``commit.json``; as a context it cleans up after itself.

    ``drafts`` are the segments of each language as they were at the commit that it starts from.
    """

    def __init__(self, path: Path, commit: Commit, drafts: Mapping[str, PendingSegments]) -> None:
        self._written: list[Path] = []
        self._files: dict[str, FileNote] = {}
        self._path = path
        self.start_from(commit, drafts)

    def start_from(self, commit: Commit, drafts: Mapping[str, PendingSegments]) -> None:
        """Start from a commit; of what was done before only merged segments that have no place yet are kept."""
        self._old, self._drafts = commit, dict(drafts)
        self._generation = commit.generation + 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for path in self._written:
            remove(path)

    def begin_language(self, language: str, save_shared: Callable[[Path], None]) -> None:
        """A language that has no segments yet; what its system needs and no document decides is written first."""
        folder = self._path / SHARED / language
        self._written.append(folder)
        folder.mkdir(parents=True)
        save_shared(folder)
        self._files[f"{SHARED}/{language}/{checksums.FILE}"] = write_checksums(folder)
        sync_tree(folder)
        sync_directory(folder.parent)
        self._drafts[language] = PendingSegments()

    def lose(self, language: str, ids: set[str]) -> int:
        """Delete documents; how many there were."""
        return sum(piece.lose(piece.segment.store.rows_of(ids)) for piece in self._drafts[language].pieces)

    def append(self, language: str, documents: Collection, save_part: Callable[[Path], None]) -> None:
        """Put a segment of new documents behind the others of its language."""
        name = new_name(language, self._generation)
        self._write_segment(name, lambda: write_segment(self._path, name, documents, save_part))
        self._drafts[language].append(Segment.load(self._path, name))

    def take_all(self, language: str) -> list[Document]:
        """The documents of a language that are not deleted, whose segments are then no longer part of it."""
        draft = self._drafts[language]
        found = [piece.segment.store[row] for piece in draft.pieces for row in np.flatnonzero(piece.live).tolist()]
        draft.pieces = []
        return found

    def write_merged(self, merge: Merge, name: str, save_part: SaveMerged) -> Merged:
        """Write one segment of the documents of several that are not deleted."""
        pieces = self._drafts[merge.language].named(merge.names)
        kept = {piece.entry.name: piece.live for piece in pieces}
        keep = np.concatenate([piece.live for piece in pieces])
        segments = [piece.segment for piece in pieces]
        order = PendingSegments(pieces=pieces, has_gaps=True).order
        self._write_segment(
            name,
            lambda: write_parts(
                self._path, name, lambda folder: save_merged(segments, keep, order, folder),
                lambda folder: save_part(folder, segments, keep, order),
            ),
        )  # fmt: skip
        return Merged(Segment.load(self._path, name), kept)

    def put_in_place(self, merge: Merge, merged: Merged) -> None:
        """Let a merged segment replace its parts."""
        self._drafts[merge.language].put_in_place_of(merge.names, merged.kept, merged.segment)

    def commit(self, always: bool = False) -> bool:
        """Write ``commit.json``: from now on it is so. False if nothing has changed, unless one is wanted always."""
        languages = {language: self._entry(language, draft) for language, draft in self._drafts.items()}
        old = self._old
        if languages == old.languages and not always:
            return False
        notes = {**old.files, **self._files}
        kept = {name for name in notes if name == MANIFEST or name.startswith((f"{SOURCES}/", f"{SHARED}/"))}
        files = {name: notes[name] for name in sorted({*kept, *_named(languages)})}
        Commit(old.identity, self._generation, languages, files).save(self._path)
        self._written = []
        return True

    def _entry(self, language: str, draft: PendingSegments) -> LanguageEntry:
        draft.without_empty()
        segments = tuple(self._segment_entry(piece) for piece in draft.pieces)
        if not draft.is_rearranged:
            return LanguageEntry(segments, draft.entry.order_file)
        order_file = ""
        if len(segments) > 1:
            order_file = f"{ORDERS}/{language}.{self._generation}.npy"
            self._write_array(order_file, draft.order)
        return LanguageEntry(segments, order_file)

    def _segment_entry(self, piece: PendingSegment) -> SegmentEntry:
        if np.count_nonzero(~piece.live) == piece.entry.deleted:
            return piece.entry
        name = f"{DELETED}/{piece.entry.name}.{self._generation}.npy"
        self._write_array(name, pack_deleted(~piece.live))
        return with_deleted(piece.entry, piece.live, name)

    def _write_segment(self, name: str, write: Callable[[], FileNote]) -> None:
        self._written.append(self._path / SEGMENTS / name)
        self._files[f"{SEGMENTS}/{name}/{checksums.FILE}"] = write()

    def _write_array(self, name: str, array: NDArray[Any]) -> None:
        self._written.append(self._path / name)
        (self._path / name).parent.mkdir(exist_ok=True)
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


def _named(languages: Mapping[str, LanguageEntry]) -> Iterator[str]:
    """The files of segments that a commit names."""
    for entry in languages.values():
        if entry.order_file:
            yield entry.order_file
        for segment in entry.segments:
            yield f"{SEGMENTS}/{segment.name}/{checksums.FILE}"
            if segment.deleted_file:
                yield segment.deleted_file

"""Segments: documents of one language that were indexed together. They are written once, and mapped for searching.

segments/NAME/arrays.bin, arrays.json         all arrays of the segment in one file, and where each is:
    pages.*, ids.*, id_order.npy              the documents
    fields/                                   the lists of their fields
    system/QUERY_LANGUAGE/                    the system's part: its postings or vectors of them
segments/NAME/system/QUERY_LANGUAGE/          files of the system's part that are no arrays
segments/NAME/checksums.json                  size and hash of every file
deleted/NAME.GENERATION.npy                   a bitmap of its deleted documents, a new file for each change
orders/LANGUAGE.GENERATION.npy                the order of the ids of all segments of a language
shared/LANGUAGE/QUERY_LANGUAGE/               the system's model, which does not depend on the documents
source/QUERY_LANGUAGE/                        documents in the language of the queries, to search with
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection
from isogloss.index.commit import Commit, LanguageEntry, SegmentEntry
from isogloss.index.documents import DocumentStore, Rows
from isogloss.retrieval.field_lists import FOLDER as FIELDS
from isogloss.retrieval.field_lists import build_field_lists
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.retrieval.ranking import Allowed
from isogloss.storage import checksums
from isogloss.storage.array_checks import check_type, check_within
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.checksums import FileNote, note_of, write_checksums
from isogloss.storage.containers import packed
from isogloss.storage.errors import refuse_no_damage
from isogloss.storage.files import sync_directory, sync_tree
from isogloss.storage.strings import save_joined, taken
from isogloss.storage.verifying import OpeningChecks

SEGMENTS, DELETED, ORDERS, SHARED, SOURCES = "segments", "deleted", "orders", "shared", "source"
PART = "system"


@dataclass(frozen=True)
class Segment:
    """An open segment: its documents, the lists of their fields, and the directory of the system's part."""

    name: str
    store: DocumentStore
    fields: Postings
    part: Path

    @classmethod
    def load(cls, index: Path, name: str) -> Segment:
        """Map a segment of an index."""
        directory = index / SEGMENTS / name
        store, fields = DocumentStore.load(directory), Postings.load(directory / FIELDS)
        if fields.document_count != len(store):
            raise ValueError(f"{FIELDS}/lengths.npy does not fit pages.offsets.npy in {directory}")
        return cls(name, store, fields, directory / PART)


def new_name(language: str, generation: int) -> str:
    """A new name for a segment."""
    return f"{language}-{generation}-{secrets.token_hex(4)}"


def write_segment(index: Path, name: str, documents: Collection, save_part: Callable[[Path], None]) -> FileNote:
    """Write documents and the system's part of them, and sync them; the note is of ``checksums.json``."""
    store, fields = DocumentStore.of(documents), build_field_lists(documents)

    def save(directory: Path) -> None:
        store.save(directory)
        fields.save(directory / FIELDS)

    return write_parts(index, name, save, save_part)


def write_parts(index: Path, name: str, save: Callable[[Path], None], save_part: Callable[[Path], None]) -> FileNote:
    """Write a segment: ``save`` gets its directory, ``save_part`` that of the system's part."""
    directory = index / SEGMENTS / name
    (directory / PART).mkdir(parents=True)
    with packed(directory):
        save(directory)
        save_part(directory / PART)
    note = write_checksums(directory)
    sync_tree(directory)
    sync_directory(directory.parent)
    return note


def write_array(index: Path, name: str, array: NDArray[np.generic]) -> FileNote:
    """Write a bitmap or an order, and sync it."""
    path = index / name
    save_array(path, array)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    sync_directory(path.parent)
    return note_of(path)


class SegmentReader:
    """Opens the segments of a commit; ``known`` are some that are open already.

    With ``skip_damaged``, damaged segments are left out, and ``damaged`` has the error of each.
    """

    def __init__(
        self, path: Path, commit: Commit, known: Mapping[str, Segment] | None = None, skip_damaged: bool = False,
        checks: OpeningChecks | None = None,
    ) -> None:  # fmt: skip
        self._path, self._commit, self._known, self._skip_damaged = path, commit, known or {}, skip_damaged
        self._checks = checks or OpeningChecks()
        self.segments: dict[str, Segment] = {}
        self.damaged: list[str] = []

    def whole(self, entry: LanguageEntry) -> list[SegmentEntry]:
        """Open the segments of a language; those that are not damaged."""
        return [segment for segment in entry.segments if self._open(segment)]

    def order(self, entry: LanguageEntry, whole: Sequence[SegmentEntry]) -> Rows:
        """The rank of each of these rows' ids among all."""
        if len(entry.segments) == 1:
            return self.segments[whole[0].name].store.id_order
        self._check_file(entry.order_file)
        order: Rows = load_array(self._path / entry.order_file)
        check_type(order, np.int64, entry.order_file, sum(segment.documents for segment in entry.segments))
        check_within(order, len(order), entry.order_file)
        if len(whole) < len(entry.segments):
            names = {segment.name for segment in whole}
            order = order[np.repeat([s.name in names for s in entry.segments], [s.documents for s in entry.segments])]
            order = np.argsort(np.argsort(order))
        return order

    def _open(self, entry: SegmentEntry) -> bool:
        if entry.name in self._known:
            self.segments[entry.name] = self._known[entry.name]
            return True
        try:
            note = self._commit.files[f"{SEGMENTS}/{entry.name}/{checksums.FILE}"]
            self._checks.check(checksums.check_directory(self._path / SEGMENTS / entry.name, note))
            if entry.deleted_file:
                self._check_file(entry.deleted_file)
            segment = Segment.load(self._path, entry.name)
            if len(segment.store) != entry.documents:
                raise ValueError(f"{entry.name} has {len(segment.store):,} documents, not {entry.documents:,}")
            self.segments[entry.name] = segment
        except (OSError, ValueError, KeyError) as error:
            refuse_no_damage(error)
            if not self._skip_damaged:
                raise
            self.damaged.append(f"{entry.name}: {error}")
            return False
        return True

    def _check_file(self, name: str) -> None:
        file = checksums.NotedFile(self._path / name, self._commit.files[name])
        checksums.check_file(*file)
        if file.note.size > checksums.SMALL:
            self._checks.check([file])

    def live(self, entries: Sequence[SegmentEntry]) -> Allowed | None:
        """Which documents of some segments are not deleted; None if none is."""
        if not any(entry.deleted for entry in entries):
            return None
        return np.concatenate([live_rows(self._path, entry) for entry in entries])


def live_rows(path: Path, entry: SegmentEntry) -> Allowed:
    """Which documents of a segment are not deleted."""
    if not entry.deleted_file:
        return np.ones(entry.documents, dtype=bool)
    bits = load_array(path / entry.deleted_file)
    check_type(bits, np.uint8, entry.deleted_file, -(-entry.documents // 8))
    live = ~np.unpackbits(bits).astype(bool)[: entry.documents]
    if np.count_nonzero(live) != entry.documents - entry.deleted:
        raise ValueError(f"{entry.deleted_file} does not have the {entry.deleted:,} deleted documents of its segment")
    return live


def save_merged(segments: Sequence[Segment], keep: NDArray[np.bool_], order: Rows, directory: Path) -> None:
    """Write the documents to keep of several segments, and the lists of their fields, as one segment.

    ``order`` is the rank of each row's id among all.
    """
    save_joined([segment.store.pages for segment in segments], keep, directory, "pages")
    kept = np.flatnonzero(keep)
    by_id = np.argsort(order[kept])
    save_array(directory / "id_order.npy", np.argsort(by_id))
    stores = [segment.store for segment in segments]
    starts = np.cumsum([0, *map(len, stores)]).tolist()
    in_tables = np.concatenate([store.id_order + start for store, start in zip(stores, starts, strict=False)])
    taken([store.ids for store in stores], in_tables[kept[by_id]]).save(directory, "ids")
    JoinedPostings([segment.fields for segment in segments]).merged(keep).save(directory / FIELDS)

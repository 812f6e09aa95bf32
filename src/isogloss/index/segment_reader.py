"""The segments of a commit being opened: everything is mapped, nothing is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.base.arrays import load_array
from isogloss.evaluation.system import Allowed
from isogloss.index import checksums
from isogloss.index.commit import Commit, LanguageEntry, SegmentEntry
from isogloss.index.segments import SEGMENTS, Segment, read_deleted
from isogloss.index.store import DocumentStore, Rows
from isogloss.lexical.joined_postings import JoinedPostings


class OpenRows(NamedTuple):
    """The rows of a language: its segments one after the other, and which rows are not deleted."""

    segments: Sequence[Segment]
    live: Allowed | None

    @property
    def stores(self) -> list[DocumentStore]:
        """The documents of each segment."""
        return [segment.store for segment in self.segments]

    @property
    def fields(self) -> JoinedPostings:
        """The lists of their fields."""
        return JoinedPostings([segment.fields for segment in self.segments])

    @property
    def parts(self) -> list[Path]:
        """Where what was made of them is."""
        return [segment.part for segment in self.segments]


class SegmentReader:
    """Opens the segments of a commit; ``known`` are some that are open already.

    With ``skip_damaged`` those that are not whole are left out, and ``damaged`` says what is wrong with each.
    """

    def __init__(
        self, path: Path, commit: Commit, known: Mapping[str, Segment] | None = None, skip_damaged: bool = False
    ) -> None:
        self._path, self._commit, self._known, self._skip_damaged = path, commit, known or {}, skip_damaged
        self.segments: dict[str, Segment] = {}
        self.damaged: list[str] = []

    def whole(self, entry: LanguageEntry) -> list[SegmentEntry]:
        """Those segments of a language that are whole; they are open then."""
        return [segment for segment in entry.segments if self._open(segment)]

    def rows(self, whole: Sequence[SegmentEntry]) -> OpenRows:
        """The rows of the whole segments of a language."""
        return OpenRows([self.segments[segment.name] for segment in whole], self._live(whole))

    def order(self, entry: LanguageEntry, whole: Sequence[SegmentEntry]) -> Rows:
        """The place of each of these rows' ids among all."""
        if len(entry.segments) == 1:
            return self.segments[whole[0].name].store.id_order
        checksums.check_file(self._path / entry.order_file, self._commit.files[entry.order_file])
        order: Rows = load_array(self._path / entry.order_file)
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
            checksums.check_directory(self._path / SEGMENTS / entry.name, note)
            if entry.deleted_file:
                checksums.check_file(self._path / entry.deleted_file, self._commit.files[entry.deleted_file])
            self.segments[entry.name] = Segment.load(self._path, entry.name)
        except (OSError, ValueError, KeyError) as error:
            if not self._skip_damaged:
                raise
            self.damaged.append(f"{entry.name}: {error}")
            return False
        return True

    def _live(self, entries: Sequence[SegmentEntry]) -> Allowed | None:
        if not any(entry.deleted for entry in entries):
            return None
        return np.concatenate([live_rows(self._path, entry) for entry in entries])


def live_rows(path: Path, entry: SegmentEntry) -> Allowed:
    """Which documents of a segment are not deleted."""
    if not entry.deleted_file:
        return np.ones(entry.documents, dtype=bool)
    return ~read_deleted(path, entry.deleted_file)[: entry.documents]

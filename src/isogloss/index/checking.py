"""Checking an index, by the checksum of every file and array; and repairing one with damaged files, in one commit.

A damaged segment is no longer part of a repaired index. If its texts are undamaged, its documents are indexed anew; if
not, their ids are reported, so that they can be added again. A document whose text may have changed is not kept, nor
one that may have been deleted. The model of a language cannot be restored from the index itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document
from isogloss.index.commit import Commit, SegmentEntry
from isogloss.index.commit_writer import CommitWriter, PendingSegment, PendingSegments, remove, sweep
from isogloss.index.documents import read_page, sorted_order
from isogloss.index.lock import WriteLock
from isogloss.index.manifest import COPY, Manifest
from isogloss.index.manifest import FILE as MANIFEST
from isogloss.index.origins import FOLDER as ORIGINS
from isogloss.index.origins import Key, OriginRecord, load_origins
from isogloss.index.reader import load_systems
from isogloss.index.segments import DELETED, ORDERS, SEGMENTS, Segment, live_rows
from isogloss.storage import checksums
from isogloss.storage.arrays import load_array
from isogloss.storage.checksums import (
    FILE,
    FileNote,
    NotedFile,
    check_directory,
    check_file,
    noted_files,
    whole_arrays,
)  # fmt: skip
from isogloss.storage.containers import DATA
from isogloss.storage.errors import DamagedFileError, InputError, refuse_no_damage
from isogloss.storage.files import read_regular, write_bytes
from isogloss.storage.progress import track
from isogloss.storage.strings import StringTable
from isogloss.storage.verifying import LargeFile

_PAGES, _IDS = ({f"{table}.{part}.npy" for part in ("bytes", "offsets")} for table in ("pages", "ids"))


def check_index(path: Path) -> tuple[int, list[str]]:
    """The number of files of an index, and the problems of those that are damaged.

    What is whole is remembered: it is not compared again when the index is opened.
    """
    Manifest.load(path)
    commit = Commit.load(path)
    files: list[tuple[Path, FileNote]] = []
    problems: dict[str, None] = dict.fromkeys(map(str, Commit.problems(path)))
    for file, note in ((path / name, note) for name, note in commit.files.items()):
        files.append((file, note))
        if file.name == FILE:
            try:
                files.extend(noted_files(file.parent, note))
            except (OSError, ValueError) as error:
                refuse_no_damage(error)
                problems[_sentence(file, error)] = None
    for file, note in track(files, "checking"):
        try:
            if note.size > checksums.SMALL:
                LargeFile.of(NotedFile(file, note)).verify()
            else:
                check_file(file, note, hashes=True)
        except (OSError, ValueError) as error:
            refuse_no_damage(error)
            problems[_sentence(file, error)] = None
    if problems and Commit.load(path) != commit:
        return check_index(path)  # a writer has removed files in between
    return len(files), list(problems)


def _sentence(file: Path, error: Exception) -> str:
    if isinstance(error, DamagedFileError):
        return str(error)
    return (
        f"{error.filename} is missing" if isinstance(error, FileNotFoundError) else f"{file} cannot be read ({error})"
    )


@dataclass
class Repair:
    """The problems found, the number of documents indexed anew, and the ids of those that have to be added again."""

    problems: list[str] = field(default_factory=list)
    restored: dict[str, int] = field(default_factory=dict)
    lost: dict[str, list[str]] = field(default_factory=dict)
    unnamed: int = 0
    """The number of lost documents without a known id."""


@dataclass
class _Found:
    """What is left of the segments of a language: undamaged ones, documents of damaged ones, and lost ids."""

    whole: list[PendingSegment] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def repair_index(path: Path | str) -> Repair:
    """Repair an index, if it is damaged; an error where that is not possible."""
    path = Path(path)
    manifest = Manifest.load(path)
    if manifest.engine is not None:
        raise InputError(f"{path}: its documents are in an engine, which has its own ways of repair")
    with WriteLock(path):
        return _Repairing(path, manifest).done()


class _Repairing:
    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path, self._commit = path, Commit.load(path)
        self._manifest = Manifest.load(path, self._commit.files.get(MANIFEST, manifest.note))
        self._repair = Repair()
        self._lost_origins: tuple[str, ...] = ()

    def done(self) -> Repair:
        self._repair.problems += map(str, Commit.problems(self._path))
        self._check_the_rest()
        found = {language: _Found() for language in self._commit.languages}
        entries = [(name, each) for name, entry in self._commit.languages.items() for each in entry.segments]
        for language, entry in track(entries, "checking"):
            self._inspect(entry, found[language])
        if self._repair.problems:
            self._write(found)
        return self._repair

    def _check_the_rest(self) -> None:
        """Raise if a file is damaged that cannot be restored; note what can be: orders of ids, and origins.

        An origin that is damaged is dropped. 'isogloss sync --from' reads it anew, and finds its documents there.
        """
        for name, note in self._commit.files.items():
            if name.startswith((f"{SEGMENTS}/", f"{DELETED}/")):
                continue
            try:
                check_file(self._path / name, note, hashes=True)
                if Path(name).name == FILE:
                    check_directory((self._path / name).parent, note, hashes=True)
            except (OSError, ValueError) as error:
                refuse_no_damage(error)
                if name == MANIFEST:  # its copy has this note, or it would not have been opened
                    remove(self._path / name)
                    write_bytes(self._path / name, read_regular(self._path / COPY))
                elif name.startswith(f"{ORIGINS}/"):
                    self._lost_origins += (name,)
                elif not name.startswith(f"{ORDERS}/"):
                    what = "restore it from a copy, or make the index again with 'isogloss index'"
                    raise InputError(f"{self._path}: cannot be mended: {_damage(error)}; {what}") from error
                self._repair.problems.append(_damage(error))

    def _inspect(self, entry: SegmentEntry, found: _Found) -> None:
        """Add a segment, or what is left of it, to what was found."""
        live = self._live(entry)
        folder = self._path / SEGMENTS / entry.name
        try:
            check_directory(folder, self._commit.files[f"{SEGMENTS}/{entry.name}/{FILE}"], hashes=True)
            if live is not None:
                segment = Segment.load(self._path, entry.name)
                found.whole.append(PendingSegment(segment, entry, live, np.zeros(0, np.int64)))
                return
        except (OSError, ValueError) as error:
            refuse_no_damage(error)
            self._repair.problems.append(_damage(error))
        whole = self._whole_arrays(entry)
        if live is not None and whole >= _PAGES:
            pages = StringTable.load(folder, "pages")
            found.documents += [read_page(pages, row) for row in np.flatnonzero(live).tolist()]
        elif whole >= _IDS:
            ids = list(StringTable.load(folder, "ids"))
            known = live is not None and "id_order.npy" in whole  # then deleted ids are left out
            found.lost += [ids[i] for i in load_array(folder / "id_order.npy")[live].tolist()] if known else ids
        else:
            self._repair.unnamed += entry.live

    def _live(self, entry: SegmentEntry) -> NDArray[np.bool_] | None:
        """Which documents of a segment are not deleted; None if the bitmap is damaged."""
        try:
            if entry.deleted_file:
                check_file(self._path / entry.deleted_file, self._commit.files[entry.deleted_file], hashes=True)
            return live_rows(self._path, entry)
        except (OSError, ValueError) as error:
            refuse_no_damage(error)
            self._repair.problems.append(_damage(error))
            return None

    def _whole_arrays(self, entry: SegmentEntry) -> set[str]:
        folder = self._path / SEGMENTS / entry.name
        try:
            notes = dict(noted_files(folder, self._commit.files[f"{SEGMENTS}/{entry.name}/{FILE}"]))
            return whole_arrays(folder / DATA, notes[folder / DATA])
        except (OSError, ValueError, KeyError) as error:
            refuse_no_damage(error)
            return set()

    def _write(self, found: dict[str, _Found]) -> None:
        """Commit the undamaged segments, and one more of the documents that are indexed anew."""
        with CommitWriter(self._path, self._commit, {name: _pending(each) for name, each in found.items()}) as writer:
            for language, left in found.items():
                if left.documents:
                    systems = load_systems(self._path, self._manifest, language)
                    documents = Collection(left.documents, language)
                    systems.index(documents, self._manifest.fields)
                    writer.append(language, documents, systems.save_part)
                    self._repair.restored[language] = len(documents)
                if lost := _not_replaced(left):
                    self._repair.lost[language] = lost
            for name, record in self._origins().items():
                writer.set_origin(name, record)
            writer.commit(always=True)
        sweep(self._path, Commit.load(self._path))

    def _origins(self) -> dict[str, OriginRecord | None]:
        """The origins that are damaged, and those that have documents which were lost: 'isogloss sync' adds them."""
        files = {name: note for name, note in self._commit.files.items() if not name.startswith(self._lost_origins)}
        lost = {Key(language, id_) for language, ids in self._repair.lost.items() for id_ in ids}
        found: dict[str, OriginRecord | None] = {
            name: record.to_be_read(None if self._repair.unnamed else lost)
            for name, record in load_origins(self._path, replace(self._commit, files=files)).items()
            if lost or self._repair.unnamed
        }
        return found | {name.split("/")[1].partition("-")[0]: None for name in self._lost_origins}


def _pending(found: _Found) -> PendingSegments:
    """The undamaged segments, with the order of their ids computed anew."""
    if found.whole:
        order = sorted_order([each.segment.store for each in found.whole])
        ends = np.cumsum([len(each.live) for each in found.whole])
        for each, share in zip(found.whole, np.split(order, ends[:-1]), strict=True):
            each.order = share
    return PendingSegments(segments=found.whole)


def _not_replaced(found: _Found) -> list[str]:
    """Those lost ids that no other segment has: a document may have been replaced."""
    kept = {document.id for document in found.documents}
    rows = ((id_, each.live, each.segment.store.find(id_)) for id_ in found.lost for each in found.whole)
    kept |= {id_ for id_, live, row in rows if row is not None and live[row]}
    return [id_ for id_ in dict.fromkeys(found.lost) if id_ not in kept]


def _damage(error: Exception) -> str:
    return f"{error.filename} is missing" if isinstance(error, FileNotFoundError) else str(error)

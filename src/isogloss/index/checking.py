"""Whether an index is what was written: every file is read and its checksum compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document
from isogloss.index.commit import Commit, SegmentEntry
from isogloss.index.commit_writer import CommitWriter, PendingSegment, PendingSegments, sweep
from isogloss.index.documents import read_page, sorted_order
from isogloss.index.lock import WriteLock
from isogloss.index.manifest import Manifest
from isogloss.index.reader import bare_system
from isogloss.index.segments import DELETED, ORDERS, SEGMENTS, SHARED, Segment, live_rows
from isogloss.storage import checksums
from isogloss.storage.arrays import load_array
from isogloss.storage.checksums import FILE, DamagedFileError, FileNote, check_directory, check_file, noted_files
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.storage.strings import StringTable


def check_index(path: Path) -> tuple[int, list[str]]:
    """How many files an index has, and what is wrong with those that are not as they were written."""
    Manifest.load(path)
    commit = Commit.load(path)
    files, problems = _all_files(path, commit)
    for file, note in track(files, "checking"):
        problem = _problem(file, note)
        if problem and problem not in problems:
            problems.append(problem)
    if problems and Commit.load(path) != commit:
        return check_index(path)  # a writer has taken files away in between
    return len(files), problems


def _all_files(path: Path, commit: Commit) -> tuple[list[tuple[Path, FileNote]], list[str]]:
    files, problems = [], []
    for name, note in commit.files.items():
        file = path / name
        files.append((file, note))
        if file.name == FILE:
            try:
                files.extend(noted_files(file.parent, note))
            except (OSError, ValueError) as error:
                problems.append(_sentence(file, error))
    return files, problems


def _problem(file: Path, note: FileNote) -> str:
    try:
        check_file(file, note, hashes=True)
    except (OSError, ValueError) as error:
        return _sentence(file, error)
    return ""


def _sentence(file: Path, error: Exception) -> str:
    if isinstance(error, DamagedFileError):
        return str(error)
    return f"{file} {'is missing' if isinstance(error, FileNotFoundError) else f'cannot be read ({error})'}"


# Mending an index of which files are damaged: what can be made again is, the rest is named, in one commit.
#
# A segment that is not as it was written is no longer part of the index. If its texts are whole its documents are
# indexed anew; if not, their ids are told, so that they can be added again. Nothing is guessed: a document whose text
# may have changed is not kept, nor one of which it is not known whether it was deleted. What no document decides, the
# model of a language above all, cannot be made again from an index.

_PAGES, _IDS = ({f"{table}.{part}.npy" for part in ("bytes", "offsets")} for table in ("pages", "ids"))


@dataclass
class Repair:
    """What was wrong, how many documents were indexed anew, and the ids of those that have to be added again."""

    problems: list[str] = field(default_factory=list)
    restored: dict[str, int] = field(default_factory=dict)
    lost: dict[str, list[str]] = field(default_factory=dict)
    unnamed: int = 0
    """Documents that are lost and of which not even the id is left."""


@dataclass
class _Found:
    """What is left of the segments of a language."""

    whole: list[PendingSegment] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def repair_index(path: Path | str) -> Repair:
    """Mend an index, if it needs to be; an error where that is not possible."""
    path = Path(path)
    manifest = Manifest.load(path)
    if manifest.store is not None:
        raise InputError(f"{path}: its documents are in a store, which has its own ways to be mended")
    with WriteLock(path):
        return _Repairing(path, manifest).done()


class _Repairing:
    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path, self._manifest, self._commit = path, manifest, Commit.load(path)
        self._repair = Repair()

    def done(self) -> Repair:
        self._check_the_rest()
        found = {language: _Found() for language in self._commit.languages}
        entries = [(name, each) for name, entry in self._commit.languages.items() for each in entry.segments]
        for language, entry in track(entries, "checking"):
            self._look_at(entry, found[language])
        if self._repair.problems:
            self._write(found)
        return self._repair

    def _check_the_rest(self) -> None:
        """Raise for what cannot be made again; note an order of ids, which can."""
        for name, note in self._commit.files.items():
            if name.startswith((f"{SEGMENTS}/", f"{DELETED}/")):
                continue
            try:
                check_file(self._path / name, note, hashes=True)
                if Path(name).name == checksums.FILE:
                    check_directory((self._path / name).parent, note, hashes=True)
            except (OSError, ValueError) as error:
                if not name.startswith(f"{ORDERS}/"):
                    what = "restore it from a copy, or make the index again with 'isogloss index'"
                    raise InputError(f"{self._path}: cannot be mended: {_damage(error)}; {what}") from error
                self._repair.problems.append(_damage(error))

    def _look_at(self, entry: SegmentEntry, found: _Found) -> None:
        """Take a segment as it is, or what is left of it."""
        live = self._live(entry)
        folder = self._path / SEGMENTS / entry.name
        try:
            check_directory(folder, self._commit.files[f"{SEGMENTS}/{entry.name}/{checksums.FILE}"], hashes=True)
            if live is not None:
                found.whole.append(
                    PendingSegment(Segment.load(self._path, entry.name), entry, live, np.zeros(0, np.int64))
                )
                return
        except (OSError, ValueError) as error:
            self._repair.problems.append(_damage(error))
        whole = set(self._whole_files(entry))
        if live is not None and whole >= _PAGES:
            pages = StringTable.load(folder, "pages")
            found.documents += [read_page(pages, row) for row in np.flatnonzero(live).tolist()]
        elif whole >= _IDS:
            found.lost += _ids(folder, live if "id_order.npy" in whole else None)
        else:
            self._repair.unnamed += entry.live

    def _live(self, entry: SegmentEntry) -> NDArray[np.bool_] | None:
        """Which documents of a segment are not deleted; None where that cannot be known."""
        try:
            if entry.deleted_file:
                check_file(self._path / entry.deleted_file, self._commit.files[entry.deleted_file], hashes=True)
            return live_rows(self._path, entry)
        except (OSError, ValueError) as error:
            self._repair.problems.append(_damage(error))
            return None

    def _whole_files(self, entry: SegmentEntry) -> Iterator[str]:
        folder = self._path / SEGMENTS / entry.name
        with suppress(OSError, ValueError):
            for file, note in noted_files(folder, self._commit.files[f"{SEGMENTS}/{entry.name}/{checksums.FILE}"]):
                with suppress(OSError, ValueError):
                    check_file(file, note, hashes=True)
                    yield file.relative_to(folder).as_posix()

    def _write(self, found: dict[str, _Found]) -> None:
        """One commit: the whole segments, and one more of the documents that are indexed anew."""
        with CommitWriter(self._path, self._commit, {name: _draft(each) for name, each in found.items()}) as writer:
            for language, left in found.items():
                if left.documents:
                    system = bare_system(self._manifest, language).load_shared(self._path / SHARED / language)
                    documents = Collection(left.documents, language)
                    system.index(documents, self._manifest.fields)
                    writer.append(language, documents, system.save_part)
                    self._repair.restored[language] = len(documents)
                if lost := _without_those_there(left):
                    self._repair.lost[language] = lost
            writer.commit(always=True)
        sweep(self._path, Commit.load(self._path))


def _draft(found: _Found) -> PendingSegments:
    """The whole segments, with the order of their ids worked out anew."""
    order = sorted_order([piece.segment.store for piece in found.whole]) if found.whole else np.zeros(0, np.int64)
    ends = np.cumsum([len(piece.live) for piece in found.whole])
    for piece, end in zip(found.whole, ends.tolist(), strict=True):
        piece.order = order[end - len(piece.live) : end]
    return PendingSegments(pieces=found.whole)


def _ids(folder: Path, live: NDArray[np.bool_] | None) -> list[str]:
    """The ids of a segment's documents, without the deleted where it is known which they are."""
    ids = list(StringTable.load(folder, "ids"))
    return ids if live is None else [ids[place] for place in load_array(folder / "id_order.npy")[live].tolist()]


def _without_those_there(found: _Found) -> list[str]:
    """Of the ids that may be lost those that no other segment has: a document may have been replaced."""
    there = {document.id for document in found.documents}
    stores = [(piece.segment.store, piece.live) for piece in found.whole]
    rows = ((store, live, store.find(id_), id_) for id_ in found.lost for store, live in stores)
    there |= {id_ for _, live, row, id_ in rows if row is not None and live[row]}
    return [id_ for id_ in dict.fromkeys(found.lost) if id_ not in there]


def _damage(error: Exception) -> str:
    return f"{error.filename} is missing" if isinstance(error, FileNotFoundError) else str(error)

"""Bringing an index of the first format up to the one that can be changed. Whoever calls this holds its lock.

The new files are written beside the old ones; to replace ``index.json`` is what makes them count, and only then are the
old ones taken away.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from isogloss.base.errors import InputError
from isogloss.base.files import sync_directory, sync_tree
from isogloss.base.progress import track
from isogloss.corpus.collection import Collection
from isogloss.index import checksums
from isogloss.index.checksums import FileNote, write_checksums
from isogloss.index.commit import Commit, LanguageEntry, SegmentEntry
from isogloss.index.commit_writer import remove
from isogloss.index.lock import WriteLock
from isogloss.index.manifest import FILE, FORMAT, Manifest
from isogloss.index.segments import FOLDERS, SEGMENTS, SHARED, SOURCES, new_name, write_segment
from isogloss.indexing.reader import open_index
from isogloss.search.shelf import MappedShelf, Shelf


def upgrade_index(path: Path) -> bool:
    """Bring an index up to the current format; False if it has that."""
    Manifest.load(path)
    with WriteLock(path):
        if Manifest.load(path).format == FORMAT:
            return False
        upgrade_in_place(path)
    return True


def upgrade_in_place(path: Path) -> None:
    """The same for the holder of the lock."""
    index = open_index(path)
    for folder in FOLDERS:
        if folder != SOURCES:
            remove(path / folder)  # what an upgrade that was killed has left
    files: dict[str, FileNote] = {}
    languages = {language: _upgraded(path, language, shelf, files) for language, shelf in index.engine.shelves.items()}
    if index.manifest.sources:
        files[f"{SOURCES}/{checksums.FILE}"] = write_checksums(path / SOURCES)
        sync_tree(path / SOURCES)
    identity = secrets.token_hex(8)
    manifest = replace(index.manifest, format=FORMAT, identity=identity)
    Commit(identity, 1, languages, {FILE: manifest.note, **files}).save(path)
    manifest.save(path)
    for language in languages:
        remove(path / language)


def _upgraded(path: Path, language: str, shelf: Shelf[Any], files: dict[str, FileNote]) -> LanguageEntry:
    assert isinstance(shelf, MappedShelf)
    if language in FOLDERS:
        raise InputError(f"{path}: the language {language!r} cannot be brought up; make the index again")
    system, store, name = shelf.system, shelf.store, new_name(language, 1)
    shared = path / SHARED / language
    shared.mkdir(parents=True)
    system.save_shared(shared)
    files[f"{SHARED}/{language}/{checksums.FILE}"] = write_checksums(shared)
    sync_tree(shared.parent)
    rows = track(range(len(store)), f"bringing up {len(store):,} documents")
    documents = Collection((store[row] for row in rows), language)
    files[f"{SEGMENTS}/{name}/{checksums.FILE}"] = write_segment(path, name, documents, system.save_part)
    sync_directory(path)
    return LanguageEntry((SegmentEntry(name, len(documents)),))

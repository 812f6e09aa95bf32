"""Segments: documents of one language that were indexed together. Written once, mapped by whoever searches.

segments/NAME/pages.*, ids.*, id_order.npy    the documents
segments/NAME/fields/                         the lists of their fields
segments/NAME/system/                         what the system made of them
segments/NAME/checksums.json                  size and hash of every file
deleted/NAME.GENERATION.npy                   which of its documents are gone, a new file for each change
orders/LANGUAGE.GENERATION.npy                the order of the ids of all segments of a language (not in a store)
shared/LANGUAGE/                              what the system needs and no document decides
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.arrays import load_array, save_array
from isogloss.base.errors import InputError
from isogloss.base.files import sync_directory, sync_tree
from isogloss.corpus.collection import Collection
from isogloss.index.checksums import FileNote, note_of, write_checksums
from isogloss.index.field_lists import FOLDER as FIELDS
from isogloss.index.field_lists import build_field_lists
from isogloss.index.store import DocumentStore
from isogloss.lexical.postings import Postings

SEGMENTS, DELETED, ORDERS, SHARED, SOURCES = "segments", "deleted", "orders", "shared", "source"
FOLDERS = (SEGMENTS, DELETED, ORDERS, SHARED, SOURCES)
PART = "system"
_LONGEST_LANGUAGE = 35  # as RFC 5646 advises


@dataclass(frozen=True)
class Segment:
    """A segment that is open: its documents, the lists of their fields, and where the system's part is."""

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


def check_language(language: str) -> None:
    """Raise unless it can be a language: each becomes a folder of an index."""
    if not language.replace("-", "").isalnum() or len(language) > _LONGEST_LANGUAGE or language in FOLDERS:
        raise InputError(f"language: {language!r} is not a language code, like fr or zh")


def new_name(language: str, generation: int) -> str:
    """A name that no segment ever had."""
    return f"{language}-{generation}-{secrets.token_hex(4)}"


def write_segment(index: Path, name: str, documents: Collection, save_part: Callable[[Path], None]) -> FileNote:
    """Write documents and the system's part of them, down to the disk; what is noted is ``checksums.json``."""
    store, fields = DocumentStore.of(documents), build_field_lists(documents)

    def save(directory: Path) -> None:
        store.save(directory)
        fields.save(directory / FIELDS)

    return write_parts(index, name, save, save_part)


def write_parts(index: Path, name: str, save: Callable[[Path], None], save_part: Callable[[Path], None]) -> FileNote:
    """Write a segment: ``save`` gets its directory, ``save_part`` that of the system's part."""
    directory = index / SEGMENTS / name
    for folder in (FIELDS, PART):
        (directory / folder).mkdir(parents=True)
    save(directory)
    save_part(directory / PART)
    note = write_checksums(directory)
    sync_tree(directory)
    sync_directory(directory.parent)
    return note


def write_array(index: Path, name: str, array: NDArray[np.generic]) -> FileNote:
    """Write a bitmap or an order, down to the disk."""
    path = index / name
    save_array(path, array)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    sync_directory(path.parent)
    return note_of(path)


def read_deleted(index: Path, name: str) -> NDArray[np.bool_]:
    """Which documents of a segment are gone."""
    return np.unpackbits(load_array(index / name)).astype(bool)


def pack_deleted(deleted: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The same as the bits of bytes, to be written."""
    return np.packbits(deleted)

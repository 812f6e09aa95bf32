"""``checksums.json``: the size and hash of every file of a directory that never changes, to find damaged files.

Whenever an index is opened sizes are compared, and hashes of what is small. What is large is compared once
(:mod:`isogloss.storage.verifying`). ``isogloss check`` compares all. The hash of a container
(:mod:`isogloss.storage.containers`) is that of its ``arrays.json``, which has the hash of each array.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from isogloss.storage.containers import CONTENTS, DATA, Container, contents_hash, damaged_arrays
from isogloss.storage.errors import DamagedFileError
from isogloss.storage.files import open_regular, read_json

FILE = "checksums.json"
SMALL = 2**20  # bytes
_BLOCK = 2**20


_INSIDE = re.compile(r"(?!(.*/)?\.\.?(/|$))[^/\0]+(/[^/\0]+)*")  # the path of a file below a folder


class FileNote(NamedTuple):
    """The size of a file in bytes, and the hash of its content."""

    size: int
    hash: str


class NotedFile(NamedTuple):
    """A file with its note."""

    path: Path
    note: FileNote


def note_of(path: Path) -> FileNote:
    """The size and hash of a file."""
    if path.name == DATA:
        return FileNote(path.stat().st_size, contents_hash(path.parent))
    digest, size = blake2b(digest_size=16), 0
    with open_regular(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return FileNote(size, digest.hexdigest())


def note_of_bytes(content: bytes) -> FileNote:
    """The size and hash of a file with this content."""
    return FileNote(len(content), blake2b(content, digest_size=16).hexdigest())


def write_checksums(directory: Path) -> FileNote:
    """Write the size and hash of every file below a directory into its ``checksums.json``; returns those of that file.

    The same files give the same ``checksums.json``, so its hash identifies the whole directory.
    """
    notes = {name: note_of(directory / name) for name in sorted(_files(directory))}
    path = directory / FILE
    path.write_text(json.dumps(notes, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    return note_of(path)


def check_directory(directory: Path, note: FileNote, hashes: bool = False) -> list[NotedFile]:
    """Raise for the first file that is missing, of another size or, small or with ``hashes``, of another content.

    Returns the files of which not all was compared.
    """
    files = list(noted_files(directory, note))
    for path, noted in files:
        check_file(path, noted, hashes)
    return [] if hashes else [NotedFile(path, noted) for path, noted in files if noted.size > SMALL]


def noted_files(directory: Path, note: FileNote) -> Iterator[tuple[Path, FileNote]]:
    """Every file of a directory with its noted size and hash; ``note`` is that of ``checksums.json``."""
    path = directory / FILE
    check_file(path, note, hashes=True)
    try:
        files = {name: FileNote(*noted) for name, noted in read_json(path).items()}
    except (AttributeError, TypeError) as error:
        raise DamagedFileError(path, f"is not a list of files ({error})") from error
    for name, noted in files.items():
        check_note(path, name, noted)
        yield directory / name, noted


def check_note(path: Path, name: str, note: FileNote) -> None:
    """Raise unless a note, found in a file with this path, can be that of a file below its folder."""
    if type(note.size) is not int or type(note.hash) is not str or not _INSIDE.fullmatch(name):
        raise DamagedFileError(path, f"is not a list of files ({name!a})")


def check_file(path: Path, note: FileNote, hashes: bool = False) -> None:
    """Raise if a file is missing, of another size or, if it is small or with ``hashes``, of another content."""
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise DamagedFileError(path, "is not a file")
    size = status.st_size
    if size != note.size:
        raise DamagedFileError(path, f"has {size:,} bytes, {note.size:,} were written")
    if path.name == DATA:
        damaged = damaged_arrays(path.parent, note.hash, None if hashes else SMALL)
        if damaged:
            raise DamagedFileError(path, f"is not what was written (the checksum of {', '.join(damaged)} differs)")
    elif (hashes or size <= SMALL) and note_of(path) != note:
        raise DamagedFileError(path, "is not what was written (its checksum differs)")


def whole_arrays(path: Path, note: FileNote) -> set[str]:
    """The arrays of a container that are as they were written, whatever happened to the others."""
    damaged = damaged_arrays(path.parent, note.hash)
    return Container.open(path.parent).entries.keys() - damaged


def _files(directory: Path) -> Iterator[str]:
    for root, _, names in os.walk(directory):
        for name in names:
            path = Path(root, name)
            if path != directory / FILE and name != CONTENTS:
                yield path.relative_to(directory).as_posix()

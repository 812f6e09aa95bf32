"""The folders and files that an index was made of, its origins: what each had when it was read last.

origins/NAME-GENERATION/origin.json           the source as the user wrote it, and how it was read
origins/NAME-GENERATION/arrays.bin, …         paths.* and states.*: its files, each with its status and hash
                                              documents.* and files.npy: the documents, each with its file

``commit.json`` names them with the documents themselves: what is recorded of an origin and what was made of it are
always of the same commit. A change writes a new folder. Sources whose files are read one by one have the file of each
document; of others, such as JSON lines, all documents have the first file.

An origin in an index says where documents came from. It never decides what is read: see
:mod:`isogloss.index.named_origins`.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.index.commit import Commit
from isogloss.storage import checksums
from isogloss.storage.array_checks import check_type, check_within
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.checksums import FileNote, write_checksums
from isogloss.storage.containers import packed
from isogloss.storage.errors import DamagedFileError, DamagedIndexError, refuse_no_damage
from isogloss.storage.file_states import HASH_SIZE, UNKNOWN, FileState, Status
from isogloss.storage.files import read_json, sync_directory, sync_tree
from isogloss.storage.json_types import check_types
from isogloss.storage.strings import StringTable

FOLDER = "origins"
FILE = "origin.json"
_STATUS_SIZE = len(Status._fields)
_MOST = 1_000  # characters of a source, and languages


class Key(NamedTuple):
    """A document of an index."""

    language: str
    id: str


@dataclass(frozen=True)
class Origin:
    """A source of documents, and how it is read."""

    source: str
    """``folder:/srv/manuals``: the format, and the whole path."""
    languages: tuple[str, ...] = ()
    """Those that the user has named; none where they are detected."""
    skip_bad: bool = False
    translated: bool = False
    """Whether the index was made with translations: then files in a language of the queries are no documents."""
    read_at: float = 0.0
    """When it was read last, in seconds since 1970."""

    @property
    def where(self) -> Path:
        """The folder or file."""
        return Path(self.source.partition(":")[2])

    @property
    def format(self) -> str:
        """The name of the format."""
        return self.source.partition(":")[0]


@dataclass(frozen=True)
class OriginRecord:
    """An origin as it was read last. Nothing is in memory: what is mapped is read where it is asked for."""

    origin: Origin
    paths: StringTable
    statuses: NDArray[np.int64]
    hashes: NDArray[np.uint8]
    documents: StringTable
    files: NDArray[np.int64]

    @classmethod
    def of(cls, origin: Origin, states: Mapping[str, FileState], claims: Mapping[Key, str]) -> OriginRecord:
        """``states``: each file by its path in the origin; ``claims``: each document with its file."""
        paths, keys = sorted(states, key=_encoded), sorted(claims, key=lambda key: _encoded(_written(key)))
        number = {path: each for each, path in enumerate(paths)}
        hashes = b"".join(states[path].hash for path in paths)
        return cls(
            origin,
            StringTable.of(paths),
            np.asarray([states[path].status for path in paths], np.int64).reshape(-1),
            np.frombuffer(hashes, np.uint8),
            StringTable.of(map(_written, keys)),
            np.asarray([number[claims[key]] for key in keys], np.int64),
        )

    @property
    def folder(self) -> Path:
        """The folder that paths of files are relative to."""
        where, only = self.origin.where, len(self.paths) == 1 and self.paths[0]
        return where.parent if only in (where.name, f"{where.name}.gz") else where

    def states(self) -> dict[str, FileState]:
        """The state of each file, by its path in the origin."""
        statuses, hashes = self.statuses.reshape(-1, _STATUS_SIZE).tolist(), self.hashes.tobytes()
        return {
            _checked(path): FileState(Status(*status), hashes[HASH_SIZE * row : HASH_SIZE * (row + 1)])
            for row, (path, status) in enumerate(zip(self.paths, statuses, strict=True))
        }

    def claims(self) -> dict[Key, str]:
        """Each document, and the file that it is from."""
        paths = list(map(_checked, self.paths))
        return {
            _read_key(written): paths[file] for written, file in zip(self.documents, self.files.tolist(), strict=True)
        }

    def to_be_read(self, keys: Collection[Key] | None = None) -> OriginRecord:
        """The same, but that the files of some documents, or all files, are to be read again."""
        claims, states = self.claims(), self.states()
        again = {path for key, path in claims.items() if keys is None or key in keys}
        return self.of(self.origin, {**states, **dict.fromkeys(again, NEVER_READ)}, claims)

    def with_languages_of(self, before: OriginRecord) -> OriginRecord:
        """The same, and the documents that it had in languages which were not read this time."""
        languages, states = self.origin.languages, self.states()
        if not languages:
            return self
        others = {
            key: path for key, path in before.claims().items() if key.language not in languages and path in states
        }
        both = tuple(dict.fromkeys([*before.origin.languages, *languages])) if before.origin.languages else ()
        return self.of(replace(self.origin, languages=both), states, {**others, **self.claims()})

    def file_of(self, key: Key) -> str | None:
        """The file that a document is from, by its path in the origin."""
        row = self.documents.find(_written(key))
        return None if row is None else _checked(self.paths[int(self.files[row])])

    def write(self, index: Path, name: str) -> FileNote:
        """Write it, and sync it; the note is of its ``checksums.json``."""
        directory = index / FOLDER / name
        directory.mkdir(parents=True)
        with packed(directory):
            self.paths.save(directory, "paths")
            save_array(directory / "statuses.npy", self.statuses)
            save_array(directory / "hashes.npy", self.hashes)
            self.documents.save(directory, "documents")
            save_array(directory / "files.npy", self.files)
        (directory / FILE).write_text(json.dumps(asdict(self.origin), indent=2) + "\n", encoding="ascii")
        note = write_checksums(directory)
        sync_tree(directory)
        sync_directory(directory.parent)
        return note

    @classmethod
    def load(cls, directory: Path) -> OriginRecord:
        """Map what ``write`` wrote."""
        record = cls(
            _read_origin(directory / FILE),
            StringTable.load(directory, "paths"),
            load_array(directory / "statuses.npy"),
            load_array(directory / "hashes.npy"),
            StringTable.load(directory, "documents"),
            load_array(directory / "files.npy"),
        )
        count = len(record.paths)
        check_type(record.statuses, np.int64, "statuses.npy", count * _STATUS_SIZE)
        check_type(record.hashes, np.uint8, "hashes.npy", count * HASH_SIZE)
        check_type(record.files, np.int64, "files.npy", len(record.documents))
        check_within(record.files, count, "files.npy")
        return record


def new_name(name: str, generation: int) -> str:
    """The folder of an origin's next record; an origin keeps the first part, ``name``, for its life."""
    return f"{name or secrets.token_hex(4)}-{generation}"


def records_in(commit: Commit) -> dict[str, str]:
    """The origins of a commit by name, and the folder of each."""
    names = (name.split("/")[1] for name in sorted(commit.files) if name.startswith(f"{FOLDER}/"))
    return {name.partition("-")[0]: name for name in names}


def load_origins(index: Path, commit: Commit) -> dict[str, OriginRecord]:
    """The origins of an index by name, in the order of their sources."""
    found = {}
    for name, folder in records_in(commit).items():
        directory = index / FOLDER / folder
        try:
            checksums.check_directory(directory, commit.files[f"{FOLDER}/{folder}/{checksums.FILE}"])
            found[name] = OriginRecord.load(directory)
        except (OSError, ValueError, KeyError) as error:
            refuse_no_damage(error)
            what = f"mend it with 'isogloss check {index} --repair'"
            raise DamagedIndexError(f"{index}: what it was made of is damaged ({error}); {what}") from error
    return dict(sorted(found.items(), key=lambda each: each[1].origin.source))


def now() -> float:
    """The time to record."""
    return round(time.time(), 3)


def _read_origin(path: Path) -> Origin:
    content = read_json(path)
    try:
        origin = Origin(**{**content, "languages": tuple(content["languages"])})
        check_types(origin, Origin, "it")
    except (KeyError, TypeError, AttributeError) as error:
        raise DamagedFileError(path, f"does not describe an origin ({error})") from error
    if not origin.where.is_absolute() or "\0" in origin.source or len(origin.languages) > _MOST:
        raise DamagedFileError(path, "does not describe an origin (it names no whole path)")
    return origin


def _written(key: Key) -> str:
    return f"{key.language}\t{key.id}"


def _read_key(written: str) -> Key:
    language, _, id_ = written.partition("\t")
    return Key(language, id_)


def _checked(path: str) -> str:
    """A path that does not lead out of the folder of its origin."""
    if path.startswith("/") or "\0" in path or ".." in path.split("/"):
        what = "is no path in what the index was made of; drop that with 'isogloss sync INDEX --forget SOURCE'"
        raise DamagedIndexError(f"{path[:100]!r}: {what}")
    return path


def _encoded(text: str) -> bytes:
    """As strings are sorted in a table."""
    return text.encode("utf-8", "surrogatepass")


NEVER_READ = FileState(Status(), UNKNOWN)
"""A state that no file has, so that the file is read again."""

"""``commit.json``: the segments of an index. Replacing this file is the commit; files that it does not name are unused.

generation   the number of commits so far
languages    for each language its segments, in the order of their rows, and the file with the order of all their ids
files        size and hash of every file that a commit names: bitmaps of deleted documents, orders, checksums.json

A language with more than eight segments has its smallest ones merged, as many as are needed, and more while the next is
not larger than all before it together: so a document is copied a number of times that grows with the logarithm of the
number of documents. A segment of which a quarter is deleted is rewritten without the deleted documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.index.copies import read_or_copy
from isogloss.index.forged import check_commit
from isogloss.storage.checksums import FileNote
from isogloss.storage.errors import DamagedFileError, DamagedIndexError, refuse_no_damage
from isogloss.storage.files import read_json, write_bytes

FILE, COPY = "commit.json", "commit.copy.json"
MOST_SEGMENTS = 8
MOST_DELETED = 0.25
_LEFT = MOST_SEGMENTS // 2


@dataclass(frozen=True)
class SegmentEntry:
    """A segment, the number of its documents, and how many and which of them are deleted."""

    name: str
    documents: int
    deleted: int = 0
    deleted_file: str = ""

    @property
    def live(self) -> int:
        """The number of documents that are not deleted."""
        return self.documents - self.deleted


@dataclass(frozen=True)
class LanguageEntry:
    """The segments of a language, and the file with the order of their ids if there are several."""

    segments: tuple[SegmentEntry, ...] = ()
    order_file: str = ""

    @property
    def live(self) -> int:
        """The number of documents that are not deleted."""
        return sum(segment.live for segment in self.segments)


@dataclass(frozen=True)
class Commit:
    """The state of an index. ``identity`` is that of the ``index.json`` it belongs to."""

    identity: str
    generation: int = 0
    languages: Mapping[str, LanguageEntry] = field(default_factory=dict)
    files: Mapping[str, FileNote] = field(default_factory=dict)

    @property
    def segments(self) -> tuple[SegmentEntry, ...]:
        """Those of all languages."""
        return tuple(segment for language in self.languages.values() for segment in language.segments)

    def save(self, directory: Path) -> None:
        """Replace ``commit.json``: when this returns the commit is on disk.

        A copy is written before it, for the case that it is damaged: so the copy never lacks a change that a writer was
        told to be on disk.
        """
        content = {**asdict(self), "files": {name: list(note) for name, note in self.files.items()}}
        written = (json.dumps({**content, "checksum": _hash(content)}, ensure_ascii=False, indent=1) + "\n").encode()
        for path in (directory / COPY, directory / FILE):
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise DamagedIndexError(f"{path}: is a link, or not a file; remove it")
        try:
            write_bytes(directory / COPY, written)
        except OSError:  # a full disk: no copy is better than that of an earlier commit
            (directory / COPY).unlink(missing_ok=True)
        write_bytes(directory / FILE, written)

    @classmethod
    def load(cls, directory: Path) -> Commit:
        """Read ``commit.json``; its copy, with a warning, where it is missing or damaged."""
        return read_or_copy(directory / FILE, directory / COPY, cls._read)

    @classmethod
    def problems(cls, directory: Path) -> Iterator[DamagedFileError]:
        """What is wrong with ``commit.json``, and with its copy where there is one."""
        for name in (FILE, COPY):
            try:
                cls._read(directory / name)
            except DamagedFileError as error:
                yield error
            except OSError as error:
                refuse_no_damage(error)
                if name == FILE or not isinstance(error, FileNotFoundError):
                    yield DamagedFileError(directory / name, "is missing")

    @classmethod
    def _read(cls, path: Path) -> Commit:
        content = read_json(path)
        try:
            if content.pop("checksum") != _hash(content):
                raise ValueError("its checksum differs")
            languages = {name: _language_entry(**entry) for name, entry in content["languages"].items()}
            files = {name: FileNote(*note) for name, note in content["files"].items()}
            found = cls(content["identity"], content["generation"], languages, files)
            check_commit(found)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DamagedFileError(path, f"is not a commit ({error})") from error
        return found


def _language_entry(segments: Sequence[Mapping[str, Any]], order_file: str) -> LanguageEntry:
    return LanguageEntry(tuple(SegmentEntry(**each) for each in segments), order_file)


def _hash(content: Mapping[str, Any]) -> str:
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


class Merge(NamedTuple):
    """The segments of a language that are to become one."""

    language: str
    names: tuple[str, ...]


def choose_merge(commit: Commit) -> Merge | None:
    """The next merge, if one is needed."""
    for language, entry in commit.languages.items():
        if len(entry.segments) > MOST_SEGMENTS:
            return Merge(language, _smallest(entry))
        for segment in entry.segments:
            if segment.deleted >= max(1, MOST_DELETED * segment.documents):
                return Merge(language, (segment.name,))
    return None


def merge_all(commit: Commit) -> Iterator[Merge]:
    """A merge for each language that has several segments or deleted documents."""
    for language, entry in commit.languages.items():
        if len(entry.segments) > 1 or any(segment.deleted for segment in entry.segments):
            yield Merge(language, tuple(segment.name for segment in entry.segments))


def _smallest(entry: LanguageEntry) -> tuple[str, ...]:
    by_size = sorted(entry.segments, key=lambda segment: segment.live)
    count = len(by_size) - _LEFT
    while count < len(by_size) and by_size[count].live <= sum(segment.live for segment in by_size[:count]):
        count += 1
    chosen = {segment.name for segment in by_size[:count]}
    return tuple(segment.name for segment in entry.segments if segment.name in chosen)

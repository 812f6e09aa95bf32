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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.index.forged import check_commit
from isogloss.storage.checksums import FileNote
from isogloss.storage.errors import InputError
from isogloss.storage.files import write_bytes

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
        """Replace ``commit.json``: when this returns the commit is on disk. A copy is written in case it is damaged."""
        content = {**asdict(self), "files": {name: list(note) for name, note in self.files.items()}}
        written = (json.dumps({**content, "checksum": _hash(content)}, ensure_ascii=False, indent=1) + "\n").encode()
        write_bytes(directory / FILE, written)
        with suppress(OSError):  # a full disk: the commit itself is written
            (directory / COPY).write_bytes(written)

    @classmethod
    def load(cls, directory: Path) -> Commit:
        """Read ``commit.json``; an error that names it if it is damaged."""
        path = directory / FILE
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if content.pop("checksum") != _hash(content):
                raise ValueError("its checksum differs")
            languages = {
                name: LanguageEntry(tuple(SegmentEntry(**each) for each in entry["segments"]), entry["order_file"])
                for name, entry in content["languages"].items()
            }
            files = {name: FileNote(*note) for name, note in content["files"].items()}
            commit = cls(content["identity"], content["generation"], languages, files)
            check_commit(commit)
            return commit
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            what = f"put its copy {COPY} in its place, or make the index again with 'isogloss index'"
            raise InputError(f"{path}: is damaged ({error}); {what}") from error


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

"""The files of a source: which there are, and which have changed since they were read."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path

from isogloss.data.documents import Document
from isogloss.data.problems import UNREADABLE, Problems
from isogloss.data.readers.folder import Folder
from isogloss.data.source import Source
from isogloss.index.commit import FILE as COMMIT
from isogloss.index.origins import NEVER_READ, Key, Origin, OriginRecord, now
from isogloss.storage.file_states import FileState, is_newer, state_of
from isogloss.storage.lines import Location, find_file
from isogloss.storage.progress import track


class FolderProblems(Problems):
    """Notes the folders that cannot be read: what is in them is not gone."""

    def __init__(self) -> None:
        super().__init__(stop_at_errors=False)
        self.unreadable: dict[Path, str] = {}

    def skip(self, location: Location, reason: str, message: str) -> None:
        if reason == UNREADABLE:
            self.unreadable[location.path] = message


@dataclass(frozen=True)
class Scan:
    """The files of a source at a moment."""

    root: Path
    """The folder that paths are relative to."""
    states: dict[str, FileState]
    unreadable: dict[str, str] = field(default_factory=dict)
    """Files and folders that cannot be read, and why."""
    begun: int = 0
    """The time in nanoseconds."""

    def is_unreadable(self, path: str) -> bool:
        """Whether a file, or a folder that it is in, cannot be read."""
        return bool(self.unreadable) and any(
            each in self.unreadable for each in (path, *(parent.as_posix() for parent in Path(path).parents))
        )

    def settled(self, paths: Collection[str]) -> dict[str, FileState]:
        """The states after these files were read: one that has changed meanwhile is to be read again."""
        changed = {path for path in paths if is_newer(self.root / path, self.begun)}
        return {path: NEVER_READ if path in changed else state for path, state in self.states.items()}


def origin_name(source: Source) -> str:
    """The source with its whole path."""
    return f"{source.format}:{os.path.abspath(source.where)}"  # noqa: PTH100 - links stay


def scan(source: Source, known: Mapping[str, FileState] | None = None, only: Path | None = None) -> Scan:
    """The state of each file of a source, or of ``only`` one; those whose status is ``known`` are not opened."""
    begun, known = time.time_ns(), known or {}
    problems = FolderProblems()
    root, paths = _files(source, problems) if only is None else (_root(source), [only])
    found = Scan(root, {}, {_inside(root, path): why for path, why in problems.unreadable.items()}, begun)
    for path in track(paths, "looking for changes"):
        name = _inside(root, path)
        try:
            found.states[name] = state_of(path, known.get(name), begun)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            found.unreadable[name] = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    return found


def _files(source: Source, problems: Problems) -> tuple[Path, list[Path]]:
    root = _root(source)
    if isinstance(source, Folder):
        return root, source.files(problems)
    if not Path(source.where).is_dir():
        return root, [find_file(Path(source.where))]
    found: list[Path] = []
    for folder, folders, names in os.walk(source.where):
        if COMMIT in names:  # an index that is kept beside its data
            folders.clear()
        else:
            found += (Path(folder, name) for name in names if not name.startswith("."))
    return root, sorted(found)


def _root(source: Source) -> Path:
    if isinstance(source, Folder):
        return source.directory
    where = Path(source.where)
    return where if where.is_dir() else where.parent


def _inside(root: Path, path: Path) -> str:
    """The path of a file below a folder; ``relative_to`` takes ten times as long, and there may be many."""
    name, folder = path.as_posix(), root.as_posix()
    return name.removeprefix(folder if folder.endswith("/") else f"{folder}/") if folder != "." else name


class Recording:
    """Notes which document of a source is from which file, while its documents are read."""

    def __init__(
        self, source: Source, languages: Collection[str], problems: Problems | None, translated: bool,
        before: OriginRecord | None,
    ) -> None:  # fmt: skip
        skip_bad = problems is not None and not problems.stop_at_errors
        self._origin = Origin(origin_name(source), tuple(languages), skip_bad, translated)
        self._scan = scan(source, None if before is None else before.states())
        self._file_of: dict[str, str] = {}

    def noting(self, source: Source) -> Source:
        """The source, whose documents are noted when they are read."""

        def documents(language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
            for location, document in source.documents(language, problems):
                self._file_of[document.id] = _inside(self._scan.root, location.path)
                yield location, document

        if not isinstance(source, Folder):
            return source
        made = copy(source)
        vars(made)["documents"] = documents
        return made

    def record(self, ids: Mapping[str, Collection[str]]) -> OriginRecord:
        """What was read: ``ids`` are those of the documents of each language that were indexed."""
        states = self._scan.settled(self._scan.states)
        first = min(states, default="")
        keys = [Key(language, id_) for language, of_language in ids.items() for id_ in of_language]
        claims = {key: self._file_of.get(key.id, first) for key in keys}
        used = {key: path for key, path in claims.items() if path in states}
        return OriginRecord.of(replace(self._origin, read_at=now()), states, used)


def recording(
    source: Source, languages: Collection[str] = (), problems: Problems | None = None, translated: bool = False,
    before: OriginRecord | None = None,
) -> Recording | None:  # fmt: skip
    """A recording of a source, if its files can be read again; ``before``: what was read of it the last time."""
    return Recording(source, languages, problems, translated, before) if source.can_sync else None

"""Bringing an index up to date with the folders and files that it was made of.

What has changed is found by the states of files (:mod:`isogloss.storage.file_states`). Only files that have changed are
read; of their documents only those that differ from the index's are encoded. Documents of files that are gone are
deleted. All of that, and what was read, is one commit: a process that is killed leaves the index as it was, and the
next one finds the same changes.

Nothing is taken for gone that only cannot be read: such a file keeps its documents, with a warning. Where an origin has
vanished, or has lost most of its documents at once, it is refused unless ``force`` is given: a disk may not be mounted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

from isogloss.data.dataset import checked_documents
from isogloss.data.problems import Problems
from isogloss.data.readers.folder import Folder
from isogloss.data.readers.registry import open_source
from isogloss.data.source import Source
from isogloss.index.commit import Commit
from isogloss.index.detecting import Located, can_tell, detect_each, in_languages, languages_to_add
from isogloss.index.lock import IndexBusyError
from isogloss.index.manifest import Manifest
from isogloss.index.named_origins import confirm, forget, is_named
from isogloss.index.origin_files import Scan, origin_name, scan
from isogloss.index.origins import NEVER_READ, Key, Origin, OriginRecord, load_origins, now
from isogloss.index.writer import Changes, IndexWriter
from isogloss.storage.errors import InputError
from isogloss.storage.file_states import FileState
from isogloss.storage.lines import Location
from isogloss.storage.progress import track
from isogloss.storage.wording import way
from isogloss.text.language import identify_language

_MANY = 10  # documents: fewer may all but one be deleted


@dataclass(frozen=True)
class Synced:
    """What a sync has done: numbers of documents, and what it could not do."""

    added: int = 0
    replaced: int = 0
    deleted: int = 0
    read: int = 0
    """Files that were read, because they were new or had changed."""
    files: int = 0
    """Files that were looked at."""
    warnings: tuple[str, ...] = ()
    """Files that could not be read, which keep their documents; and languages that the index cannot take."""

    @property
    def changed(self) -> bool:
        """Whether documents have changed."""
        return bool(self.added or self.replaced or self.deleted)


def sync_index(
    path: Path | str, sources: Sequence[str] = (), moved: str = "", force: bool = False, only: Path | None = None,
    languages: Sequence[str] = (), settings: Mapping[str, str] | None = None,
) -> Synced:  # fmt: skip
    """Bring an index up to date with its origins, or with some of them: ``sources`` are paths or names of them.

    ``moved``: where the origin is now; or what an index was made of that does not say it. ``only`` one file of an
    origin, which the caller has named, is looked at; it is in one of ``languages``, where they are named. Of several
    origins those that can be synced are; then the first that cannot is the error. ``settings`` are for languages that
    the index does not have yet (:class:`isogloss.index.writer.IndexWriter`).
    """
    return _Sync(Path(path), sources, moved, force, only, languages, settings).run()


def forget_origin(path: Path | str, source: str) -> str:
    """Sync an origin no longer, whose documents stay; its name."""
    with IndexWriter(path) as writer:
        identity, origins = writer.index.manifest.identity, load_origins(writer.path, writer.index.commit)
        ((name, record),) = _chosen(writer.path, origins, [source]).items()
        writer.set_origin(name, None)
        writer.commit()
    forget(identity, record.origin.source)
    return record.origin.source


class FileOfOrigin(NamedTuple):
    """A file in a folder that an index was made of."""

    source: str
    file: Path
    path: str
    """In the folder."""


def folder_of(index: Path | str, file: Path) -> FileOfOrigin | None:
    """The origin of an index that is a folder with this file in it, where the user has named one."""
    index, real = Path(index), os.path.realpath(file)
    for origin in named_origins_of(index):
        inside = Path(os.path.relpath(real, os.path.realpath(origin.where)))
        if origin.format == Folder.format and not any(part.startswith(".") for part in inside.parts):
            return FileOfOrigin(origin.source, origin.where / inside, inside.as_posix())
    return None


def named_origins_of(index: Path) -> list[Origin]:
    """The origins of an index that the user has named on this machine."""
    commit = Commit.load(index)
    origins = [record.origin for record in load_origins(index, commit).values()]
    return [origin for origin in origins if is_named(commit.identity, origin.source)]


def _chosen(path: Path, origins: Mapping[str, OriginRecord], sources: Sequence[str]) -> dict[str, OriginRecord]:
    """The origins that the user has named, or all."""
    found: dict[str, OriginRecord] = {}
    for source in sources:
        names = {source, os.path.abspath(source)}  # noqa: PTH100 - links stay
        same = {n: each for n, each in origins.items() if {each.origin.source, str(each.origin.where)} & names}
        if not same:
            known = ", ".join(each.origin.source for each in origins.values()) or "nothing that can be synced"
            raise InputError(f"{path}: was not made of {source!r}, but of {known}")
        found |= same
    return found if sources else dict(origins)


@dataclass(frozen=True)
class _Task:
    """An origin that is to be brought up to date, and what its files were and are."""

    name: str
    origin: Origin
    source: Source | None
    """None: it has vanished."""
    before: Mapping[str, FileState]
    scan: Scan
    languages: tuple[str, ...] = ()
    """That its documents are in; none where they are detected."""

    @cached_property
    def changed(self) -> list[str]:
        """Files that are new, or have another content."""
        return [
            path for path, state in self.scan.states.items() if path not in self.before
            or state.hash != self.before[path].hash
        ]  # fmt: skip

    @cached_property
    def gone(self) -> set[str]:
        """Files that are not there any more."""
        return {path for path in self.before if path not in self.scan.states and not self.scan.is_unreadable(path)}


class _Reading(NamedTuple):
    """The documents of the files that have changed, and what could not be read."""

    documents: list[Located]
    failed: dict[str, str]


class _Sync:
    """One run. Files are looked at before the index is locked: where nothing has changed it is not even opened."""

    def __init__(
        self, path: Path, sources: Sequence[str], moved: str, force: bool, only: Path | None,
        languages: Sequence[str], settings: Mapping[str, str] | None,
    ) -> None:  # fmt: skip
        self._languages, self._settings = tuple(languages), settings
        self._path, self._sources, self._moved, self._force, self._only = path, sources, moved, force, only
        self._warnings: list[str] = []
        self._refused: list[str] = []
        self._read = self._looked_at = 0

    def run(self) -> Synced:
        """Look at the files, and change the index where they have changed."""
        Manifest.load(self._path)
        commit = Commit.load(self._path)
        tasks = self._tasks(commit)
        if not any(self._has_news(task) for task in tasks):
            return self._done(tasks, Changes())
        try:
            with IndexWriter(self._path, self._settings) as writer:
                if writer.index.commit != commit:
                    tasks = self._tasks(writer.index.commit)
                self._change(tasks, writer)
                writer.commit()
        except (IndexBusyError, OSError):
            if self._moved or any(task.changed or task.gone for task in tasks):
                raise
            return self._done(tasks, Changes())  # times of files were to be recorded, which saves hashing them again
        return self._done(tasks, writer.changes)

    def _done(self, tasks: Sequence[_Task], changes: Changes) -> Synced:
        if self._moved and not self._refused:
            self._remember(tasks[0])
        if self._refused:
            others = "; its other sources are up to date" if len(self._refused) < self._looked_at else ""
            raise InputError(self._refused[0] + others)
        files = sum(len(task.scan.states) for task in tasks)
        unread = (_warning(task.scan.root / path, why) for task in tasks for path, why in task.scan.unreadable.items())
        warnings = tuple(dict.fromkeys([*unread, *self._warnings]))
        return Synced(changes.added, changes.replaced, changes.deleted, self._read, files, warnings)

    def _remember(self, task: _Task) -> None:
        """The origin is now where the user has said; and no longer elsewhere."""
        identity, old = Manifest.load(self._path).identity, self._before_moving.get(task.name)
        confirm(identity, task.origin.source)
        if old is not None and old != task.origin.source:
            forget(identity, old)

    def _tasks(self, commit: Commit) -> list[_Task]:
        """The origins to look at; those that are refused are noted."""
        self._origins = load_origins(self._path, commit)
        self._before_moving = {name: record.origin.source for name, record in self._origins.items()}
        chosen, tasks = self._chosen(), []
        self._refused, self._looked_at = [], len(chosen)
        for name, origin in chosen.items():
            try:
                if not (self._moved or self._only or is_named(commit.identity, origin.source)):
                    what = f"says that it was made of {origin.source!r}, which you have not named for it here"
                    named = f"{way('--from ', 'moved=')}{origin.source!r}"
                    raise InputError(f"{self._path}: {what}; if that is right, name it: {named}")
                tasks.append(self._task(name, origin, self._origins.get(name)))
            except InputError as error:
                self._refused.append(str(error))
        return tasks

    def _chosen(self) -> dict[str, Origin]:
        """The origins to look at, by name; an unknown one has none."""
        if self._moved:
            return self._moved_origin()
        chosen = _chosen(self._path, self._origins, self._sources)
        if not chosen:
            named = way("--from SOURCE", "moved=SOURCE")
            raise InputError(f"{self._path}: does not say what it was made of; name the folder or file: {named}")
        return {name: record.origin for name, record in chosen.items()}

    def _moved_origin(self) -> dict[str, Origin]:
        """The origin that is now where the user says."""
        source = open_source(self._moved)
        if not source.can_sync:
            raise InputError(f"{source.name}: is no folder and no file whose changes can be found")
        named = origin_name(source)
        same = {name: each for name, each in self._origins.items() if each.origin.source == named}
        chosen = same or _chosen(self._path, self._origins, self._sources)
        if len(chosen) > 1:
            known = ", ".join(str(each.origin.where) for each in chosen.values())
            raise InputError(f"{self._path}: was made of {known}; name the one that is now {self._moved!r} before it")
        if not chosen:
            return {"": Origin(named)}
        ((name, record),) = chosen.items()
        return {name: replace(record.origin, source=named)}

    def _task(self, name: str, origin: Origin, record: OriginRecord | None) -> _Task:
        """Look at the files of an origin."""
        before = record.states() if record is not None else {}
        try:
            source = open_source(origin.source)
        except InputError:
            if record is not None and len(record.documents) and not self._force:
                what = f"is not there, and {len(record.documents):,} documents of {self._path} are from it"
                moved, force = way("--from NEWPATH", "moved=NEWPATH"), way("--force", "force=True")
                ways = f"is a disk not mounted? If it has moved: {moved}; {force} deletes its documents"
                raise InputError(f"{origin.where}: {what}; {ways}") from None
            return _Task(name, origin, None, before, Scan(origin.where, {}))
        found = scan(source, before, self._only)
        if self._only is not None:
            if found.unreadable:
                raise InputError(f"{self._only}: {next(iter(found.unreadable.values()))}")
            before = {path: state for path, state in before.items() if path not in found.states}  # read it in any case
            found = replace(found, states={**before, **found.states})
        return _Task(name, origin, source, before, found, self._languages or origin.languages)

    def _has_news(self, task: _Task) -> bool:
        record = self._origins.get(task.name)
        is_same = record is not None and record.origin.source == task.origin.source
        return not is_same or bool(task.gone) or any(task.before.get(p) != s for p, s in task.scan.states.items())

    def _change(self, tasks: Sequence[_Task], writer: IndexWriter) -> None:
        """Add, replace and delete documents of origins, and record what was read."""
        waiting, by_name = list(tasks), {task.name: task for task in tasks}
        while waiting:
            task = waiting.pop(0)
            if not self._has_news(task):
                continue
            try:
                others = _Changing(task, self._origins, writer, self._force).run()
            except InputError as error:
                self._refused.append(str(error))
                by_name.pop(task.name)
                continue
            if self._only is not None and others.warnings:
                raise InputError(others.warnings[0])
            self._read += others.read
            self._warnings += others.warnings
            for name, keys in others.also_in.items():  # another origin has a file for a document that has left this one
                self._origins[name] = self._origins[name].to_be_read(keys)
                writer.set_origin(name, self._origins[name])
                if name in by_name:
                    waiting.append(replace(by_name[name], before=self._origins[name].states()))


class _Changing:
    """The changes of one origin."""

    def __init__(self, task: _Task, origins: dict[str, OriginRecord], writer: IndexWriter, force: bool) -> None:
        self._task, self._origins, self._writer, self._force = task, origins, writer, force
        self._manifest = writer.index.manifest
        self.read = 0
        self.warnings: list[str] = []
        self.also_in: dict[str, set[Key]] = {}

    def run(self) -> Self:
        """Give the writer the changes."""
        task, record = self._task, self._origins.get(self._task.name)
        claims = record.claims() if record is not None else {}
        reading = self._reading(claims)
        read = set(task.changed) - reading.failed.keys()
        self.warnings += (_warning(task.scan.root / path, why) for path, why in reading.failed.items())
        self.read = len(read)
        documents = self._kept({Key(each.language, each.id): (location, each) for location, each in reading.documents})
        left = {key: path for key, path in claims.items() if path not in read and path not in task.gone}
        if not self._by_file and (read or task.gone):
            left = {}
        new = {key: self._file(location) for key, (location, _) in documents.items()}
        deleted = claims.keys() - left.keys() - new.keys()
        self._refuse_loss(claims, deleted, bool(left or new))
        self._writer.add(document for _, document in documents.values())
        self._delete(deleted)
        states = task.scan.settled(read if self._by_file else task.scan.states)
        kept = {path: state for path, state in task.before.items() if path not in states and path not in task.gone}
        failed = {path: task.before.get(path, NEVER_READ) for path in reading.failed}
        origin = replace(task.origin, read_at=now())
        record = OriginRecord.of(origin, {**states, **kept, **failed}, {**left, **new})
        self._origins[task.name] = record
        self._writer.set_origin(task.name, record)
        return self

    @property
    def _by_file(self) -> bool:
        return isinstance(self._task.source, Folder)

    def _file(self, location: Location) -> str:
        if self._by_file:
            return location.path.relative_to(self._task.scan.root).as_posix()
        return min(self._task.scan.states)

    def _reading(self, claims: Mapping[Key, str]) -> _Reading:
        task = self._task
        if task.source is None or not (task.changed or (task.gone and not self._by_file)):
            return _Reading([], {})
        if not isinstance(task.source, Folder):
            return _Reading(list(self._all_of(task.source)), {})
        documents, failed = self._files_of(task.source)
        if task.origin.translated:
            of_claims = set(claims.values())
            left_out = {path for path in task.changed if path in task.before and path not in of_claims}
            documents = [each for each in documents if self._file(each[0]) not in left_out]
        if task.languages and can_tell(task.languages):
            return _Reading(in_languages(task.source, documents, task.languages, Problems()), failed)
        if task.languages or not documents:
            return _Reading(list(_assigned(documents, task.languages)), failed)
        found = detect_each(task.source, documents, self._manifest.documents, self._nearby(claims))
        return _Reading([each for each in found if not self._is_page(each[1].language)], failed)

    def _all_of(self, source: Source) -> Iterator[Located]:
        """All documents of a source whose files are read together."""
        problems, languages = Problems(not self._task.origin.skip_bad), list(self._task.languages)
        if next(source.all_documents(Problems(stop_at_errors=False)), None) is None:
            return
        if not languages:
            source, languages = languages_to_add(source, self._writer.index, problems)
        for language in languages:
            found = checked_documents(source.documents(language, problems), problems)
            yield from _assigned(found, languages, language)

    def _files_of(self, folder: Folder) -> tuple[list[Located], dict[str, str]]:
        """The documents of the files that have changed, and why some of these could not be read."""
        task, documents, failed = self._task, list[Located](), dict[str, str]()
        languages = () if can_tell(task.languages) else task.languages
        paths = [task.scan.root / path for path in {**task.before, **task.scan.states}]
        marked = {language: set(folder.marked(paths, language)) for language in languages}
        for path in track(task.changed, "reading documents"):
            file, problems = task.scan.root / path, Problems(stop_at_errors=False)
            try:
                found = [
                    (place, replace(each, language=language) if file in marked.get(language, ()) else each)
                    for language in languages or ("",)
                    if not marked.get(language) or file in marked[language]
                    for place, each in checked_documents(folder.read([file], problems), problems)
                ]
            except InputError as error:
                failed[path] = str(error)
                continue
            if skipped := problems.skipped.get(file):
                if path in task.before:  # it keeps its documents
                    failed[path] = str(skipped)
                else:
                    self.warnings.append(f"{skipped}, so it is skipped")
            elif problems.errors and not (task.origin.skip_bad and found):
                failed[path] = next(str(each) for each in problems.kept if each.fatal)
            else:
                documents += found
        return documents, failed

    def _is_page(self, language: str) -> bool:
        """Whether files in this language translate documents, and are none themselves."""
        manifest = self._manifest
        return self._task.origin.translated and language in {*manifest.query_languages} - manifest.documents.keys()

    def _nearby(self, claims: Mapping[Key, str]) -> dict[str, Counter[str]]:
        """For each folder, how many documents are in each language."""
        found: dict[str, Counter[str]] = {}
        for key in claims:
            if key.language in self._manifest.documents:
                found.setdefault(Path(key.id).parent.as_posix(), Counter())[key.language] += 1
        return found

    def _kept(self, documents: dict[Key, Located]) -> dict[Key, Located]:
        """Without those in languages that the index cannot take; what it can is begun."""
        refused = set()
        for language in {key.language for key in documents} - self._writer.index.systems.keys():
            of_language = [each for key, (_, each) in documents.items() if key.language == language]
            try:
                self._writer.begin_language(language, of_language)
            except InputError as error:
                refused.add(language)
                self.warnings.append(f"documents in {language!r} are left out, {len(of_language):,} of them: {error}")
        return {key: each for key, each in documents.items() if key.language not in refused}

    def _refuse_loss(self, claims: Mapping[Key, str], deleted: Collection[Key], some_are_left: bool) -> None:
        """Raise if all or most documents would leave at once; those of files that were renamed do not count."""
        task = self._task
        new = {task.scan.states[path].hash for path in task.changed if path not in task.before}
        lost = [key for key in deleted if claims[key] not in task.before or task.before[claims[key]].hash not in new]
        if self._force or not lost or (some_are_left and len(lost) < max(_MANY, len(claims) / 2)):
            return
        what = f"{len(lost):,} of its {len(claims):,} documents in {self._writer.path} would be deleted at once"
        force = way("--force", "force=True")
        raise InputError(f"{task.origin.where}: {what}; is a disk not mounted? If that is right: {force}")

    def _delete(self, keys: Collection[Key]) -> None:
        """Delete documents, but for those that another origin has too."""
        ids: dict[str, list[str]] = {}
        others = {name: each for name, each in self._origins.items() if name != self._task.name}
        for key in sorted(keys):
            also = [name for name, each in others.items() if each.file_of(key) is not None]
            if also:
                self.also_in.setdefault(also[0], set()).add(key)
            elif key.language in self._writer.index.languages:
                ids.setdefault(key.language, []).append(key.id)
        for language, of_language in ids.items():
            self._writer.delete(of_language, [language])


def _warning(file: Path, why: str) -> str:
    return f"{why if why.startswith(str(file)) else f'{file}: {why}'}; what the index has of it stays"


def _assigned(found: Iterable[Located], languages: Sequence[str], read_as: str = "") -> Iterator[Located]:
    """The documents with their languages, of those that the user has named; of one without, it is identified."""
    for place, each in found:
        language = read_as if each.language and read_as else each.language
        if not language and languages:
            language = languages[0] if len(languages) == 1 else identify_language(each.text, languages)
        yield place, replace(each, language=language)

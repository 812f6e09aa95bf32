"""Changing an index: documents are added, replaced and deleted, and readers see the changes when they are committed.

A commit writes new files only: a segment of the added documents, a bitmap for each segment with newly deleted ones, and
at last ``commit.json``, which names them. A failure before that leaves the index unchanged; when ``commit`` returns,
everything is on disk. Files that are no longer named are removed afterwards.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Collection as Container
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Self

import numpy as np

from isogloss.data.document_checks import checked
from isogloss.data.documents import Collection, Document, page_object
from isogloss.data.in_memory import InMemorySource
from isogloss.data.source import Source
from isogloss.index.commit import Merge, choose_merge, merge_all
from isogloss.index.commit_writer import CommitWriter, PendingSegment, PendingSegments, sweep
from isogloss.index.fitting import ready_systems
from isogloss.index.in_engine import EngineCommit
from isogloss.index.language_index import MappedLanguageIndex
from isogloss.index.language_systems import LanguageSystems
from isogloss.index.lock import WriteLock
from isogloss.index.manifest import Manifest
from isogloss.index.origins import OriginRecord
from isogloss.index.reader import OpenIndex, open_index
from isogloss.index.segments import new_name
from isogloss.storage.errors import InputError
from isogloss.text.language import identify_language
from isogloss.text.language_names import code_or_itself

_COMPARED = 1_000  # documents that are compared at a time with what the index has


@dataclass
class Changes:
    """How many documents a writer was given: new ones, others in place of older ones, and some that were there."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    deleted: int = 0


class CommitBuilder(CommitWriter):
    """Changes to an index in files, with what its systems make of the documents."""

    def __init__(self, index: OpenIndex) -> None:
        self._fields = index.manifest.fields
        super().__init__(index.path, index.commit, _pending(index))

    def change(self, language: str, documents: Collection, deleted: Container[str], systems: LanguageSystems) -> None:
        """Add documents to a language, in place of those with the same ids; delete others."""
        if not self.has_language(language, documents, systems):
            return
        count = self.delete(language, {*deleted, *documents.ids})
        if not systems.joins and (count or len(documents)):
            documents = Collection([*self.take_all(language), *documents], language)
        if len(documents):
            systems.index(documents, self._fields)
            self.append(language, documents, systems.save_part)


def _pending(index: OpenIndex) -> dict[str, PendingSegments]:
    pending = {}
    for language, entry in index.commit.languages.items():
        opened, pending[language] = index.languages.get(language), PendingSegments()
        if isinstance(opened, MappedLanguageIndex):
            ends = np.cumsum([part.documents for part in entry.segments])[:-1]
            live = np.ones(len(opened.store), dtype=bool) if opened.live is None else opened.live
            shares = zip(entry.segments, np.split(live, ends), np.split(opened.store.id_order, ends), strict=True)
            segments = [PendingSegment(index.segments[part.name], part, *share) for part, *share in shares]
            pending[language] = PendingSegments(entry, segments)
    return pending


def _content(document: Document) -> str:
    """All that an index keeps of a document; its language is that of the part of the index that it is in."""
    return json.dumps(page_object(replace(document, language="")), ensure_ascii=False)


class IndexWriter:
    """The writer of an index, as a context; a second writer is refused, and the error names the first.

    For languages that the index does not have yet, ``settings`` are options of the system (such as its lexicon), and
    ``source`` has what it is fitted to, where it learns; without, that is the added documents alone. ``background``: a
    thread merges segments when there are many, or when many documents are deleted. ``index`` is the index at its last
    commit.

    >>> from tempfile import mkdtemp
    >>> from isogloss.data.readers.demo import Demo
    >>> from isogloss.index.making import make_index
    >>> path = Path(mkdtemp()) / "index"
    >>> _ = make_index(path, "bm25", Demo(), ["fr"])
    >>> with IndexWriter(path) as writer:
    ...     writer.add([Document("fr-new", "Le phare guide les bateaux.", language="fr")])
    ...     writer.commit()
    1
    2
    """

    source: Source | None = None

    def __init__(self, path: Path | str, settings: Mapping[str, str] | None = None, background: bool = True) -> None:
        self.path = Path(path)
        self._settings = dict(settings or {})
        self._background = background
        self._added: dict[str, dict[str, Document]] = {}
        self._deleted: dict[str, set[str]] = {}
        self._origins: dict[str, OriginRecord | None] = {}
        self._begun: dict[str, LanguageSystems] = {}
        self._committing = threading.RLock()
        self._merging: threading.Thread | None = None
        self._building: set[str] = set()
        self.changes = Changes()

    def __enter__(self) -> Self:
        Manifest.load(self.path)
        self._lock = WriteLock(self.path)
        self._lock.acquire()
        try:
            self.index = open_index(self.path)
            sweep(self.path, self.index.commit)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.wait()
        finally:
            self.index.close()
            self._lock.release()

    def add(self, documents: Iterable[Document]) -> int:
        """Add documents and return how many there are; each replaces a document of the same language and id.

        The language of a document without one is the only language of the index, or it is identified. Of documents
        with one id the last is added. Where one is wrong, none is added. A document that the index has already, as it
        is, costs nothing: it is neither encoded nor written; ``changes`` counts it.
        """
        added: dict[tuple[str, str], Document] = {}
        for number, document in enumerate(documents):
            try:
                right = checked(document, self.index.systems)
            except InputError as error:
                raise InputError(f"documents[{number}]: {error}") from error
            added[self.language_of(right), right.id] = right
        waiting = iter(added.items())
        while some := dict(islice(waiting, _COMPARED)):
            self._take(some)
        return len(added)

    def _take(self, added: Mapping[tuple[str, str], Document]) -> None:
        """Note which documents are to be written: those that differ from what the index has."""
        contents: dict[tuple[str, str], str] = {}
        for language in {language for language, _ in added} & self.index.languages.keys():
            ids = [id_ for of, id_ in added if of == language]
            stored = self.index.languages[language].stored(ids)
            contents |= {(language, document.id): _content(document) for document in stored}
        for (language, id_), document in added.items():
            content = contents.get((language, id_))
            if content == _content(document):
                self.changes.unchanged += 1
                self._added.get(language, {}).pop(id_, None)
                self._deleted.get(language, set()).discard(id_)
            else:
                self.changes.added += content is None
                self.changes.replaced += content is not None
                self._added.setdefault(language, {})[id_] = document

    def delete(self, ids: Iterable[str], languages: Sequence[str] | None = None) -> int:
        """Delete documents by id, in these languages or in all; how many there were."""
        wanted = list(dict.fromkeys(ids))
        languages = [each if each in self.index.languages else code_or_itself(each) for each in languages or ()]
        self.index.choose([name for name in languages if name not in self._added])
        count = 0
        for language in languages or dict.fromkeys([*self.index.languages, *self._added]):
            added, deleted = self._added.get(language, {}), self._deleted.setdefault(language, set())
            found = {id_ for id_ in wanted if added.pop(id_, None) is not None}
            if language in self.index.languages:
                found |= self.index.languages[language].known([id_ for id_ in wanted if id_ not in deleted])
            count += len(found)
            deleted.update(wanted)
        self.changes.deleted += count
        return count

    def begin_language(self, language: str, documents: Iterable[Document]) -> None:
        """Make the systems of a language that the index does not have yet; an error if it cannot take it."""
        self._begun[language] = self._systems(language, Collection(documents, language))

    def set_origin(self, name: str, record: OriginRecord | None) -> None:
        """Record with the next commit what an origin has, a new one if ``name`` is empty; None: it is none any more."""
        self._origins[name] = record

    def commit(self) -> int:
        """Commit all changes since the last commit, which readers see from now on; the generation of the index."""
        with self._committing:
            with self._builder() as builder:
                for language in dict.fromkeys([*self._deleted, *self._added]):
                    documents = Collection(self._added.get(language, {}).values(), language)
                    if len(documents) or language in self.index.systems:
                        deleted = self._deleted.get(language, set())
                        systems = self._begun.pop(language, None) or self._systems(language, documents)
                        builder.change(language, documents, deleted, systems)
                for name, record in self._origins.items():
                    builder.set_origin(name, record)
                self._finish(builder)
            self._added, self._deleted, self._origins = {}, {}, {}
        if self._background:
            self._merge_in_background()
        return self.index.generation

    def compact(self) -> int:
        """Merge all segments of each language into one, without deleted documents; the generation of the index."""
        self.wait()
        for merge in merge_all(self.index.commit):
            self._merge(merge)
        return self.index.generation

    @property
    def is_merging(self) -> bool:
        """Whether segments are being merged now."""
        return self._merging is not None and self._merging.is_alive()

    def wait(self) -> None:
        """Wait until no segments are being merged."""
        if self._merging is not None:
            self._merging.join()
            self._merging = None

    def _finish(self, builder: CommitWriter) -> None:
        if builder.commit():
            self.index = self.index.refreshed()
            sweep(self.path, self.index.commit, self._building)

    def _merge_in_background(self) -> None:
        if self.is_merging:
            return
        merge = choose_merge(self.index.commit)
        if merge is not None:
            self._merging = threading.Thread(target=self._try_to_merge, args=(merge,), name="isogloss-merge")
            self._merging.start()

    def _try_to_merge(self, merge: Merge | None) -> None:
        """Merge until no merge is needed. The index is valid without it, so an error is only logged."""
        while merge is not None:
            try:
                self._merge(merge)
            except (OSError, ValueError, InputError) as error:
                if {segment.name for segment in self.index.commit.segments}.issuperset(merge.names):
                    logging.getLogger("isogloss").warning("%s: segments could not be merged: %s", self.path, error)
                    return  # otherwise a segment has lost all its documents meanwhile, and was removed
            merge = choose_merge(self.index.commit)

    def _merge(self, merge: Merge) -> None:
        """Write a merged segment from the current commit; then commit its replacement of its parts."""
        index = self.index
        name = new_name(merge.language, index.generation + 1)
        self._building.add(name)
        try:
            with CommitBuilder(index) as builder:
                merged = builder.merge(merge, name, copy(index.systems[merge.language]))
                with self._committing:
                    builder.start_from(self.index.commit, _pending(self.index))
                    builder.replace_merged(merge, merged)
                    self._finish(builder)
        finally:
            self._building.discard(name)

    def language_of(self, document: Document) -> str:
        """That of a document; of one without, the only language of the index, or that which is identified."""
        if document.language:
            return document.language
        known = list(self.index.commit.languages)
        return known[0] if len(known) == 1 else identify_language(document.text, known)

    def _systems(self, language: str, documents: Collection) -> LanguageSystems:
        """The systems for documents of a language, without any; of a new language, fitted where they learn."""
        if language in self.index.systems:
            return copy(self.index.systems[language])
        manifest, known = self.index.manifest, ", ".join(self.index.commit.languages)
        options = {name: str(value) for name, value in manifest.options.items() if value != ""}
        settings, source = {**options, **self._settings}, self.source or InMemorySource(documents)
        try:
            systems = ready_systems(manifest.system, source, manifest.query_languages, language, settings)
            for system in systems.values():
                system.index_texts([])  # raises where something is missing
        except InputError as error:
            raise InputError(f"{self.path}: has {known}, and cannot take documents in {language!r}: {error}") from error
        return systems

    def _builder(self) -> CommitBuilder | EngineCommit:
        index, note = self.index, self.index.manifest.engine
        return CommitBuilder(index) if index.engine is None or note is None else EngineCommit(index, index.engine, note)

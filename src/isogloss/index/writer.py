"""Changing an index: documents are added, replaced and deleted, and nobody sees any of it before it is committed.

A commit writes new files only: a segment for the documents that were added, a bitmap for each segment that lost some,
and at last ``commit.json``, which names them. Whatever happens before that leaves the index as it was; when ``commit``
returns, everything is on disk. What is no longer named is taken away afterwards.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection as Container
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Self

from isogloss.data.documents import Collection, Document
from isogloss.index.commit import Merge, choose_merge, merge_all
from isogloss.index.commit_writer import CommitWriter, Merged, PendingSegments, sweep
from isogloss.index.documents import Rows
from isogloss.index.in_engine import EngineCommit
from isogloss.index.language_index import MappedLanguageIndex
from isogloss.index.lock import WriteLock
from isogloss.index.manifest import Manifest
from isogloss.index.reader import OpenIndex, open_index
from isogloss.index.segments import Segment, new_name
from isogloss.retrieval.ranking import Allowed
from isogloss.storage.errors import InputError
from isogloss.systems.base import System
from isogloss.systems.registry import make_system
from isogloss.text.language import check_language, identify_language

# A commit to an index in the making: what its systems make of the documents goes into the segments.


class CommitBuilder(CommitWriter):
    """Changes to an index, written but not yet named by its ``commit.json``."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        super().__init__(index.path, index.commit, _pending(index))

    def rebase(self, index: OpenIndex) -> None:
        """Start from a commit; of what was done before only merged segments that have no place yet are kept."""
        self._index = index
        self.start_from(index.commit, _pending(index))

    def change(self, language: str, documents: Collection, gone: Container[str], system: System) -> None:
        """Add documents to a language; those with the same ids, and those that are to go, are deleted."""
        if language not in self._drafts:
            if not len(documents):
                return
            self.begin_language(language, system.save_shared)
        lost = self.lose(language, {*gone, *documents.ids})
        if not system.joins and (lost or len(documents)):
            documents = Collection([*self.take_all(language), *documents], language)
        if len(documents):
            system.index(documents, self._index.manifest.fields)
            self.append(language, documents, system.save_part)

    def merge(self, merge: Merge, name: str) -> Merged:
        """Write one segment of the documents of several that are not deleted."""

        def save_part(folder: Path, segments: list[Segment], keep: Allowed, order: Rows) -> None:
            system = copy(self._index.systems[merge.language])
            system.load_parts([segment.part for segment in segments], order).save_part(folder, keep)

        return self.write_merged(merge, name, save_part)


def _pending(index: OpenIndex) -> dict[str, PendingSegments]:
    return {language: _pending_of(index, language) for language in index.commit.languages}


def _pending_of(index: OpenIndex, language: str) -> PendingSegments:
    shelf = index.languages.get(language)
    if not isinstance(shelf, MappedLanguageIndex):
        return PendingSegments()
    return PendingSegments.of(index.commit.languages[language], index.segments, shelf.live, shelf.store.id_order)


class IndexWriter:
    """The one writer of an index, from ``with`` to its end; a second is refused and told who the first is.

    ``settings`` are options of the system for languages that the index does not have yet (its lexicon, say).
    ``background``: segments are merged by a thread of its own when there are many, or much of one is deleted.

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

    def __init__(self, path: Path | str, settings: Mapping[str, str] | None = None, background: bool = True) -> None:
        self.path = Path(path)
        self._settings = dict(settings or {})
        self._background = background
        self._added: dict[str, dict[str, Document]] = {}
        self._gone: dict[str, set[str]] = {}
        self._new_systems: dict[str, System] = {}
        self._committing = threading.RLock()
        self._merging: threading.Thread | None = None
        self._building: set[str] = set()

    def __enter__(self) -> Self:
        Manifest.load(self.path)
        self._lock = WriteLock(self.path)
        self._lock.acquire()
        try:
            self._index = open_index(self.path)
            sweep(self.path, self._index.commit)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.wait()
        finally:
            self._index.close()
            self._lock.release()

    @property
    def index(self) -> OpenIndex:
        """The index as it was committed last."""
        return self._index

    def add(self, documents: Iterable[Document]) -> int:
        """Add documents, each in place of the one with its language and id if there is one; how many there were.

        A document that does not tell its language has the only one of the index, or that which it looks like.
        """
        count = 0
        for document in documents:
            if not document.id:
                raise InputError("document: one without an id cannot be added; give each its own")
            language = self._language(document)
            self._system(language)
            self._added.setdefault(language, {})[document.id] = document
            count += 1
        return count

    def delete(self, ids: Iterable[str], languages: Sequence[str] | None = None) -> int:
        """Delete documents by id, in the given languages or in all; how many there were."""
        wanted = list(dict.fromkeys(ids))
        self._index.choose([name for name in languages or () if name not in self._added])
        count = 0
        for language in languages or dict.fromkeys([*self._index.languages, *self._added]):
            added, gone = self._added.get(language, {}), self._gone.setdefault(language, set())
            was_added = {id_ for id_ in wanted if added.pop(id_, None) is not None}
            count += len(was_added | self._known(language, [id_ for id_ in wanted if id_ not in gone]))
            gone.update(wanted)
        return count

    def commit(self) -> int:
        """Make everything since the last commit seen, and lasting; the generation of the index."""
        with self._committing:
            with self._builder() as builder:
                for language in dict.fromkeys([*self._gone, *self._added]):
                    documents = Collection(self._added.get(language, {}).values(), language)
                    builder.change(language, documents, self._gone.get(language, set()), self._system(language))
                self._finish(builder)
            self._added, self._gone, self._new_systems = {}, {}, {}
        if self._background:
            self._merge_in_background()
        return self._index.generation

    def compact(self) -> int:
        """Merge all segments of each language into one, without what is deleted; the generation of the index."""
        self.wait()
        for merge in merge_all(self._index.commit):
            self._merge(merge)
        return self._index.generation

    @property
    def is_merging(self) -> bool:
        """Whether segments are being merged at this moment."""
        return self._merging is not None and self._merging.is_alive()

    def wait(self) -> None:
        """Return when nothing is being merged."""
        if self._merging is not None:
            self._merging.join()
            self._merging = None

    def _finish(self, builder: CommitWriter) -> None:
        if builder.commit():
            self._index = self._index.refreshed()
            sweep(self.path, self._index.commit, self._building)

    def _merge_in_background(self) -> None:
        if self.is_merging:
            return
        merge = choose_merge(self._index.commit)
        if merge is not None:
            self._merging = threading.Thread(target=self._try_to_merge, args=(merge,), name="isogloss-merge")
            self._merging.start()

    def _try_to_merge(self, merge: Merge | None) -> None:
        """Merge until there is nothing to merge. The index is whole without it, so what goes wrong is only told."""
        while merge is not None:
            try:
                self._merge(merge)
            except (OSError, ValueError, InputError) as error:
                if {segment.name for segment in self._index.commit.segments}.issuperset(merge.names):
                    logging.getLogger("isogloss").warning("%s: segments could not be merged: %s", self.path, error)
                    return  # otherwise one has lost all its documents meanwhile, and was taken away
            merge = choose_merge(self._index.commit)

    def _merge(self, merge: Merge) -> None:
        """Build a merged segment from what is there now; then, at once, put it in the place of its parts."""
        index = self._index
        name = new_name(merge.language, index.generation + 1)
        self._building.add(name)
        try:
            with CommitBuilder(index) as builder:
                merged = builder.merge(merge, name)
                with self._committing:
                    builder.rebase(self._index)
                    builder.put_in_place(merge, merged)
                    self._finish(builder)
        finally:
            self._building.discard(name)

    def _language(self, document: Document) -> str:
        if document.language:
            return document.language
        known = list(self._index.commit.languages)
        return known[0] if len(known) == 1 else identify_language(document.text, known)

    def _system(self, language: str) -> System:
        """A system for documents of a language, ready to index them."""
        if language in self._index.systems:
            return copy(self._index.systems[language])
        if language not in self._new_systems:
            self._new_systems[language] = self._made(language)
        return self._new_systems[language]

    def _made(self, language: str) -> System:
        check_language(language)
        manifest = self._index.manifest
        known = ", ".join(self._index.commit.languages)
        told = {name: str(value) for name, value in manifest.options.items() if value != ""}
        pair = (manifest.query_language, language)
        try:
            system = make_system(manifest.system, pair, {**told, **self._settings})
            if system.learns:
                raise InputError(f"{manifest.system} has to learn a language before it can index it")
            system.index_texts([])
        except InputError as error:
            raise InputError(f"{self.path}: has {known}, and cannot take documents in {language!r}: {error}") from error
        return system

    def _known(self, language: str, ids: Sequence[str]) -> set[str]:
        """Those of the ids that the index has."""
        shelf = self._index.languages.get(language)
        return set() if shelf is None else shelf.known(ids)

    def _builder(self) -> CommitBuilder | EngineCommit:
        index, note = self._index, self._index.manifest.store
        return CommitBuilder(index) if index.engine is None or note is None else EngineCommit(index, index.engine, note)

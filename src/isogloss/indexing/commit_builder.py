"""A commit to an index in the making: what its systems make of the documents goes into the segments."""

from __future__ import annotations

from collections.abc import Collection as Container
from copy import copy
from pathlib import Path

from isogloss.corpus.collection import Collection
from isogloss.evaluation.system import Allowed, System
from isogloss.index.commit_writer import CommitWriter, Merged
from isogloss.index.compaction import Merge
from isogloss.index.draft import Draft
from isogloss.index.segments import Segment
from isogloss.index.store import Rows
from isogloss.indexing.reader import OpenIndex
from isogloss.search.shelf import MappedShelf


class CommitBuilder(CommitWriter):
    """Changes to an index, written but not yet named by its ``commit.json``."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        super().__init__(index.path, index.commit, _drafts(index))

    def rebase(self, index: OpenIndex) -> None:
        """Start from a commit; of what was done before only merged segments that have no place yet are kept."""
        self._index = index
        self.start_from(index.commit, _drafts(index))

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


def _drafts(index: OpenIndex) -> dict[str, Draft]:
    return {language: _draft(index, language) for language in index.commit.languages}


def _draft(index: OpenIndex, language: str) -> Draft:
    shelf = index.engine.shelves.get(language)
    if not isinstance(shelf, MappedShelf):
        return Draft()
    return Draft.of(index.commit.languages[language], index.segments, shelf.live, shelf.store.id_order)

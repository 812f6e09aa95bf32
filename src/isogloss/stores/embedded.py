"""The house's own files as a store: segments and commits, as in every index, with vectors that are brought along.

Exact float32 search over mapped files. Readers lock nothing and see one commit, whole; a writer holds the lock of the
directory while it writes, so that several processes may share it.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from isogloss.base.errors import InputError
from isogloss.corpus.collection import Collection
from isogloss.corpus.records import Document
from isogloss.index.commit import FILE as COMMIT
from isogloss.index.commit import Commit
from isogloss.index.commit_writer import CommitWriter, sweep
from isogloss.index.compaction import Merge, choose_merge
from isogloss.index.draft import Draft
from isogloss.index.lock import WriteLock
from isogloss.index.segment_reader import SegmentReader
from isogloss.index.segments import Segment, check_language, new_name
from isogloss.index.vectors import VectorIndex
from isogloss.stores.batches import checked_batch, checked_queries
from isogloss.stores.embedded_shelf import VECTORS, EmbeddedShelf, save_merged
from isogloss.stores.store import Answer, Filters, Matrix

_ATTEMPTS = 20


@dataclass(frozen=True)
class _State:
    """What there was at one commit."""

    commit: Commit = field(default_factory=lambda: Commit(""))
    segments: Mapping[str, Segment] = field(default_factory=dict)
    shelves: Mapping[str, EmbeddedShelf] = field(default_factory=dict)

    @property
    def dimension(self) -> int | None:
        """The number of components of the vectors, where there are any."""
        return next((shelf.dimension for shelf in self.shelves.values()), None)


class EmbeddedStore:
    """A store in a directory, which is made if it is not there.

    >>> from tempfile import mkdtemp
    >>> import numpy as np
    >>> store = EmbeddedStore(Path(mkdtemp()) / "store")
    >>> store.add([Document("a", "du sel", language="fr")], np.ones((1, 2), np.float32))
    >>> store.search("fr", np.ones((1, 2), np.float32), k=10)
    [Answer(found=(Found(id='a', score=2.0),), missing=())]
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._looking, self._writing = threading.Lock(), threading.Lock()
        self._state, self._seen = _State(), _stamp(self.path)
        self._state = self._opened(_State())

    def add(self, documents: Sequence[Document], vectors: Matrix) -> None:
        """Add or replace documents in one commit."""
        with self._writing, WriteLock(self.path), self._writer() as writer:
            matrix = checked_batch(documents, vectors, self._state.dimension)
            for language, rows in _by_language(documents).items():
                if language not in self._state.commit.languages:
                    check_language(language)
                    writer.begin_language(language)
                added = Collection((documents[row] for row in rows), language)
                writer.lose(language, set(added.ids))
                made = VectorIndex.build(matrix[rows], added.id_order, storage="float32", approximate="no")
                writer.append(language, added, partial(_save_vectors, made))
            self._commit(writer)

    def delete(self, language: str, ids: Sequence[str]) -> int:
        """Take documents out in one commit."""
        with self._writing, WriteLock(self.path), self._writer() as writer:
            if language not in self._state.commit.languages:
                return 0
            lost = writer.lose(language, set(ids))
            self._commit(writer)
            return lost

    def search(self, language: str, queries: Matrix, k: int, filters: Filters | None = None) -> list[Answer]:
        """The best ``k`` documents of a language for each query."""
        state = self._now()
        asked, shelf = checked_queries(queries, state.dimension), state.shelves.get(language)
        return [Answer(())] * len(asked) if shelf is None else shelf.search(asked, k, filters)

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        """Documents by their ids."""
        shelf = self._now().shelves.get(language)
        rows: Iterable[int | None] = [None] * len(ids) if shelf is None else map(shelf.find, ids)
        return [None if row is None or shelf is None else shelf.store[row] for row in rows]

    def documents(self, language: str) -> Iterator[Document]:
        """The documents of a language, as they are at this moment."""
        shelf = self._now().shelves.get(language)
        for row in range(len(shelf.store)) if shelf else ():
            if shelf and (shelf.live is None or shelf.live[row]):
                yield shelf.store[row]

    def counts(self) -> dict[str, int]:
        """How many documents there are of each language."""
        return {language: shelf.count for language, shelf in self._now().shelves.items()}

    def about(self) -> dict[str, Any]:
        """Where it is, and how its vectors are kept."""
        state = self._now()
        vectors = {language: shelf.about() for language, shelf in state.shelves.items()}
        return {"engine": "embedded", "search": "exact", "generation": state.commit.generation, "vectors": vectors}

    def close(self) -> None:
        """Let go of the maps."""
        with self._looking:
            self._state, self._seen = _State(), None

    def drop(self) -> None:
        """Take the whole directory away."""
        self.close()
        shutil.rmtree(self.path)

    def _now(self) -> _State:
        """What there is now; looked for again where somebody has committed since."""
        with self._looking:
            stamp = _stamp(self.path)
            if stamp != self._seen:
                self._state, self._seen = self._opened(self._state), stamp
            return self._state

    def _opened(self, before: _State) -> _State:
        seen: Commit | None = None
        for _ in range(_ATTEMPTS):
            commit = Commit.load(self.path) if (self.path / COMMIT).exists() else Commit("")
            try:
                return _open(self.path, commit, before)
            except (OSError, ValueError, KeyError, InputError) as error:
                if seen == commit:  # nobody has changed it in between: it is the store itself
                    raise InputError(f"{self.path}: the store is damaged ({error}); restore it") from error
                seen = commit
        raise InputError(f"{self.path}: the store changes faster than it can be opened; try again")

    def _writer(self) -> CommitWriter:
        state = self._now()
        drafts = {language: _draft(state, language) for language in state.commit.languages}
        return CommitWriter(self.path, state.commit, drafts, ordered=False)

    def _commit(self, writer: CommitWriter) -> None:
        """Let it be so; then merge segments, where there are many."""
        if not writer.commit():
            return
        while merge := choose_merge(self._now().commit):
            self._merge(merge)
        sweep(self.path, self._now().commit)

    def _merge(self, merge: Merge) -> None:
        with self._writer() as writer:
            name = new_name(merge.language, self._state.commit.generation + 1)
            writer.put_in_place(merge, writer.write_merged(merge, name, save_merged))
            writer.commit()


def _open(path: Path, commit: Commit, before: _State) -> _State:
    reader = SegmentReader(path, commit, before.segments)
    shelves = {}
    for language, entry in commit.languages.items():
        whole = reader.whole(entry)
        if before.commit.languages.get(language) == entry and language in before.shelves:
            shelves[language] = before.shelves[language]
        elif whole:
            known = before.shelves[language].vectors if language in before.shelves else {}
            shelves[language] = EmbeddedShelf(reader.rows(whole), known)
    return _State(commit, reader.segments, shelves)


def _draft(state: _State, language: str) -> Draft:
    shelf = state.shelves.get(language)
    if shelf is None:
        return Draft(ordered=False)
    return Draft.of(state.commit.languages[language], state.segments, shelf.live, None)


def _by_language(documents: Sequence[Document]) -> dict[str, list[int]]:
    """The numbers of the documents of each language."""
    found: dict[str, list[int]] = {}
    for number, document in enumerate(documents):
        found.setdefault(document.language, []).append(number)
    return found


def _save_vectors(vectors: VectorIndex, part: Path) -> None:
    vectors.save(part / VECTORS)


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes whenever ``commit.json`` is replaced; None where there is none."""
    try:
        seen = (path / COMMIT).stat()
    except FileNotFoundError:
        return None
    return seen.st_ino, seen.st_mtime_ns

"""Opening an index for searching: files are mapped, not read, and nothing is locked.

``commit.json`` names the segments. A writer may replace it, and remove files that it no longer names, at any moment:
open maps stay valid, and where a file has disappeared while the index is opened, the next ``commit.json`` is read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.data.documents import Document
from isogloss.engines.addresses import address_of
from isogloss.engines.base import EngineUnavailableError, IndexEngine, Listing
from isogloss.engines.registry import open_engine
from isogloss.index.commit import Commit, LanguageEntry
from isogloss.index.documents import DocumentStore, JoinedDocuments, LiveDocuments
from isogloss.index.language_index import LanguageIndex, MappedLanguageIndex
from isogloss.index.language_systems import LanguageSystems, bare_systems
from isogloss.index.manifest import FILE as MANIFEST
from isogloss.index.manifest import Manifest
from isogloss.index.segments import SEGMENTS, SHARED, SOURCES, Segment, SegmentReader
from isogloss.retrieval.postings import JoinedPostings
from isogloss.storage import checksums
from isogloss.storage.errors import DamagedIndexError, InputError, refuse_no_damage
from isogloss.storage.verifying import LargeFile, OpeningChecks, background, damage_of
from isogloss.storage.wording import way
from isogloss.text.language_names import code_or_itself

Sources = DocumentStore | JoinedDocuments | LiveDocuments
"""Documents by row."""
LanguageIndexes = Mapping[str, LanguageIndex[Any]]
"""For each language its documents, which can be searched."""
_ATTEMPTS = 20
_DAMAGE = (
    OSError, ValueError, InputError, MemoryError, LookupError, TypeError, AttributeError, ArithmeticError,
    RecursionError,
)  # fmt: skip
"""What loading files raises that somebody has changed."""


@dataclass(frozen=True)
class OpenIndex:
    """An index at one commit; ``refreshed`` gives the latest.

    :class:`isogloss.search.searcher.Searcher` searches it.
    """

    path: Path
    manifest: Manifest
    commit: Commit
    by_query_language: Mapping[str, LanguageIndexes] = field(repr=False)
    """For each language of the queries, and each of the documents: the documents and the system for the pair."""
    segments: Mapping[str, Segment] = field(repr=False)
    systems: Mapping[str, LanguageSystems] = field(repr=False)
    """For each language of the documents its systems with their shared files and no documents."""
    damaged: tuple[str, ...] = ()
    """Segments that were left out, each with its error."""
    skip_damaged: bool = False
    engine: IndexEngine | None = field(default=None, repr=False)
    """The engine that stores the documents, if the index has one."""
    large: tuple[LargeFile, ...] = field(default=(), repr=False)
    """Files that were not all compared with their checksums when the index was opened."""

    @property
    def languages(self) -> LanguageIndexes:
        """For each language its documents, searched with queries in the first language of the queries."""
        return self.by_query_language[self.manifest.query_language]

    def choose(self, languages: Sequence[str] | None, query_language: str = "") -> dict[str, LanguageIndex[Any]]:
        """The indexes of these languages, or of all, for queries in a language: the first unless it is named."""
        self.refuse_damage()
        languages = [each if each in self.languages else code_or_itself(each) for each in languages or ()]
        unknown = [language for language in languages if language not in self.languages]
        if unknown:
            raise InputError(f"language: {unknown[0]!r} is not in this index; it has {', '.join(self.languages)}")
        indexes = self.by_query_language[query_language or self.manifest.query_language]
        return {name: index for name, index in indexes.items() if not languages or name in languages}

    def documents(self, language: str) -> Iterator[Document]:
        """The documents of a language that are not deleted, one after the other."""
        opened = self.languages[language]
        if isinstance(opened, MappedLanguageIndex):
            store, live = opened.store, opened.live
            return (store[row] for row in range(len(store)) if live is None or live[row])
        if not isinstance(self.engine, Listing):
            raise InputError(f"{self.path}: its documents are in an engine that does not list them")
        return self.engine.documents(language)

    @property
    def generation(self) -> int:
        """The number of commits so far."""
        return self.commit.generation

    @property
    def fingerprints(self) -> dict[str, str]:
        """A hash of the model of each language."""
        return {language: shared_note(self.commit, language).hash for language in self.commit.languages}

    def refreshed(self) -> OpenIndex:
        """The index at its latest commit: this object if that is the same; otherwise, what did not change is shared.

        Damage that was found in the background is an error until the file has been replaced, or is no longer used.
        """
        damage = damage_of(self.large)
        if Commit.load(self.path) == self.commit and not (damage and damage[0].is_replaced):
            self.refuse_damage()
            return self
        return open_index(self.path, self.skip_damaged, None if damage else self)

    def verify(self) -> threading.Event:
        """Compare files with their checksums that were not compared yet, in the background; set when that is done.

        Once one is found to be damaged, every search is an error.
        """
        return background.verify(self.large)

    def refuse_damage(self) -> None:
        """Raise if a file was found to be damaged in the background."""
        damage = damage_of(self.large)
        if damage is not None:
            raise _damaged(self.path, damage[1])

    def close(self) -> None:
        """Disconnect from the engine, if there is one; refreshed indexes share it."""
        if self.engine is not None:
            self.engine.close()

    @cached_property
    def sources(self) -> dict[str, Sources]:
        """Documents in each language of the queries, to search with, where there are some; opened at first use."""
        found = {language: self._sources(language) for language in self.manifest.query_languages}
        return {language: sources for language, sources in found.items() if sources is not None}

    def _sources(self, language: str) -> Sources | None:
        searched = self.languages.get(language)
        if isinstance(searched, MappedLanguageIndex):
            return searched.store if searched.live is None else LiveDocuments(searched.store, searched.live)
        count = self.manifest.sources.get(language, 0)
        if not count:
            return None
        try:
            note = self.commit.files[f"{SOURCES}/{checksums.FILE}"]
            OpeningChecks().check(checksums.check_directory(self.path / SOURCES, note))
            store = DocumentStore.load(self.path / SOURCES / language)
            if len(store) != count:
                raise ValueError(f"{SOURCES}/{language} holds {len(store)} documents, not {count}")
            return store
        except (OSError, ValueError, KeyError) as error:
            refuse_no_damage(error)
            what = "make it again with 'isogloss index'"
            raise DamagedIndexError(f"{self.path}: the index is damaged ({error}); {what}") from error

    def about(self) -> dict[str, Any]:
        """Facts about the index, as plain values."""
        systems = {language: language_index.about() for language, language_index in self.languages.items()}
        segments, note = self.commit.segments, self.manifest.engine
        return {
            "path": str(self.path),
            "format": self.manifest.format,
            "generation": self.generation,
            "system": self.manifest.system,
            "query_languages": list(self.manifest.query_languages),
            "documents": dict(self.manifest.documents),
            "deleted": sum(segment.deleted for segment in segments),
            "segments": len(segments),
            "sources": dict(self.manifest.sources),
            "bytes": self._bytes,
            "recall": {name: about["recall"] for name, about in systems.items() if "recall" in about},
            "vectors": {name: about for name, about in systems.items() if about},
            "damaged": list(self.damaged),
            **({"engine": {"url": note.url, **self.engine.about()}} if self.engine and note else {}),
        }

    @cached_property
    def _bytes(self) -> int:
        return sum(map(_size, self.path.rglob("*")))


def open_index(
    path: Path | str, skip_damaged: bool = False, before: OpenIndex | None = None, engine: str = ""
) -> OpenIndex:
    """Open an index for searching; with ``skip_damaged``, without damaged segments.

    ``before`` is the same index at an earlier commit; what has not changed is shared with it. ``engine`` is the address
    of its engine, which is needed where the user has not named it on this machine before.
    """
    path = Path(path)
    seen: tuple[Manifest, Commit] | None = None
    for _ in range(_ATTEMPTS):
        manifest = Manifest.load(path)
        commit = Commit.load(path)
        try:
            if commit.identity != manifest.identity:
                raise ValueError("commit.json does not belong to index.json")
            manifest = Manifest.load(path, commit.files[MANIFEST])
            return _Opening(path, manifest, commit, skip_damaged, before, engine).opened()
        except EngineUnavailableError:
            raise
        except _DAMAGE as error:
            refuse_no_damage(error)
            if seen == (manifest, commit):  # no writer has changed it in between: the index itself is damaged
                if type(error) is InputError and str(path) not in str(error):
                    raise InputError(f"{path}: {error}") from error
                if isinstance(error, InputError):
                    raise
                raise _damaged(path, error) from error
            seen = manifest, commit
    raise InputError(f"{path}: the index changes faster than it can be opened; try again")


def _damaged(path: Path, error: Exception) -> DamagedIndexError:
    found = str(error) if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError) and error.filename:
        found = f"{error.filename} is missing"
    rest = f"{way('--skip-damaged', 'skip_damaged=True')} opens the rest"
    what = f"mend it with 'isogloss check {path} --repair', or restore it; {rest}"
    return DamagedIndexError(f"{path}: the index is damaged ({' '.join(found.split())}); {what}")


def load_systems(path: Path, manifest: Manifest, language: str) -> LanguageSystems:
    """The systems of an index for one of its languages, with their shared files, without documents."""
    systems = bare_systems(manifest.system, manifest.options, manifest.query_languages, language)
    return systems.load_shared(path / SHARED / language)


def shared_note(commit: Commit, language: str) -> checksums.FileNote:
    """The note of the shared files of a language's systems; its hash is the fingerprint of their models."""
    return commit.files[f"{SHARED}/{language}/{checksums.FILE}"]


class _Opening:
    """Opens the index of one commit."""

    def __init__(
        self, path: Path, manifest: Manifest, commit: Commit, skip_damaged: bool, before: OpenIndex | None, engine: str
    ) -> None:
        self.path, self.manifest, self.commit, self.skip_damaged = path, manifest, commit, skip_damaged
        self.engine = engine
        self.before = before if before is not None and before.commit.identity == commit.identity else None
        self.checks = OpeningChecks()
        self.reader = SegmentReader(
            path, commit, self.before.segments if self.before else None, skip_damaged, self.checks
        )

    def opened(self) -> OpenIndex:
        """The open index."""
        systems = {language: self._systems(language) for language in self.commit.languages}
        engine = self._engine()
        try:
            opened = self._mapped(systems) if engine is None else self._in_engine(systems, engine)
        except BaseException:
            if engine is not None and self.before is None:
                engine.close()
            raise
        query_languages = self.manifest.query_languages
        indexes = {
            of_query: {language: each[of_query] for language, each in opened.items()} for of_query in query_languages
        }
        counts = {language: each[query_languages[0]].count for language, each in opened.items()}
        manifest = replace(self.manifest, documents=counts)
        return OpenIndex(
            self.path, manifest, self.commit, indexes, self.reader.segments, systems, tuple(self.reader.damaged),
            self.skip_damaged, engine, self._large(),
        )  # fmt: skip

    def _large(self) -> tuple[LargeFile, ...]:
        """Those of before that are still used, and the new ones."""
        used = {self.path / SEGMENTS / name for name in self.reader.segments} | {
            self.path / SHARED / language for language in self.commit.languages
        }
        before = self.before.large if self.before is not None else ()
        return (*(each for each in before if not used.isdisjoint(each.path.parents)), *self.checks.files)

    def _mapped(self, systems: Mapping[str, LanguageSystems]) -> dict[str, LanguageIndexes]:
        """For each language of the documents, and each of the queries, what searches them."""
        opened = {
            language: self._language_index(language, entry, systems[language])
            for language, entry in self.commit.languages.items()
        }
        return {language: indexes for language, indexes in opened.items() if indexes}

    def _in_engine(self, systems: Mapping[str, LanguageSystems], engine: IndexEngine) -> dict[str, LanguageIndexes]:
        from isogloss.index.engine_language_index import EngineLanguageIndex  # with all that engines need
        from isogloss.index.engine_systems import for_engine

        assert self.manifest.engine is not None
        counts, dimension, fields = engine.counts(), self.manifest.engine.dimension, self.manifest.fields
        return {
            language: {
                of_query: EngineLanguageIndex(
                    for_engine(system), engine, language, dimension, counts.get(language, 0), fields
                )
                for of_query, system in of_language.items()
            }
            for language, of_language in systems.items()
        }

    def _engine(self) -> IndexEngine | None:
        note = self.manifest.engine
        if note is None or self.before is not None:
            return None if self.before is None else self.before.engine
        return open_engine(address_of(note.url, note.name, self.engine), note.name)

    def _systems(self, language: str) -> LanguageSystems:
        if self.before is not None and language in self.before.systems:
            return self.before.systems[language]
        folder = self.path / SHARED / language
        self.checks.check(checksums.check_directory(folder, shared_note(self.commit, language)))
        return load_systems(self.path, self.manifest, language)

    def _language_index(self, language: str, entry: LanguageEntry, systems: LanguageSystems) -> LanguageIndexes:
        whole = self.reader.whole(entry)
        if self.before is not None and self.before.commit.languages.get(language) == entry:
            before = self.before.by_query_language.items()
            return {of_query: indexes[language] for of_query, indexes in before if language in indexes}
        if not whole:
            return {}
        segments = [self.reader.segments[each.name] for each in whole]
        live, order = self.reader.live(whole), self.reader.order(entry, whole)
        systems = copy(systems).load_parts([segment.part for segment in segments], order)
        if live is not None:
            systems.count_only(live)
        documents = JoinedDocuments([segment.store for segment in segments], order)
        fields = JoinedPostings([each.fields for each in segments])
        return {name: MappedLanguageIndex(system, documents, fields, live) for name, system in systems.items()}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:  # a writer has removed it
        return 0

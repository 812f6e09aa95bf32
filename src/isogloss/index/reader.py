"""Opening an index for searching: files are mapped, not read, and nothing is locked.

``commit.json`` names the segments. A writer may replace it, and remove files that it no longer names, at any moment:
open maps stay valid, and where a file has disappeared while the index is opened, the next ``commit.json`` is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.engines.base import EngineUnavailableError, IndexEngine
from isogloss.engines.registry import open_engine
from isogloss.index.commit import Commit, LanguageEntry
from isogloss.index.documents import DocumentStore, JoinedDocuments, LiveDocuments
from isogloss.index.language_index import EngineLanguageIndex, LanguageIndex, MappedLanguageIndex, for_engine
from isogloss.index.manifest import Manifest
from isogloss.index.segments import SHARED, SOURCES, Segment, SegmentReader
from isogloss.retrieval.postings import JoinedPostings
from isogloss.storage import checksums
from isogloss.storage.errors import InputError
from isogloss.systems.base import System
from isogloss.systems.registry import make_system

Sources = DocumentStore | JoinedDocuments | LiveDocuments
"""Documents by row."""
_ATTEMPTS = 20


@dataclass(frozen=True)
class OpenIndex:
    """An index at one commit; ``refreshed`` gives the latest.

    :class:`isogloss.search.searcher.Searcher` searches it.
    """

    path: Path
    manifest: Manifest
    commit: Commit
    languages: Mapping[str, LanguageIndex[Any]] = field(repr=False)
    """For each language its documents, which can be searched."""
    segments: Mapping[str, Segment] = field(repr=False)
    systems: Mapping[str, System] = field(repr=False)
    """For each language a system with its shared files and no documents."""
    damaged: tuple[str, ...] = ()
    """Segments that were left out, each with its error."""
    skip_damaged: bool = False
    engine: IndexEngine | None = field(default=None, repr=False)
    """The engine that stores the documents, if the index has one."""

    def choose(self, languages: Sequence[str] | None) -> dict[str, LanguageIndex[Any]]:
        """The indexes of these languages, or of all."""
        unknown = [language for language in languages or () if language not in self.languages]
        if unknown:
            raise InputError(f"language: {unknown[0]!r} is not in this index; it has {', '.join(self.languages)}")
        return {name: index for name, index in self.languages.items() if not languages or name in languages}

    @property
    def generation(self) -> int:
        """The number of commits so far."""
        return self.commit.generation

    @property
    def fingerprints(self) -> dict[str, str]:
        """A hash of the model of each language."""
        return {language: shared_note(self.commit, language).hash for language in self.commit.languages}

    def refreshed(self) -> OpenIndex:
        """The index at its latest commit: this object if that is the same; otherwise, what did not change is shared."""
        if Commit.load(self.path) == self.commit:
            return self
        return open_index(self.path, self.skip_damaged, self)

    def close(self) -> None:
        """Disconnect from the engine, if there is one; refreshed indexes share it."""
        if self.engine is not None:
            self.engine.close()

    @cached_property
    def sources(self) -> Sources | None:
        """Documents in the language of the queries, to search with; opened at their first use."""
        searched = self.languages.get(self.manifest.query_language)
        if isinstance(searched, MappedLanguageIndex):
            return searched.store if searched.live is None else LiveDocuments(searched.store, searched.live)
        if not self.manifest.sources:
            return None
        try:
            store = DocumentStore.load(self.path / SOURCES)
            if len(store) != self.manifest.sources:
                raise ValueError(f"{SOURCES} holds {len(store)} documents, not {self.manifest.sources}")
            return store
        except (OSError, ValueError) as error:
            what = "make it again with 'isogloss index'"
            raise InputError(f"{self.path}: the index is damaged ({error}); {what}") from error

    def about(self) -> dict[str, Any]:
        """Facts about the index, as plain values."""
        systems = {language: language_index.about() for language, language_index in self.languages.items()}
        segments, note = self.commit.segments, self.manifest.engine
        return {
            "path": str(self.path),
            "format": self.manifest.format,
            "generation": self.generation,
            "system": self.manifest.system,
            "query_language": self.manifest.query_language,
            "documents": dict(self.manifest.documents),
            "deleted": sum(segment.deleted for segment in segments),
            "segments": len(segments),
            "sources": self.manifest.sources,
            "bytes": self._bytes,
            "recall": {name: about["recall"] for name, about in systems.items() if "recall" in about},
            "vectors": {name: about for name, about in systems.items() if about},
            "damaged": list(self.damaged),
            **({"engine": {"url": note.url, **self.engine.about()}} if self.engine and note else {}),
        }

    @cached_property
    def _bytes(self) -> int:
        return sum(map(_size, self.path.rglob("*")))


def open_index(path: Path | str, skip_damaged: bool = False, before: OpenIndex | None = None) -> OpenIndex:
    """Open an index for searching; with ``skip_damaged``, without damaged segments.

    ``before`` is the same index at an earlier commit; what has not changed is shared with it.
    """
    path = Path(path)
    seen: tuple[Manifest, Commit] | None = None
    for _ in range(_ATTEMPTS):
        manifest = Manifest.load(path)
        commit = Commit.load(path)
        try:
            if commit.identity != manifest.identity:
                raise ValueError("commit.json does not belong to index.json")
            return _Opening(path, manifest, commit, skip_damaged, before).opened()
        except EngineUnavailableError:
            raise
        except (OSError, ValueError, InputError) as error:
            if seen == (manifest, commit):  # no writer has changed it in between: the index itself is damaged
                if isinstance(error, InputError):
                    raise
                what = f"mend it with 'isogloss check {path} --repair', or restore it; --skip-damaged opens the rest"
                raise InputError(f"{path}: the index is damaged ({error}); {what}") from error
            seen = manifest, commit
    raise InputError(f"{path}: the index changes faster than it can be opened; try again")


def bare_system(manifest: Manifest, language: str) -> System:
    """The system of an index for one of its languages, with its options, without model and documents."""
    settings = {name: str(value) for name, value in manifest.options.items()}
    return make_system(manifest.system, (manifest.query_language, language), settings)


def shared_note(commit: Commit, language: str) -> checksums.FileNote:
    """The note of the shared files of a language's system; its hash is the fingerprint of the model."""
    return commit.files[f"{SHARED}/{language}/{checksums.FILE}"]


class _Opening:
    """Opens the index of one commit."""

    def __init__(
        self, path: Path, manifest: Manifest, commit: Commit, skip_damaged: bool, before: OpenIndex | None
    ) -> None:
        self.path, self.manifest, self.commit, self.skip_damaged = path, manifest, commit, skip_damaged
        self.before = before if before is not None and before.commit.identity == commit.identity else None
        self.reader = SegmentReader(path, commit, self.before.segments if self.before else None, skip_damaged)

    def opened(self) -> OpenIndex:
        """The open index."""
        systems = {language: self._system(language) for language in self.commit.languages}
        engine = self._engine()
        try:
            languages = self._mapped(systems) if engine is None else self._in_engine(systems, engine)
        except BaseException:
            if engine is not None and self.before is None:
                engine.close()
            raise
        counts = {language: language_index.count for language, language_index in languages.items()}
        manifest = replace(self.manifest, documents=counts)
        return OpenIndex(
            self.path, manifest, self.commit, languages, self.reader.segments, systems, tuple(self.reader.damaged),
            self.skip_damaged, engine,
        )  # fmt: skip

    def _mapped(self, systems: Mapping[str, System]) -> dict[str, LanguageIndex[Any]]:
        opened = {
            language: self._language_index(language, entry, systems[language])
            for language, entry in self.commit.languages.items()
        }
        return {language: language_index for language, language_index in opened.items() if language_index is not None}

    def _in_engine(self, systems: Mapping[str, System], engine: IndexEngine) -> dict[str, LanguageIndex[Any]]:
        assert self.manifest.engine is not None
        counts, dimension = engine.counts(), self.manifest.engine.dimension
        return {
            language: EngineLanguageIndex(for_engine(system), engine, language, dimension, counts.get(language, 0))
            for language, system in systems.items()
        }

    def _engine(self) -> IndexEngine | None:
        note = self.manifest.engine
        if note is None or self.before is not None:
            return None if self.before is None else self.before.engine
        return open_engine(note.url, note.name)

    def _system(self, language: str) -> System:
        if self.before is not None and language in self.before.systems:
            return self.before.systems[language]
        folder = self.path / SHARED / language
        checksums.check_directory(folder, shared_note(self.commit, language))
        return bare_system(self.manifest, language).load_shared(folder)

    def _language_index(self, language: str, entry: LanguageEntry, system: System) -> LanguageIndex[Any] | None:
        whole = self.reader.whole(entry)
        if self.before is not None and self.before.commit.languages.get(language) == entry:
            return self.before.languages.get(language)
        if not whole:
            return None
        segments = [self.reader.segments[each.name] for each in whole]
        live, order = self.reader.live(whole), self.reader.order(entry, whole)
        system = copy(system).load_parts([segment.part for segment in segments], order)
        if live is not None:
            system.count_only(live)
        documents = JoinedDocuments([segment.store for segment in segments], order)
        return MappedLanguageIndex(system, documents, JoinedPostings([each.fields for each in segments]), live)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:  # a writer has removed it
        return 0

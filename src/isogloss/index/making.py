"""Making indexes: for each language of the documents a system and a first segment, under one manifest."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import isogloss
from isogloss.data.dataset import load_collection, load_training
from isogloss.data.documents import Collection, Document
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.index.commit import Commit, LanguageEntry, SegmentEntry
from isogloss.index.documents import DocumentStore
from isogloss.index.in_engine import NewEngineIndex, dropping_the_old_engine_index, new_engine_index
from isogloss.index.language_index import for_engine
from isogloss.index.lock import FILE as LOCK
from isogloss.index.lock import WriteLock
from isogloss.index.manifest import FILE, Manifest
from isogloss.index.reader import open_index
from isogloss.index.scales import usual_scores
from isogloss.index.segments import SEGMENTS, SHARED, SOURCES, new_name, write_segment
from isogloss.storage import checksums
from isogloss.storage.checksums import FileNote, write_checksums
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory, refuse_existing
from isogloss.systems.base import System
from isogloss.systems.model_directory import load_model
from isogloss.systems.passages import by_passages
from isogloss.systems.registry import make_system, system_names
from isogloss.text.language import check_language, identify_language

_FILES = ("lexicon", "query_vectors", "document_vectors")

Encode = Callable[[System, Collection, tuple[str, ...]], None]
"""Makes documents the ones that a system scores, reading the given fields: ``System.index``, or the same elsewhere."""


def make_index(
    path: Path, name: str, source: Source, languages: Sequence[str], query_language: str = "en",
    fields: tuple[str, ...] = ("title", "text"), settings: Mapping[str, str] | None = None,
    overwrite: bool = False, problems: Problems | None = None, source_documents: bool = True,
    engine: str = "", encode: Encode | None = None,
) -> Manifest:  # fmt: skip
    """Index the documents of some languages for queries of another. The index appears whole or not at all.

    ``source_documents``: documents in the language of the queries, where the source has some, are kept to search with.
    ``engine``: the address of an engine that is to hold documents and vectors (:mod:`isogloss.engines.registry`).
    """
    _check(languages)
    refuse_existing(path, overwrite)
    pairs = [(query_language, language) for language in languages]
    check = for_engine if engine else None
    systems = (ready_system(name, source, pair, settings, problems, check) for pair in pairs)
    with ExitStack() as stack:
        stack.enter_context(dropping_the_old_engine_index(path))
        made = None
        if engine:
            made = stack.enter_context(new_engine_index(engine, path, (for_engine(system) for system in systems)))
        partial = stack.enter_context(replacing(path, overwrite))
        draft = IndexBuilder(partial, fields, encode=encode, store=made)
        for language, system in zip(languages, made.systems if made else systems, strict=True):
            documents = _of_language(load_collection(source, language, problems), languages, source)
            draft.add(language, system, documents)
        sources = 0
        if source_documents and query_language not in languages:
            sources = _keep_sources(partial / SOURCES, source, query_language, documents[0])
        manifest = draft.finish(query_language, sources)
        if made:
            made.finish()
        return manifest


class IndexBuilder:
    """An index in the making, in an empty directory; its documents go into files there, or into a store."""

    def __init__(
        self, directory: Path, fields: tuple[str, ...], generation: int = 1, encode: Encode | None = None,
        store: NewEngineIndex | None = None,
    ) -> None:  # fmt: skip
        self._directory, self._fields, self._generation = directory, fields, generation
        self._encode, self._store = encode, store
        self._languages: dict[str, LanguageEntry] = {}
        self._files: dict[str, FileNote] = {}
        self._counts: dict[str, int] = {}

    def add(self, language: str, system: System, documents: Collection) -> None:
        """Index the documents of a language."""
        if self._encode is None:
            system.index(documents, self._fields)
        else:
            self._encode(system, documents, self._fields)
        self._languages[language] = self._keep(language, system, documents)
        shared = self._directory / SHARED / language
        shared.mkdir(parents=True)
        system.save_shared(shared)
        self._files[f"{SHARED}/{language}/{checksums.FILE}"] = write_checksums(shared)
        self._system = system

    def finish(self, query_language: str, sources: int) -> Manifest:
        """Write what names it all. The languages have one system; each keeps what it was given of files here."""
        if sources:
            self._files[f"{SOURCES}/{checksums.FILE}"] = write_checksums(self._directory / SOURCES)
        options = kept_options(self._system)
        made_by, identity = f"isogloss {isogloss.__version__}", secrets.token_hex(8)
        manifest = Manifest(
            self._system.name,
            options,
            query_language,
            self._fields,
            self._counts,
            made_by,
            sources=sources,
            identity=identity,
            store=self._store.note if self._store else None,
        )
        self._save(manifest)
        if sources and len(self._languages) > 1:
            with closing(open_index(self._directory)) as opened:
                manifest = replace(manifest, usual=usual_scores(opened))
            self._save(manifest)
        (self._directory / LOCK).touch()
        return manifest

    def _keep(self, language: str, system: System, documents: Collection) -> LanguageEntry:
        """Write the documents of a language and what the system made of them."""
        self._counts[language] = len(documents)
        if self._store is not None:
            self._store.fill(language, for_engine(system), documents)
            return LanguageEntry()
        name = new_name(language, self._generation)
        note = write_segment(self._directory, name, documents, system.save_part)
        self._files[f"{SEGMENTS}/{name}/{checksums.FILE}"] = note
        return LanguageEntry((SegmentEntry(name, len(documents)),))

    def _save(self, manifest: Manifest) -> None:
        files = {FILE: manifest.note, **self._files}
        Commit(manifest.identity, self._generation, self._languages, files).save(self._directory)
        manifest.save(self._directory)


def kept_options(system: System) -> dict[str, Any]:
    """The options of a system without the files it was given: an index keeps what it needs of those."""
    return {name: "" if name in _FILES else value for name, value in asdict(system.options).items()}


@contextmanager
def replacing(path: Path, overwrite: bool) -> Iterator[Path]:
    """An empty directory that takes the place of an index, of which nobody may be the writer meanwhile."""
    with ExitStack() as stack:
        if (path / FILE).is_file():
            stack.enter_context(WriteLock(path))
        yield stack.enter_context(atomic_directory(path, overwrite))


def ready_system(
    name: str, source: Source | None, pair: Pair, settings: Mapping[str, str] | None = None,
    problems: Problems | None = None, check: Callable[[System], object] | None = None,
) -> System:  # fmt: skip
    """A system by name, fitted to the source where it learns; or one that was trained before, by its directory.

    ``check`` sees it before it is fitted, which may take long.
    """
    if name not in system_names() and Path(name).is_dir():
        system = load_model(Path(name))
        if settings:
            raise InputError(f"--set: {name} is trained, its options cannot be changed")
        if (system.query_language, system.document_language) != pair:
            what = f"was trained for {system.query_language}-{system.document_language}, not for {'-'.join(pair)}"
            raise InputError(f"{name}: {what}")
        return by_passages(system)
    made = make_system(name, pair, settings, source)
    if check is not None:
        check(made)
    if made.learns:
        if source is None:
            raise InputError(f"{name}: has to learn first; give it data with --documents SOURCE")
        made.fit(load_training(source, pair, problems))
    return made


def _keep_sources(folder: Path, source: Source, language: str, indexed: Document) -> int:
    """Store the documents of a source that are in the language of the queries; how many there are.

    They are a convenience, so what is wrong with them stops nothing. Some formats give the same documents in whatever
    language they are asked for: those are no sources.
    """
    try:
        found = load_collection(source, language, Problems(stop_at_errors=False))
    except InputError:
        return 0  # it has none
    kept = Collection((document for document in found if document.language == language), language)
    if not len(kept) or replace(kept[0], language=indexed.language) == indexed:
        return 0
    folder.mkdir()
    DocumentStore.of(kept).save(folder)
    return len(kept)


def _check(languages: Sequence[str]) -> None:
    if len(set(languages)) != len(languages) or not languages:
        raise InputError("language: name each language of the documents once")
    for language in languages:
        check_language(language)


def _of_language(documents: Collection, languages: Sequence[str], source: Source) -> Collection:
    """Where several languages are indexed and documents do not say theirs, each goes to the one it looks like."""
    if len(languages) == 1 or all(document.language for document in documents):
        return documents
    kept = [d for d in documents if (d.language or identify_language(d.text, languages)) == documents.language]
    if not kept:
        raise InputError(f"{source.name}: no document looks like {documents.language!r}; leave it out or add 'lang'")
    return Collection(kept, documents.language)

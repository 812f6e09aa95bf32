"""Making an index: for each language of the documents a system and a first segment, under one manifest."""

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
"""Indexes documents with a system, by these fields: ``System.index``, or the same on other machines."""


def make_index(
    path: Path, name: str, source: Source, languages: Sequence[str], query_language: str = "en",
    fields: tuple[str, ...] = ("title", "text"), settings: Mapping[str, str] | None = None,
    overwrite: bool = False, problems: Problems | None = None, source_documents: bool = True,
    engine: str = "", encode: Encode | None = None,
) -> Manifest:  # fmt: skip
    """Index the documents of some languages for queries in another. The index appears when it is complete.

    ``source_documents``: documents in the language of the queries, where the source has some, are stored to search
    with. ``engine``: the address of an engine that stores documents and vectors (:mod:`isogloss.engines.registry`).
    """
    _check(languages)
    refuse_existing(path, overwrite)
    pairs = [(query_language, language) for language in languages]
    check = for_engine if engine else None
    systems = (ready_system(name, source, pair, settings, problems, check) for pair in pairs)
    with ExitStack() as stack:
        stack.enter_context(dropping_the_old_engine_index(path))
        in_engine = stack.enter_context(new_engine_index(engine, path, map(for_engine, systems))) if engine else None
        partial = stack.enter_context(replacing(path, overwrite))
        builder = IndexBuilder(partial, fields, encode=encode, in_engine=in_engine)
        for language, system in zip(languages, in_engine.systems if in_engine else systems, strict=True):
            documents = _of_language(load_collection(source, language, problems), languages, source)
            builder.add(language, system, documents)
        sources = 0
        if source_documents and query_language not in languages:
            sources = _keep_sources(partial / SOURCES, source, query_language, documents[0])
        return builder.finish(query_language, sources)


class IndexBuilder:
    """Builds an index in an empty directory; the documents go into files there, or into an engine."""

    def __init__(
        self, directory: Path, fields: tuple[str, ...], generation: int = 1, encode: Encode | None = None,
        in_engine: NewEngineIndex | None = None,
    ) -> None:  # fmt: skip
        self._directory, self._fields, self._generation = directory, fields, generation
        self._encode, self._in_engine = encode or (lambda system, *documents: system.index(*documents)), in_engine
        self._languages: dict[str, LanguageEntry] = {}
        self._files: dict[str, FileNote] = {}
        self._counts: dict[str, int] = {}

    def add(self, language: str, system: System, documents: Collection) -> None:
        """Index the documents of a language."""
        self._encode(system, documents, self._fields)
        self._languages[language] = self._write(language, system, documents)
        shared = self._directory / SHARED / language
        shared.mkdir(parents=True)
        system.save_shared(shared)
        self._files[f"{SHARED}/{language}/{checksums.FILE}"] = write_checksums(shared)
        self._system = system

    def finish(self, query_language: str, sources: int) -> Manifest:
        """Write manifest and commit."""
        if sources:
            self._files[f"{SOURCES}/{checksums.FILE}"] = write_checksums(self._directory / SOURCES)
        manifest = Manifest(
            self._system.name, kept_options(self._system), query_language, self._fields, self._counts,
            f"isogloss {isogloss.__version__}", sources=sources, identity=secrets.token_hex(8),
            engine=self._in_engine.note if self._in_engine else None,
        )  # fmt: skip
        self._save(manifest)
        if sources and len(self._languages) > 1:
            with closing(open_index(self._directory)) as opened:
                manifest = replace(manifest, usual=usual_scores(opened))
            self._save(manifest)
        (self._directory / LOCK).touch()
        if self._in_engine:
            self._in_engine.finish()
        return manifest

    def _write(self, language: str, system: System, documents: Collection) -> LanguageEntry:
        """Write the documents of a language and the system's part of them."""
        self._counts[language] = len(documents)
        if self._in_engine is not None:
            self._in_engine.fill(language, for_engine(system), documents)
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
    """The options of a system without names of files: an index stores what it needs of those files."""
    return {name: "" if name in _FILES else value for name, value in asdict(system.options).items()}


@contextmanager
def replacing(path: Path, overwrite: bool) -> Iterator[Path]:
    """An empty directory that replaces an index at the end; the index is locked meanwhile."""
    with ExitStack() as stack:
        if (path / FILE).is_file():
            stack.enter_context(WriteLock(path))
        yield stack.enter_context(atomic_directory(path, overwrite))


def ready_system(
    name: str, source: Source | None, pair: Pair, settings: Mapping[str, str] | None = None,
    problems: Problems | None = None, check: Callable[[System], object] | None = None,
) -> System:  # fmt: skip
    """A system by name, fitted to the source where it learns; or a trained one, by its directory.

    ``check`` is called with the system before it is fitted, which may take long.
    """
    if name not in system_names() and Path(name).is_dir():
        model = load_model(Path(name))
        if settings:
            raise InputError(f"--set: {name} is trained, its options cannot be changed")
        if (model.query_language, model.document_language) != pair:
            what = f"was trained for {model.query_language}-{model.document_language}, not for {'-'.join(pair)}"
            raise InputError(f"{name}: {what}")
        return by_passages(model)
    system = make_system(name, pair, settings, source)
    if check is not None:
        check(system)
    if system.learns:
        if source is None:
            raise InputError(f"{name}: has to learn first; give it data with --documents SOURCE")
        system.fit(load_training(source, pair, problems))
    return system


def _keep_sources(folder: Path, source: Source, language: str, indexed: Document) -> int:
    """Store the documents of a source that are in the language of the queries; how many there are.

    They are a convenience, so errors in them are ignored. Some formats have the same documents in every language that
    is asked for: those are not stored.
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
    """The documents of one language; with several, the language of a document without one is identified."""
    if len(languages) == 1 or all(document.language for document in documents):
        return documents
    kept = [d for d in documents if (d.language or identify_language(d.text, languages)) == documents.language]
    if not kept:
        raise InputError(f"{source.name}: no document looks like {documents.language!r}; leave it out or add 'lang'")
    return Collection(kept, documents.language)

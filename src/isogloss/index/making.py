"""Making an index: for each language of the documents its systems and a first segment, under one manifest.

An index has a fingerprint of each model (the system's shared files). Vectors of one model mean nothing to another, so
documents can only be added with the model that has encoded the others; or all are encoded anew with another model.
"""

from __future__ import annotations

import logging
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import isogloss
from isogloss.data.dataset import load_collection, load_source_documents
from isogloss.data.documents import Collection, Document
from isogloss.data.problems import Problems
from isogloss.data.source import Source
from isogloss.data.translations import OwnTranslations
from isogloss.engines.addresses import address_of
from isogloss.engines.base import Listing
from isogloss.engines.registry import finish_engine
from isogloss.index.commit import Commit, LanguageEntry, SegmentEntry
from isogloss.index.detecting import languages_to_index, only_languages, with_languages
from isogloss.index.documents import DocumentStore
from isogloss.index.engine_systems import for_engine
from isogloss.index.fitting import described, ready_systems
from isogloss.index.in_engine import NewEngineIndex, dropping_the_old_engine_index, new_engine_index
from isogloss.index.language_systems import Encode, LanguageSystems
from isogloss.index.lock import FILE as LOCK
from isogloss.index.lock import WriteLock
from isogloss.index.manifest import FILE, Manifest
from isogloss.index.named_origins import confirm, forget, is_named
from isogloss.index.origin_files import recording
from isogloss.index.origins import FOLDER as ORIGINS
from isogloss.index.origins import OriginRecord, load_origins
from isogloss.index.origins import new_name as new_record
from isogloss.index.reader import OpenIndex, open_index
from isogloss.index.score_scales import usual_scores
from isogloss.index.segments import SEGMENTS, SHARED, SOURCES, new_name, write_segment
from isogloss.storage import checksums
from isogloss.storage.checksums import FileNote, write_checksums
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory, refuse_existing
from isogloss.storage.lines import Location
from isogloss.storage.wording import way
from isogloss.systems.registry import is_system
from isogloss.text.language import identify_language, normalize_language

_MOST_NAMED = 20


def make_index(
    path: Path, name: str, source: Source, languages: Sequence[str] = (), query_language: str | Sequence[str] = "en",
    fields: tuple[str, ...] = ("title", "text"), settings: Mapping[str, str] | None = None,
    overwrite: bool = False, problems: Problems | None = None, source_documents: bool = True,
    engine: str = "", encode: Encode | None = None, translations: OwnTranslations | None = None,
    facets: Sequence[str] = (), remember: bool = True,
) -> Manifest:  # fmt: skip
    """Index the documents of some languages for queries in others. The index appears when it is complete.

    Where no languages are named, those of the documents are detected (:mod:`isogloss.index.detecting`).
    ``source_documents``: documents in the language of the queries, where the source has some, are stored to search
    with. ``engine``: the address of an engine that stores documents and vectors (:mod:`isogloss.engines.registry`).
    ``translations`` are trained on. ``facets``: fields whose values are counted among the hits of a search. What the
    index is made of is recorded in it, and remembered on this machine with ``remember``
    (:mod:`isogloss.index.origins`), so that it can be synced.
    """
    problems = problems or Problems()
    query_languages = _named_once([query_language] if isinstance(query_language, str) else query_language, "queries")
    if engine and len(query_languages) > 1:
        raise InputError("query language: an engine has one vector of each document, for queries in one language")
    if languages:
        languages = _named_once(languages, "documents")
    refuse_existing(path, overwrite, FILE)
    if translations is not None and not is_system(name):
        parallel = way("--parallel", "isogloss.train(…, parallel=)")
        raise InputError(f"translations: {name} is trained already; leave them out, or train it with {parallel}")
    named = bool(languages)
    recorded = recording(source, languages, problems, translations is not None)
    if not named:
        detected = with_languages(source, problems)
        source, languages = detected.source, languages_to_index(detected, query_languages)
    elif translations is None:
        source = only_languages(source, languages, problems)
    source = source if recorded is None else recorded.noting(source)
    if translations is not None:
        source, languages = translations.added_to(source, languages, query_languages, named, problems)
    settings = dict(settings or {})
    systems = (ready_systems(name, source, query_languages, each, settings, problems, for_engine) for each in languages)
    ids: dict[str, list[str]] = {}
    with ExitStack() as stack:
        stack.enter_context(forgetting_old_origins(path))
        stack.enter_context(dropping_the_old_engine_index(path))
        in_engine = stack.enter_context(new_engine_index(engine, path, systems)) if engine else None
        partial = stack.enter_context(replacing(path, overwrite))
        builder = IndexBuilder(partial, query_languages, fields, encode=encode, in_engine=in_engine, facets=facets)
        for number, language in enumerate(languages):
            documents = load_collection(source, language, problems)  # once, for fitting and for indexing
            of_language = (
                in_engine.systems[number]
                if in_engine
                else ready_systems(name, source, query_languages, language, settings, problems, documents=documents)
            )
            of_one = _of_language(documents, languages, source)
            builder.add(language, of_language, of_one)
            indexed, ids[language] = documents[0], of_one.ids if recorded is not None else []
            del documents, of_one  # a large collection is in memory once
        sources = {}
        if source_documents:
            asked = [language for language in query_languages if language not in languages]
            kept = {each: _keep_sources(partial / SOURCES / each, source, each, indexed) for each in asked}
            sources = {language: count for language, count in kept.items() if count}
        origins = [] if recorded is None else [recorded.record(ids)]
        manifest = builder.finish(name, settings, sources, origins)
    for record in origins:
        confirm(manifest.identity, record.origin.source, remember)
    return manifest


def _named_once(languages: Sequence[str], whose: str) -> tuple[str, ...]:
    codes = tuple(map(normalize_language, languages))
    if len(set(codes)) != len(codes) or not codes:
        raise InputError(f"language: name each language of the {whose} once")
    return codes


class IndexBuilder:
    """Builds an index in an empty directory; the documents go into files there, or into an engine."""

    def __init__(
        self, directory: Path, query_languages: Sequence[str], fields: tuple[str, ...], generation: int = 1,
        encode: Encode | None = None, in_engine: NewEngineIndex | None = None, facets: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._facets, self._names = tuple(dict.fromkeys(facets)), set[str]()
        self._directory, self._fields, self._generation = directory, fields, generation
        self._query_languages, self._encode, self._in_engine = tuple(query_languages), encode, in_engine
        self._systems: dict[str, dict[str, Any]] = {}
        self._languages: dict[str, LanguageEntry] = {}
        self._files: dict[str, FileNote] = {}
        self._counts: dict[str, int] = {}

    def add(self, language: str, systems: LanguageSystems, documents: Collection) -> None:
        """Index the documents of a language."""
        self._counts[language] = len(documents)
        self._names.update(name for document in documents for name in document.fields)
        self._languages[language] = self._write(language, systems, documents)
        shared = self._directory / SHARED / language
        shared.mkdir(parents=True)
        systems.save_shared(shared)
        self._files[f"{SHARED}/{language}/{checksums.FILE}"] = write_checksums(shared)
        self._systems |= {system.name: system.options.without_files() for system in systems.values()}

    def finish(
        self, name: str, settings: Mapping[str, str], sources: dict[str, int], origins: Iterable[OriginRecord] = ()
    ) -> Manifest:
        """Write manifest and commit; ``name`` is a system with these settings, or the directory of a model."""
        system, options = described(name, settings, self._systems)
        for record in origins:
            folder = new_record("", self._generation)
            self._files[f"{ORIGINS}/{folder}/{checksums.FILE}"] = record.write(self._directory, folder)
        if sources:
            self._files[f"{SOURCES}/{checksums.FILE}"] = write_checksums(self._directory / SOURCES)
        manifest = Manifest(
            system, options, self._query_languages, self._fields, self._counts,
            f"isogloss {isogloss.__version__}", sources=sources, identity=secrets.token_hex(8),
            engine=self._in_engine.note if self._in_engine else None, facets=self._facets,
        )  # fmt: skip
        self._save(manifest)
        self._warn_of_facets()
        if sources and len(self._languages) > 1:
            with closing(open_index(self._directory)) as opened:
                manifest = replace(manifest, usual=usual_scores(opened))
            self._save(manifest)
        (self._directory / LOCK).touch()
        if self._in_engine:
            finish_engine(self._in_engine.engine)  # before the index appears
        return manifest

    def _warn_of_facets(self) -> None:
        known = f"they have {', '.join(sorted(self._names)[:_MOST_NAMED])}" if self._names else "they have no fields"
        for facet in (facet for facet in self._facets if facet not in self._names):
            logging.getLogger("isogloss").warning("facet: no document has the field %r; %s", facet, known)

    def _write(self, language: str, systems: LanguageSystems, documents: Collection) -> LanguageEntry:
        """Write the documents of a language and the systems' parts of them."""
        if self._in_engine is not None:
            self._in_engine.fill(language, documents, systems, self._fields, self._encode)
            return LanguageEntry()
        systems.index(documents, self._fields, self._encode)
        name = new_name(language, self._generation)
        note = write_segment(self._directory, name, documents, systems.save_part)
        self._files[f"{SEGMENTS}/{name}/{checksums.FILE}"] = note
        return LanguageEntry((SegmentEntry(name, len(documents)),))

    def _save(self, manifest: Manifest) -> None:
        files = {FILE: manifest.note, **self._files}
        Commit(manifest.identity, self._generation, self._languages, files).save(self._directory)
        manifest.save(self._directory)


@contextmanager
def replacing(path: Path, overwrite: bool) -> Iterator[Path]:
    """An empty directory that replaces an index at the end; the index is locked meanwhile."""
    with ExitStack() as stack:
        if (path / FILE).is_file():
            stack.enter_context(WriteLock(path))
        yield stack.enter_context(atomic_directory(path, overwrite, FILE))


def _keep_sources(folder: Path, source: Source, language: str, indexed: Document) -> int:
    """Store the documents of a source that are in the language of the queries; how many there are.

    They are a convenience, so errors in them are ignored. Some formats have the same documents in every language that
    is asked for: those are not stored.
    """
    lenient = Problems(stop_at_errors=False)
    try:
        first = next((document for _, document in source.source_documents(language, lenient)), None)
        if first is None or replace(first, language=indexed.language) == indexed:
            return 0  # a million documents are not read for that
        found = load_source_documents(source, language, lenient)
    except InputError:
        return 0  # it has none
    kept = Collection((document for document in found if document.language == language), language)
    if not len(kept) or replace(kept[0], language=indexed.language) == indexed:
        return 0
    folder.mkdir(parents=True)
    DocumentStore.of(kept).save(folder)
    return len(kept)


def _of_language(documents: Collection, languages: Sequence[str], source: Source) -> Collection:
    """The documents of one language; with several, the language of a document without one is identified."""
    if len(languages) == 1 or all(document.language for document in documents):
        return documents
    kept = [d for d in documents if (d.language or identify_language(d.text, languages)) == documents.language]
    if not kept:
        raise InputError(f"{source.name}: no document looks like {documents.language!r}; leave it out or add 'lang'")
    return Collection(kept, documents.language)


def re_encode(
    path: Path, name: str, source: Source | None = None, settings: Mapping[str, str] | None = None,
    problems: Problems | None = None,
) -> Manifest:  # fmt: skip
    """Encode all documents of an index with another model, and replace the index when that is complete.

    ``name`` is a system, fitted where it learns to the source, or else to the documents themselves; or the directory of
    a model.
    """
    languages, query_languages = _readable_languages(path)
    note, settings = Manifest.load(path).engine, dict(settings or {})
    check = for_engine if note else None
    data = source or _OwnDocuments(path)
    systems = (ready_systems(name, data, query_languages, each, settings, problems, check) for each in languages)
    with ExitStack() as stack:
        stack.enter_context(forgetting_old_origins(path))
        in_engine = None
        if note is not None:
            stack.enter_context(dropping_the_old_engine_index(path))
            where = address_of(note.url, note.name)
            in_engine = stack.enter_context(new_engine_index(where, path, systems))
        partial = stack.enter_context(replacing(path, overwrite=True))
        old = stack.enter_context(closing(open_index(path)))
        if list(old.languages) != languages:
            raise InputError(f"{path}: another process has added a language meanwhile; try again")
        builder = IndexBuilder(
            partial, query_languages, old.manifest.fields, old.generation + 1, in_engine=in_engine,
            facets=old.manifest.facets,
        )  # fmt: skip
        for language, of_language in zip(languages, in_engine.systems if in_engine else systems, strict=True):
            builder.add(language, of_language, Collection(old.documents(language), language))
        if old.manifest.sources:
            shutil.copytree(path / SOURCES, partial / SOURCES, ignore=shutil.ignore_patterns(checksums.FILE))
        origins = load_origins(path, old.commit).values()
        manifest = builder.finish(name, settings, old.manifest.sources, origins)
        named = [each.origin.source for each in origins if is_named(old.manifest.identity, each.origin.source)]
    for source_name in named:
        confirm(manifest.identity, source_name)
    return manifest


@contextmanager
def forgetting_old_origins(path: Path) -> Iterator[None]:
    """When the block ends well, forget what the user has named for the index that was in this directory before it."""
    try:
        old = Manifest.load(path).identity
        sources = [record.origin.source for record in load_origins(path, Commit.load(path)).values()]
    except InputError:  # there is none, or a damaged one
        sources = []
    yield
    for source in sources:
        forget(old, source)


class _OwnDocuments(Source):
    """The documents of an index as a source."""

    format = "index"

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        with closing(open_index(self.where)) as index:
            yield from ((Location(index.path), document) for document in index.documents(language))


def _readable_languages(path: Path) -> tuple[list[str], tuple[str, ...]]:
    """The languages of the documents and those of the queries, if the documents can be read back."""
    with closing(open_index(path)) as index:
        if index.engine is not None and not isinstance(index.engine, Listing):
            what = "its documents are in an engine that does not list them, so they cannot be encoded anew"
            again = way(
                "'isogloss index --engine URL --overwrite'", "isogloss.Index.make(…, engine=URL, overwrite=True)"
            )
            raise InputError(f"{path}: {what}; make the index again with {again}")
        return list(index.languages), index.manifest.query_languages


def refuse_another_model(
    index: OpenIndex, language: str, name: str, settings: Mapping[str, str], systems: LanguageSystems
) -> None:
    """Raise unless the documents of a language were encoded by these models, made by ``ready_systems``."""
    if language not in index.fingerprints:
        return
    if index.engine is not None:  # statistics of its documents are part of the index, and not of the model
        for query_language, system in systems.items():
            new, old = for_engine(system).sparse, for_engine(index.systems[language][query_language]).sparse
            if new is not None and old is not None:
                new.statistics = old.statistics
    with TemporaryDirectory(prefix="isogloss-") as scratch:
        systems.save_shared(Path(scratch))
        shared = write_checksums(Path(scratch)).hash
    encoded_by = index.manifest.system, index.manifest.options, index.fingerprints[language]
    options = {system.name: system.options.without_files() for system in systems.values()}
    if encoded_by != (*described(name, settings, options), shared):
        what = f"its documents in {language!r} were encoded by another model"
        raise InputError(
            f"{index.path}: {what}; encode all of them anew with 'isogloss re-encode', or make another index"
        )

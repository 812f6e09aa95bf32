"""Making and opening indexes: a system and a document store for each language, under one manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import isogloss
from isogloss.base.errors import InputError
from isogloss.base.files import atomic_directory
from isogloss.corpus.collection import Collection
from isogloss.corpus.dataset import load_collection, load_training
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import Document
from isogloss.corpus.source import Source
from isogloss.evaluation.system import System
from isogloss.index.manifest import Manifest
from isogloss.index.store import DocumentStore
from isogloss.search.engine import Engine, Shelf
from isogloss.systems.model_directory import load_model
from isogloss.systems.registry import make_system, parse_options, system_names, system_type
from isogloss.text.language import identify_language

_SOURCES = "source"


def make_index(
    path: Path, name: str, source: Source, languages: Sequence[str], query_language: str = "en",
    fields: tuple[str, ...] = ("title", "text"), settings: Mapping[str, str] | None = None,
    overwrite: bool = False, problems: Problems | None = None, source_documents: bool = True,
) -> Manifest:  # fmt: skip
    """Index the documents of some languages for queries of another. The index appears whole or not at all.

    ``source_documents``: documents in the language of the queries, where the source has some, are kept to search with.
    """
    _check(languages)
    with atomic_directory(path, overwrite) as partial:
        counts, options = {}, {}
        for language in languages:
            system = _ready_system(name, source, (query_language, language), settings, problems)
            documents = _of_language(load_collection(source, language, problems), languages, source)
            system.index(documents, fields)
            folder = partial / language
            (folder / "system").mkdir(parents=True)
            system.save(folder / "system")
            DocumentStore.of(documents).save(folder)
            counts[language] = len(documents)
            options = asdict(system.options)
        for given in {"lexicon", "query_vectors", "document_vectors"} & set(options):
            options[given] = ""  # each language keeps what it needs of them in the index
        made_by = f"isogloss {isogloss.__version__}"
        manifest = Manifest(system.name, options, query_language, fields, counts, made_by)
        if source_documents and query_language not in counts:
            sources = _keep_sources(partial / _SOURCES, source, query_language, documents[0])
            manifest = replace(manifest, sources=sources)
        manifest.save(partial)
    return manifest


def _ready_system(
    name: str, source: Source, pair: tuple[str, str], settings: Mapping[str, str] | None, problems: Problems | None
) -> System:
    """A system by name, fitted to the source where it learns; or one that was trained before, by its directory."""
    if name not in system_names() and Path(name).is_dir():
        system = load_model(Path(name))
        if settings:
            raise InputError(f"--set: {name} is trained, its options cannot be changed")
        if (system.query_language, system.document_language) != pair:
            what = f"was trained for {system.query_language}-{system.document_language}, not for {'-'.join(pair)}"
            raise InputError(f"{name}: {what}")
        return system
    made = make_system(name, pair, settings, source)
    if made.learns:
        made.fit(load_training(source, pair, problems))
    return made


def open_index(path: Path) -> tuple[Manifest, Engine]:
    """Open an index for searching."""
    manifest = Manifest.load(path)
    made = system_type(manifest.system)
    options = parse_options(manifest.system, made.options_type, {k: str(v) for k, v in manifest.options.items()})
    shelves = {}
    with _blaming(path):
        for language, count in manifest.documents.items():
            store = _open_store(path / language, count)
            system = made(options, manifest.query_language, language).load(path / language / "system")
            system.id_order = store.id_order
            shelves[language] = Shelf(system, store)
    return manifest, Engine(shelves, _sources_of(path, manifest, shelves))


def _sources_of(path: Path, manifest: Manifest, shelves: Mapping[str, Shelf]) -> Callable[[], DocumentStore] | None:
    """What opens the documents to search with; where those that are searched are in the same language, it is them."""
    if manifest.query_language in shelves:
        return lambda: shelves[manifest.query_language].store

    def open_sources() -> DocumentStore:
        with _blaming(path):
            return _open_store(path / _SOURCES, manifest.sources)

    return open_sources if manifest.sources else None


def _open_store(folder: Path, count: int) -> DocumentStore:
    store = DocumentStore.load(folder)
    if len(store) != count:
        raise ValueError(f"{folder.name} holds {len(store)} documents, not {count}")
    return store


@contextmanager
def _blaming(path: Path) -> Iterator[None]:
    """What cannot be opened is the index's fault."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the index is damaged ({error}); make it again with 'isogloss index'") from error


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
    for language in languages:  # each becomes a folder of the index
        if not language.replace("-", "").isalnum() or language == _SOURCES:
            raise InputError(f"language: {language!r} is not a language code, like fr or zh")


def _of_language(documents: Collection, languages: Sequence[str], source: Source) -> Collection:
    """Where several languages are indexed and documents do not say theirs, each goes to the one it looks like."""
    if len(languages) == 1 or all(document.language for document in documents):
        return documents
    kept = [d for d in documents if (d.language or identify_language(d.text, languages)) == documents.language]
    if not kept:
        raise InputError(f"{source.name}: no document looks like {documents.language!r}; leave it out or add 'lang'")
    return Collection(kept, documents.language)

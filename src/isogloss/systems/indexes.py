"""Making and opening indexes: a system and a document store for each language, under one manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import isogloss
from isogloss.base.errors import InputError
from isogloss.base.files import atomic_directory
from isogloss.corpus.collection import Collection
from isogloss.corpus.dataset import load_collection
from isogloss.corpus.problems import Problems
from isogloss.corpus.source import Source
from isogloss.index.manifest import Manifest
from isogloss.index.store import DocumentStore
from isogloss.search.engine import Engine, Shelf
from isogloss.systems.registry import make_system, parse_options, system_type
from isogloss.text.language import identify_language


def make_index(
    path: Path, name: str, source: Source, languages: Sequence[str], query_language: str = "en",
    fields: tuple[str, ...] = ("title", "text"), settings: Mapping[str, str] | None = None,
    overwrite: bool = False, problems: Problems | None = None,
) -> Manifest:  # fmt: skip
    """Index the documents of some languages for queries of another. The index appears whole or not at all."""
    _check(languages)
    with atomic_directory(path, overwrite) as partial:
        counts, options = {}, {}
        for language in languages:
            system = make_system(name, (query_language, language), settings, source)
            documents = _of_language(load_collection(source, language, problems), languages, source)
            system.index(documents, fields)
            folder = partial / language
            (folder / "system").mkdir(parents=True)
            system.save(folder / "system")
            DocumentStore.of(documents).save(folder)
            counts[language] = len(documents)
            options = asdict(system.options)
        if "lexicon" in options:
            options["lexicon"] = ""  # each language keeps a copy of its own in the index
        manifest = Manifest(name, options, query_language, fields, counts, f"isogloss {isogloss.__version__}")
        manifest.save(partial)
    return manifest


def open_index(path: Path) -> tuple[Manifest, Engine]:
    """Open an index for searching."""
    manifest = Manifest.load(path)
    made = system_type(manifest.system)
    options = parse_options(manifest.system, made.options_type, {k: str(v) for k, v in manifest.options.items()})
    shelves = {}
    try:
        for language in manifest.documents:
            store = DocumentStore.load(path / language)
            if len(store) != manifest.documents[language]:
                raise ValueError(f"{language} holds {len(store)} documents, not {manifest.documents[language]}")
            system = made(options, manifest.query_language, language).load(path / language / "system")
            system.id_order = store.id_order
            shelves[language] = Shelf(system, store)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the index is damaged ({error}); make it again with 'isogloss index'") from error
    return manifest, Engine(shelves)


def _check(languages: Sequence[str]) -> None:
    if len(set(languages)) != len(languages) or not languages:
        raise InputError("language: name each language of the documents once")
    for language in languages:  # each becomes a folder of the index
        if not language.replace("-", "").isalnum():
            raise InputError(f"language: {language!r} is not a language code, like fr or zh")


def _of_language(documents: Collection, languages: Sequence[str], source: Source) -> Collection:
    """Where several languages are indexed and documents do not say theirs, each goes to the one it looks like."""
    if len(languages) == 1 or all(document.language for document in documents):
        return documents
    kept = [d for d in documents if (d.language or identify_language(d.text, languages)) == documents.language]
    if not kept:
        raise InputError(f"{source.name}: no document looks like {documents.language!r}; leave it out or add 'lang'")
    return Collection(kept, documents.language)

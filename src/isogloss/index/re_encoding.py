"""Another model for an existing index: refused, or all its documents are encoded anew.

An index has a fingerprint of each model (the system's shared files). Vectors of one model mean nothing to another, so
documents can only be added with the model that has encoded the others.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from isogloss.data.documents import Collection, Document
from isogloss.data.problems import Problems
from isogloss.data.source import Source
from isogloss.engines.registry import Listing
from isogloss.index.in_engine import dropping_the_old_engine_index, new_engine_index
from isogloss.index.language_index import MappedLanguageIndex, for_engine
from isogloss.index.making import IndexBuilder, kept_options, ready_system, replacing
from isogloss.index.manifest import Manifest
from isogloss.index.reader import OpenIndex, open_index
from isogloss.index.segments import SOURCES
from isogloss.storage.checksums import FILE, write_checksums
from isogloss.storage.errors import InputError
from isogloss.systems.base import System


def re_encode(
    path: Path, name: str, source: Source | None = None, settings: Mapping[str, str] | None = None,
    problems: Problems | None = None,
) -> Manifest:  # fmt: skip
    """Encode all documents of an index with another model, and replace the index when that is complete.

    ``name`` is a system, fitted to the source where it learns, or the directory of a model.
    """
    languages, query_language = _languages(path)
    note = Manifest.load(path).engine
    pairs = [(query_language, language) for language in languages]
    systems = (ready_system(name, source, pair, settings, problems, for_engine if note else None) for pair in pairs)
    with ExitStack() as stack:
        in_engine = None
        if note is not None:
            stack.enter_context(dropping_the_old_engine_index(path))
            in_engine = stack.enter_context(new_engine_index(note.url, path, map(for_engine, systems)))
        partial = stack.enter_context(replacing(path, overwrite=True))
        old = stack.enter_context(closing(open_index(path)))
        if list(old.languages) != languages:
            raise InputError(f"{path}: another process has added a language meanwhile; try again")
        builder = IndexBuilder(partial, old.manifest.fields, old.generation + 1, in_engine=in_engine)
        for language, system in zip(languages, in_engine.systems if in_engine else systems, strict=True):
            builder.add(language, system, Collection(_documents(old, language), language))
        if old.manifest.sources:
            shutil.copytree(path / SOURCES, partial / SOURCES, ignore=shutil.ignore_patterns(FILE))
        return builder.finish(query_language, old.manifest.sources)


def _languages(path: Path) -> tuple[list[str], str]:
    """The languages of the documents and that of the queries, if the documents can be read back."""
    with closing(open_index(path)) as index:
        if index.engine is not None and not isinstance(index.engine, Listing):
            what = "its documents are in an engine that does not list them, so they cannot be encoded anew"
            raise InputError(f"{path}: {what}; make the index again with 'isogloss index --engine URL --overwrite'")
        return list(index.languages), index.manifest.query_language


def _documents(index: OpenIndex, language: str) -> Iterator[Document]:
    """The documents of a language that are not deleted."""
    opened = index.languages[language]
    if isinstance(opened, MappedLanguageIndex):
        return (opened.store[row] for row in range(len(opened.store)) if opened.live is None or opened.live[row])
    assert isinstance(index.engine, Listing)
    return index.engine.documents(language)


def refuse_another_model(index: OpenIndex, language: str, system: System) -> None:
    """Raise unless the documents of a language were encoded by this model."""
    if language not in index.fingerprints:
        return
    with TemporaryDirectory(prefix="isogloss-") as scratch:
        system.save_shared(Path(scratch))
        shared = write_checksums(Path(scratch)).hash
    encoded_by = index.manifest.system, index.manifest.options, index.fingerprints[language]
    if encoded_by != (system.name, kept_options(system), shared):
        what = f"its documents in {language!r} were encoded by another model"
        raise InputError(
            f"{index.path}: {what}; encode all of them anew with 'isogloss re-encode', or make another index"
        )

"""Another model for an index that is there: refused, or all its documents encoded anew.

What a system needs and no document decides has a fingerprint in the index. Documents encoded by one model say nothing
to another, so a model is only let in beside the documents that it has encoded itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from isogloss.base.errors import InputError
from isogloss.corpus.collection import Collection
from isogloss.corpus.problems import Problems
from isogloss.corpus.source import Source
from isogloss.evaluation.system import System
from isogloss.index.checksums import FILE, write_checksums
from isogloss.index.manifest import Manifest
from isogloss.index.segments import SOURCES
from isogloss.indexing.making import NewIndex, kept_options, ready_system, replacing
from isogloss.indexing.reader import OpenIndex, open_index
from isogloss.search.shelf import MappedShelf


def re_encode(
    path: Path, name: str, source: Source | None = None, settings: Mapping[str, str] | None = None,
    problems: Problems | None = None,
) -> Manifest:  # fmt: skip
    """Encode all documents of an index with another model, and put what comes out in its place at once.

    ``name`` is a system, fitted to the source where it learns, or the directory of a model.
    """
    if Manifest.load(path).store is not None:
        what = "its documents are in a store, where they cannot be encoded anew"
        raise InputError(f"{path}: {what}; make the index again with 'isogloss index --store URL --overwrite'")
    with replacing(path, overwrite=True) as partial:
        old = open_index(path)
        query_language = old.manifest.query_language
        new = NewIndex(partial, old.manifest.fields, old.generation + 1)
        for language, shelf in old.engine.shelves.items():
            system = ready_system(name, source, (query_language, language), settings, problems)
            assert isinstance(shelf, MappedShelf)
            rows = (row for row in range(len(shelf.store)) if shelf.live is None or shelf.live[row])
            new.add(
                language, system, Collection((document for document in shelf.documents(rows) if document), language)
            )
        if old.manifest.sources:
            shutil.copytree(path / SOURCES, partial / SOURCES, ignore=shutil.ignore_patterns(FILE))
        return new.finish(query_language, old.manifest.sources)


def refuse_another_model(index: OpenIndex, language: str, system: System) -> None:
    """Raise unless the documents of a language were encoded by this very model."""
    if language not in index.fingerprints:
        return
    with TemporaryDirectory(prefix="isogloss-") as scratch:
        system.save_shared(Path(scratch))
        shared = write_checksums(Path(scratch)).hash
    made = index.manifest.system, index.manifest.options, index.fingerprints[language]
    if made != (system.name, kept_options(system), shared):
        what = f"its documents in {language!r} were encoded by another model"
        raise InputError(f"{index.path}: {what}; encode all of them anew with --re-encode, or make another index")

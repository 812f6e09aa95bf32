"""Checks of what a stranger may have written into an index: links, names of files elsewhere, values of other types.

Checksums do not help there: whoever forges a file can compute them. What is wrong is a ``TypeError`` or a
``ValueError``, which becomes the error of the file.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.data.documents import FIELDS
from isogloss.storage.checksums import FILE as CHECKSUMS
from isogloss.storage.errors import InputError
from isogloss.storage.json_types import check_types
from isogloss.systems.base import FILE_OPTIONS
from isogloss.text.language import check_language

if TYPE_CHECKING:
    from isogloss.index.commit import Commit
    from isogloss.index.manifest import Manifest

_MOST_DIMENSIONS = 65_536  # of a vector in Qdrant; PostgreSQL has fewer


def refuse_links(directory: Path) -> None:
    """Raise if something in an index is neither a file nor a folder.

    By a link a stranger's index would read, change or remove what is elsewhere.
    """
    for root, folders, files in os.walk(directory):
        for path in (os.path.join(root, name) for name in folders + files):
            with suppress(FileNotFoundError):  # a writer has removed it
                mode = os.lstat(path).st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    what = "is a link, or no file at all, and an index consists of files"
                    raise InputError(f"{path}: {what}; put the file itself there, or make the index again")


def check_manifest(manifest: Manifest) -> None:
    """Raise unless ``index.json`` has its types, and names no file."""
    check_types(manifest, type(manifest), "it")
    if not manifest.query_languages:
        raise ValueError("it names no language of the queries")
    scores = (each for of_language in manifest.usual.values() for each in of_language.values())
    if not all(0 <= number < math.inf for number in (*manifest.sources.values(), *scores)):
        raise ValueError("one of its numbers is none")
    for language in manifest.query_languages:
        check_language(language)  # it names a folder
    if not manifest.fields or not {*manifest.fields} <= {*FIELDS}:
        raise ValueError("its fields are none of a document")
    if manifest.engine is not None and manifest.engine.dimension > _MOST_DIMENSIONS:
        raise ValueError(f"vectors of {manifest.engine.dimension} components")
    if any(manifest.options.get(name) for name in FILE_OPTIONS):
        raise ValueError("its options name files, and an index has what it needs of them")


def check_commit(commit: Commit) -> None:
    """Raise unless ``commit.json`` has its types, and names files in the index, each with its note."""
    check_types(commit, type(commit), "it")
    if commit.generation < 0:
        raise ValueError("its generation is none")
    folders = {*commit.languages, *(segment.name for segment in commit.segments)}
    for name in (*commit.files, *folders):
        if name.startswith("/") or ".." in name.split("/") or ("/" in name and name in folders):
            raise ValueError(f"{name!r} is not in the index")
    if unknown := {*_needed(commit)} - commit.files.keys():
        raise ValueError(f"there is no checksum of {min(unknown)[:100]!r}")
    for segment in commit.segments:
        if not 0 <= segment.deleted <= segment.documents:
            raise ValueError(f"{segment.name} has no number of documents")


def _needed(commit: Commit) -> Iterator[str]:
    """The files without which an index cannot be read."""
    for language, entry in commit.languages.items():
        yield f"shared/{language}/{CHECKSUMS}"
        if entry.order_file or len(entry.segments) > 1:
            yield entry.order_file
    for segment in commit.segments:
        yield f"segments/{segment.name}/{CHECKSUMS}"
        if segment.deleted_file or segment.deleted:
            yield segment.deleted_file

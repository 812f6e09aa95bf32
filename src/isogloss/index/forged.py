"""Checks of what a stranger may have written into an index: links, names of files elsewhere, values of other types.

Checksums do not help there: whoever forges a file can compute them. What is wrong is a ``TypeError`` or a
``ValueError``, which becomes the error of the file.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.data.documents import FIELDS
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
    arrays = {entry.order_file for entry in commit.languages.values()} | {each.deleted_file for each in commit.segments}
    folders = {*commit.languages, *(segment.name for segment in commit.segments)}
    for name in (*commit.files, *folders, *arrays):
        if name.startswith("/") or ".." in name.split("/") or ("/" in name and name in folders):
            raise ValueError(f"{name!r} is not in the index")
    if unknown := arrays - commit.files.keys() - {""}:
        raise ValueError(f"there is no checksum of {min(unknown)[:100]!r}")

"""Bilingual dictionaries that are on this machine: FreeDict, EDICT, and files of word pairs in a folder.

    FreeDict    freedict-eng-deu.index, eng-deu.index      with .dict.dz or .dict beside; codes of ISO 639-3
    EDICT       edict                                      Japanese and English
    pairs       en-de.txt, en-de.tsv, en-de, also .gz      MUSE's form, or tab-separated

Folders: those of the environment variable ISOGLOSS_DICTIONARIES, then those into which Debian's packages put theirs.
A dictionary of the other direction is read backwards (``reversed:PATH``, see :mod:`isogloss.translation.lexicon`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from isogloss.storage.lines import open_bytes
from isogloss.text.language_names import long_code
from isogloss.translation.edict import is_edict
from isogloss.translation.lexicon import REVERSED, is_freedict

VARIABLE = "ISOGLOSS_DICTIONARIES"
_SYSTEM_FOLDERS = ("/usr/share/dictd", "/usr/share/edict")
_ENDINGS = ("", ".txt", ".tsv")
_FREEDICT = ("freedict-{}-{}", "{}-{}")


class Dictionary(NamedTuple):
    """A dictionary of two languages; ``reverse`` if it is one of the other direction, read backwards."""

    path: Path
    reverse: bool
    kind: str
    entries: int

    @property
    def lexicon(self) -> str:
        """What the option ``lexicon`` of a system takes."""
        return f"{REVERSED}{self.path}" if self.reverse else str(self.path)


def dictionary_folders() -> list[Path]:
    """Where dictionaries are searched for."""
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [Path(folder) for folder in (*named, *_SYSTEM_FOLDERS) if folder]


def find_dictionaries(
    query_language: str, document_language: str, folders: Sequence[Path] | None = None
) -> list[Dictionary]:
    """The dictionaries of two languages, the best first: those of this direction, then the larger ones."""
    if query_language == document_language:
        return []
    found = []
    for folder in dictionary_folders() if folders is None else folders:
        for path in _paths(folder, query_language, document_language):
            found.append(Dictionary(path, False, _kind(path), _entries(path)))
        for path in _paths(folder, document_language, query_language):
            found.append(Dictionary(path, True, _kind(path), _entries(path)))
    return sorted(found, key=lambda each: (each.reverse, -each.entries))


def _paths(folder: Path, source: str, target: str) -> Iterator[Path]:
    """The dictionaries of a folder from one language into another."""
    long = long_code(source), long_code(target)
    yield from (path for form in _FREEDICT if is_freedict(path := folder / form.format(*long)) and _is_whole(path))
    if (source, target) == ("ja", "en"):
        yield from (path for name in ("edict", "edict.gz") if (path := folder / name).is_file())
    names = (f"{source}-{target}{ending}" for ending in _ENDINGS)
    for name, packed in product(names, ("", ".gz")):
        path = folder / f"{name}{packed}"
        if path.is_file() and not is_freedict(path):
            yield path


def _is_whole(path: Path) -> bool:
    return any(path.with_name(path.name + ending).is_file() for ending in (".dict.dz", ".dict"))


def _kind(path: Path) -> str:
    if is_edict(path):
        return "EDICT"
    return "FreeDict" if is_freedict(path) else "word pairs"


def _entries(path: Path) -> int:
    """How many entries it has: the lines of the file, or of its index."""
    if is_freedict(path):
        path = path.with_name(path.name + ".index")
    with open_bytes(path) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))

"""EDICT, the Japanese-English dictionary: one line an entry, ``漢字 [かんじ] /(n) Chinese character/kanji/(P)/``.

The file is called ``edict`` and is written in EUC-JP, in newer copies in UTF-8. Remarks in parentheses are skipped, and
so is the *to* of a verb: queries ask with the verb itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from isogloss.storage.errors import InputError
from isogloss.storage.lines import open_bytes

_NAMES = ("edict", "edict.gz")
_REMARK = re.compile(r"\([^)]*\)|\{[^}]*\}")
_ENCODINGS = ("utf-8", "euc_jis_2004")


def is_edict(path: Path) -> bool:
    """Whether a path names such a dictionary."""
    return path.name in _NAMES


def read_edict(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of a Japanese word and an English translation, in the order of the file."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with open_bytes(path) as file:
        text = _decoded(file.read(), path)
    for line in text.splitlines()[1:]:  # the first says what the file is
        word, _, rest = line.partition(" ")
        for part in rest.split("/")[1:]:
            translation = " ".join(_REMARK.sub(" ", part).split()).removeprefix("to ")
            if word and translation and not translation.startswith("EntL"):
                yield word, translation


def _decoded(content: bytes, path: Path) -> str:
    for encoding in _ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(f"{path}: is neither UTF-8 nor EUC-JP; an EDICT dictionary is needed")

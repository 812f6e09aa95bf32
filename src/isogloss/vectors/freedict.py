"""FreeDict dictionaries as dictd ships them: ``NAME.dict.dz`` (or ``.dict``) with ``NAME.index``.

The index gives for each headword where its entry lies in the dictionary, as two numbers in base 64. An entry is a
line with the headword, then lines of translations ("1. adhérer, s'affilier", "Abfallzeit <fem>, Rückfallzeit <fem>");
notes, examples and cross references are indented or marked and are passed over.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.lines import open_bytes, read_lines

_DIGITS = {
    digit: value for value, digit in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_NUMBERED = re.compile(r"^\s*\d+\.\s*")
_REMARK = re.compile(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}")
_PRONUNCIATION = re.compile(r"(?:^|\s)/[^/]*/\s*$")  # stands last; other slashes are the word's own
_NOT_A_TRANSLATION = re.compile(r"^\s*(?:see:|synonyms?:|note:|antonyms?:|\"|-)|^\s{2,}", re.IGNORECASE)


def is_freedict(path: Path) -> bool:
    """Whether a path names such a dictionary (any of its files, or their common name)."""
    return path.name.endswith((".dict.dz", ".dict", ".index")) or path.with_name(path.name + ".index").is_file()


def read_freedict(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of headword and translation, in the order of the dictionary's own entries."""
    stem = path.with_name(re.sub(r"\.(dict\.dz|dict|index)$", "", path.name))
    packed, plain = stem.with_name(stem.name + ".dict.dz"), stem.with_name(stem.name + ".dict")
    dictionary = packed if packed.is_file() else plain
    index = stem.with_name(stem.name + ".index")
    for needed in (dictionary, index):
        if not needed.is_file():
            raise InputError(f"{needed}: no such file; a FreeDict dictionary is NAME.dict.dz with NAME.index")
    content = _unpacked(dictionary)
    for start, length in sorted(_places(index)):
        if start + length > len(content):
            raise InputError(f"{index}: speaks of byte {start + length}, but {dictionary.name} ends at {len(content)}")
        yield from _translations(content[start : start + length].decode("utf-8", "replace"))


def _unpacked(dictionary: Path) -> bytes:
    try:
        with open_bytes(dictionary) as file:
            return file.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{dictionary}: a damaged gzip archive ({error})") from error


def _places(index: Path) -> set[tuple[int, int]]:
    places = set()
    for place, line in read_lines(index):
        fields = line.split("\t")
        if len(fields) < 3 or not all(fields[1:3]) or any(digit not in _DIGITS for digit in fields[1] + fields[2]):
            raise InputError(f"{place}: expected a headword and two numbers in base 64, got {line[:60]!r}")
        if not fields[0].startswith("00-database") and not fields[0].startswith("00database"):
            places.add((_number(fields[1]), _number(fields[2])))
    return places


def _number(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * 64 + _DIGITS[digit]
    return value


def _translations(entry: str) -> Iterator[tuple[str, str]]:
    headword, *lines = entry.split("\n")
    word = _spelling(_REMARK.sub(" ", headword))
    if not word:
        return
    for line in lines:
        if not line.strip() or _NOT_A_TRANSLATION.match(line):
            continue
        for piece in re.split(r"[,;]", _REMARK.sub(" ", _NUMBERED.sub("", line))):
            translation = _spelling(piece).strip(" ?!.")
            if translation:
                yield word, translation


def _spelling(word: str) -> str:
    return " ".join(_PRONUNCIATION.sub("", word).split())

"""Bilingual lexicons: for a word or phrase of one language, its translations in another, the best first.

Files: tab-separated (``word<TAB>translation`` with an optional third column, the probability), MUSE (the same with a
space between), FreeDict's ``NAME.dict.dz`` (or ``.dict``) with ``NAME.index``, EDICT; the first two plain or ``.gz``.
The order of the lines is the order of preference. ``reversed:FILE`` reads a lexicon of the other direction backwards;
its probabilities, which are of that direction, are not used.

The index of a FreeDict dictionary gives for each headword where its entry lies in the dictionary, as two numbers in
base 64. An entry is a line with the headword, then lines of translations ("1. adhérer, s'affilier", "Abfallzeit <fem>,
Rückfallzeit <fem>"); notes, examples and cross references are indented or marked, and are skipped.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import Location, find_file, open_bytes, read_lines
from isogloss.text.tokenizer import tokenize
from isogloss.translation.edict import is_edict, read_edict

REVERSED = "reversed:"

_DIGITS = {digit: value for value, digit in enumerate(f"{ascii_uppercase}{ascii_lowercase}{digits}+/")}
_NUMBERED = re.compile(r"^\s*\d+\.\s*")
_REMARK = re.compile(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}")
_PRONUNCIATION = re.compile(r"(?:^|\s)/[^/]*/\s*$")  # stands last; other slashes are the word's own
_NOT_A_TRANSLATION = re.compile(r"^\s*(?:see:|synonyms?:|note:|antonyms?:|\"|-)|^\s{2,}", re.IGNORECASE)

Phrase = tuple[str, ...]


class Translation(NamedTuple):
    """The tokens of a translation and its probability given the word (0 where the file does not say)."""

    phrase: Phrase
    probability: float = 0.0


class Entry(NamedTuple):
    """One line of a lexicon file."""

    location: Location
    word: str
    translation: str
    probability: float


class Lexicon:
    """Phrases of the query language to their translations, both as tokens of isogloss's tokeniser."""

    def __init__(self, entries: Iterable[tuple[str, str, float]] = ()) -> None:
        self._translations: dict[Phrase, dict[Phrase, float]] = {}
        self.longest = 1
        for word, translation, probability in entries:
            source, target = tuple(tokenize(word)), tuple(tokenize(translation))
            if source and target:
                self._translations.setdefault(source, {}).setdefault(target, probability)
                self.longest = max(self.longest, len(source))

    @classmethod
    def read(cls, path: Path | str) -> Lexicon:
        """Read a lexicon file of any of the formats."""
        lexicon = cls(entry[1:] for entry in read_entries(Path(path)))
        if not len(lexicon):
            raise InputError(f"{path}: holds no entry")
        return lexicon

    def __len__(self) -> int:
        return len(self._translations)

    def __getitem__(self, phrase: Phrase) -> tuple[Translation, ...]:
        return tuple(Translation(*item) for item in self._translations.get(phrase, {}).items())

    def __contains__(self, phrase: object) -> bool:
        return phrase in self._translations

    def __iter__(self) -> Iterator[Phrase]:
        return iter(self._translations)

    def cut(self, tokens: Sequence[str]) -> Iterator[Phrase]:
        """Cut a tokenised query into the longest phrases the lexicon knows; unknown words stand alone.

        >>> list(Lexicon([("ice cream", "glace", 0), ("ice", "glace", 0)]).cut(["ice", "cream", "ice", "age"]))
        [('ice', 'cream'), ('ice',), ('age',)]
        """
        start = 0
        while start < len(tokens):
            for length in range(min(self.longest, len(tokens) - start), 0, -1):
                phrase = tuple(tokens[start : start + length])
                if length == 1 or phrase in self._translations:
                    yield phrase
                    start += length
                    break

    def save(self, path: Path) -> None:
        """Write tab-separated lines that :meth:`read` reads back."""
        with atomic_file(path) as file:
            for phrase, translations in self._translations.items():
                for target, probability in translations.items():
                    file.write(f"{' '.join(phrase)}\t{' '.join(target)}\t{probability!r}\n")


def read_entries(path: Path) -> Iterator[Entry]:
    """The lines of a lexicon file of any of the formats."""
    if str(path).startswith(REVERSED):
        for entry in read_entries(lexicon_file(path)):
            yield Entry(entry.location, entry.translation, entry.word, 0.0)
        return
    if is_freedict(path) or is_edict(path):
        pairs = read_edict(path) if is_edict(path) else read_freedict(path)
        yield from (Entry(Location(path), word, translation, 0.0) for word, translation in pairs)
        return
    for location, line in read_lines(find_file(path)):
        if line.strip() and not line.startswith("#"):
            yield _entry(location, line)


def lexicon_file(path: Path | str) -> Path:
    """The file that a lexicon is read from, whichever way."""
    return Path(str(path).removeprefix(REVERSED))


def _entry(location: Location, line: str) -> Entry:
    fields = line.split("\t") if "\t" in line else line.split()
    if len(fields) not in (2, 3):
        raise InputError(f"{location}: expected a word, its translation and perhaps a probability, got {line[:60]!r}")
    try:
        probability = float(fields[2]) if len(fields) == 3 else 0.0
    except ValueError:
        probability = -1.0
    if not 0.0 <= probability <= 1.0:
        raise InputError(f"{location}: {fields[2]!r} is not a probability between 0 and 1")
    return Entry(location, fields[0], fields[1], probability)


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
    try:
        with open_bytes(dictionary) as file:
            content = file.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{dictionary}: a damaged gzip archive ({error})") from error
    for start, length in sorted(_entry_spans(index)):
        if start + length > len(content):
            raise InputError(f"{index}: speaks of byte {start + length}, but {dictionary.name} ends at {len(content)}")
        yield from _translations(content[start : start + length].decode("utf-8", "replace"))


def _entry_spans(index: Path) -> set[tuple[int, int]]:
    """Where each entry begins in the dictionary, and how long it is."""
    spans = set()
    for location, line in read_lines(index):
        fields = line.split("\t")
        if len(fields) < 3 or not all(fields[1:3]) or any(digit not in _DIGITS for digit in fields[1] + fields[2]):
            raise InputError(f"{location}: expected a headword and two numbers in base 64, got {line[:60]!r}")
        if not fields[0].startswith(("00-database", "00database")):
            start, length = (
                reduce(lambda value, digit: value * 64 + _DIGITS[digit], field, 0) for field in fields[1:3]
            )
            spans.add((start, length))
    return spans


def _translations(entry: str) -> Iterator[tuple[str, str]]:
    headword, *lines = entry.split("\n")
    word = _spelling(_REMARK.sub(" ", headword))
    if not word:
        return
    for line in lines:
        if not line.strip() or _NOT_A_TRANSLATION.match(line):
            continue
        for part in re.split(r"[,;]", _REMARK.sub(" ", _NUMBERED.sub("", line))):
            translation = _spelling(part).strip(" ?!.")
            if translation:
                yield word, translation


def _spelling(word: str) -> str:
    return " ".join(_PRONUNCIATION.sub("", word).split())

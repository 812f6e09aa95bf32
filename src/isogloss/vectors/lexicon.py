"""Bilingual lexicons: for a word or phrase of one language, its translations in another, the best first.

Files: tab-separated (``word<TAB>translation`` with an optional third column, the probability), MUSE (the same with a
space between), FreeDict's ``.dict.dz`` with its ``.index``; the first two plain or ``.gz``. The order of the lines is
the order of preference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from isogloss.base.errors import InputError
from isogloss.base.files import atomic_file
from isogloss.base.lines import Place, find_file, read_lines
from isogloss.text.tokenizer import tokenize
from isogloss.vectors.freedict import is_freedict, read_freedict

Phrase = tuple[str, ...]


class Translation(NamedTuple):
    """The tokens of a translation and its probability given the word (0 where the file does not say)."""

    phrase: Phrase
    probability: float = 0.0


class Entry(NamedTuple):
    """One line of a lexicon file."""

    place: Place
    word: str
    translation: str
    probability: float


class Lexicon:
    """Phrases of the query language to their translations, both as tokens of the house tokeniser."""

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
        lexicon = cls(
            (word, translation, probability) for _, word, translation, probability in read_entries(Path(path))
        )
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
    if is_freedict(path):
        yield from (Entry(Place(path), word, translation, 0.0) for word, translation in read_freedict(path))
        return
    for place, line in read_lines(find_file(path)):
        if line.strip() and not line.startswith("#"):
            yield _entry(place, line)


def _entry(place: Place, line: str) -> Entry:
    fields = line.split("\t") if "\t" in line else line.split()
    if len(fields) not in (2, 3):
        raise InputError(f"{place}: expected a word, its translation and perhaps a probability, got {line[:60]!r}")
    try:
        probability = float(fields[2]) if len(fields) == 3 else 0.0
    except ValueError:
        probability = -1.0
    if not 0.0 <= probability <= 1.0:
        raise InputError(f"{place}: {fields[2]!r} is not a probability between 0 and 1")
    return Entry(place, fields[0], fields[1], probability)

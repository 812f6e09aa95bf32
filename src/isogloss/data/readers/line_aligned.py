"""Line-aligned text (Moses: line n of ``corpus.en`` is translated by line n of ``corpus.es``), and tables of columns.

The first line of a table may name the languages of its columns. Otherwise the query language comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from isogloss.data.parallel_text import NoTextError, ParallelText, same_language
from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, find_file, read_lines

_CODE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,4})?", re.IGNORECASE)
_TWO_LETTERS = re.compile(r"[a-z]{2}(?:[-_][a-z0-9]{2,4})?", re.IGNORECASE)


class Moses(ParallelText):
    """Line-aligned files: ``corpus``, or ``corpus.en`` alone, stands for ``corpus.*``, a folder for all in it."""

    format = "moses"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.path = Path(where)
        self.corpora = aligned_files(self.path)
        if not self.corpora:
            name = "NAME" if self.path.is_dir() else _stem_and_code(self.path)[0] or self.path.name
            raise InputError(f"{self.path}: has no line-aligned files, such as {name}.en and {name}.es")

    def units(self, languages: Sequence[str], problems: Problems) -> Iterator[tuple[Location, tuple[str, ...]]]:
        chosen = [files for files in (_of_languages(files, languages) for files in self.corpora.values()) if files]
        if not chosen:
            there_are = ", ".join(sorted({code for files in self.corpora.values() for code in files}))
            raise NoTextError(f"{self.path}: has no lines in {' and '.join(languages)}; languages here: {there_are}")
        for files in chosen:
            yield from _zipped(files, problems)


def aligned_files(path: Path) -> dict[str, dict[str, Path]]:
    """Files of the same name before the language, two or more: name to language code to file."""
    found: dict[str, dict[str, Path]] = {}
    folder = path if path.is_dir() else path.parent
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        stem, code = _stem_and_code(file)
        if stem and file.is_file() and (path.is_dir() or stem in (path.name, _stem_and_code(path)[0])):
            found.setdefault(stem, {}).setdefault(code, file)
    return {
        stem: files for stem, files in found.items() if sum(bool(_TWO_LETTERS.fullmatch(code)) for code in files) > 1
    }


def _stem_and_code(path: Path) -> tuple[str, str]:
    """``corpus.en.gz`` to ``corpus`` and ``en``; two empty texts where there is no code."""
    stem, _, code = path.name.removesuffix(".gz").rpartition(".")
    return (stem, code) if stem and _CODE.fullmatch(code) else ("", "")


def _of_languages(files: Mapping[str, Path], languages: Sequence[str]) -> list[Path]:
    """The file of each language; none where one is missing."""
    found = [next((files[code] for code in files if same_language(code, language)), None) for language in languages]
    return [path for path in found if path is not None] if None not in found else []


def _zipped(files: Sequence[Path], problems: Problems) -> Iterator[tuple[Location, tuple[str, ...]]]:
    """The lines of several files side by side."""
    for number, lines in enumerate(zip_longest(*(_every_line(path, problems) for path in files)), start=1):
        if None in lines:
            short, long = (
                files[lines.index(None)],
                next(f for f, line in zip(files, lines, strict=True) if line is not None),
            )
            what = f"ends after {number - 1:,} lines, but {long.name} has more"
            raise InputError(f"{Location(short, number - 1)}: {what}; line n of one must be the translation of line n")
        yield Location(files[-1], number), lines


def _every_line(path: Path, problems: Problems) -> Iterator[str]:
    """The lines of a file; one that is not UTF-8 is reported, and empty here, so that the others keep their numbers."""
    broken: list[int] = []

    def report(location: Location, message: str) -> None:
        problems.broken_text(location, message)
        broken.append(location.line)

    for _, line in read_lines(path, report):
        yield from ("" for _ in broken)
        broken.clear()
        yield line
    yield from ("" for _ in broken)


class Tsv(ParallelText):
    """A tab-separated table: a text, its translation; further columns are skipped."""

    format = "tsv"
    can_sync = True
    file_endings = (".tsv",)

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.path = find_file(Path(where))

    def units(self, languages: Sequence[str], problems: Problems) -> Iterator[tuple[Location, tuple[str, ...]]]:
        columns: tuple[int, ...] = (0, 1) if len(languages) == 2 else (1,)
        for location, line in read_lines(self.path, problems.broken_text):
            cells = line.split("\t")
            if location.line == 1 and all(_TWO_LETTERS.fullmatch(cell.strip()) for cell in cells):
                columns = self._columns([cell.strip() for cell in cells], languages)
            elif len(cells) > max(columns):
                yield location, tuple(cells[column] for column in columns)
            elif line.strip():
                what = f"expected a text and its translation separated by a tab, got {line[:60]!r}"
                problems.error(location, "malformed line", what)

    def _columns(self, codes: Sequence[str], languages: Sequence[str]) -> tuple[int, ...]:
        found = [next((n for n, code in enumerate(codes) if same_language(code, each)), None) for each in languages]
        if None in found:
            missing = languages[found.index(None)]
            raise NoTextError(f"{Location(self.path, 1)}: has no column {missing!r}; there are {', '.join(codes)}")
        return tuple(column for column in found if column is not None)

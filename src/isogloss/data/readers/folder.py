"""A folder of text, Markdown and HTML files, plain or ``.gz``. The id of a document is its path in the folder.

Links that lead out of the folder are not followed, unless the source is written ``folder+links:DIR``.

Languages: files below a sub-folder named by the language (``fr/…``) or with it before the ending (``page.fr.md``) are
of that language; where the folder has neither for a language, every file is read. Where no language is asked for, such
names are hints (:mod:`isogloss.text.detection`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.readers.markup import read_html, read_markdown
from isogloss.data.readers.walking import id_of, walk
from isogloss.data.source import Source, existing_directory
from isogloss.storage.lines import Location, find_file, read_lines

_HTML = (".html", ".htm")
_MARKDOWN = (".md", ".markdown")
_LANGUAGE = re.compile(r"([A-Za-z]{2})([-_][A-Za-z]{2,4})?")  # fr, pt-BR, zh_Hans
_ENDINGS = (".txt", *_MARKDOWN, *_HTML)
_LARGEST = 1 << 26  # characters of a file


class Folder(Source):
    """Files below a folder; hidden files and other kinds of file are skipped."""

    format = "folder"
    _follows: ClassVar[bool] = False
    about_documents = f"; files are read that end with {', '.join(_ENDINGS)}, plain or .gz"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        paths = self.files(problems)
        marked = self.marked(paths, language)
        for location, document in self.read(marked or paths, problems, language):
            yield location, replace(document, language=language if marked else "")

    def all_documents(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        return self.read(self.files(problems), problems)

    def marked(self, paths: Iterable[Path], language: str) -> list[Path]:
        """Those files whose paths say that they are in a language."""
        return [path for path in paths if _is_marked(path.relative_to(self.directory), language)]

    def read(
        self, paths: Iterable[Path], problems: Problems, language: str = ""
    ) -> Iterator[tuple[Location, Document]]:
        """The documents of some files of the folder, which are in a language where one is named."""
        return self._documents(paths, (lambda _: language) if language else _named_language, problems)

    def place(self, document: Document) -> tuple[str, str]:
        path = Path(document.id)
        return path.parent.as_posix(), _named_language(path)

    def _documents(
        self, paths: Iterable[Path], language_of: Callable[[Path], str], problems: Problems
    ) -> Iterator[tuple[Location, Document]]:
        """The documents of files; a file that cannot be read is reported."""
        for path in paths:
            name = path.relative_to(self.directory)
            stem, ending = _stem_and_ending(name)
            try:
                content = _content(path, problems)
            except OSError as error:
                problems.error(Location(path), "unreadable file", f"cannot be read ({error.strerror})")
                continue
            if content is None:
                what = f"has more than {_LARGEST:,} characters; cut it into several files, or leave it out"
                problems.error(Location(path), "too large", what)
                continue
            title, text = _read(content, ending)
            yield (
                Location(path),
                Document(id_of(name), text, title or id_of(Path(stem.removesuffix(f".{language_of(name)}")))),
            )

    def files(self, problems: Problems) -> list[Path]:
        """The files that are read, in order."""
        return sorted(
            walk(self.directory, (*_ENDINGS, *(f"{ending}.gz" for ending in _ENDINGS)), problems, self._follows)
        )


class LinkedFolder(Folder):
    """A folder whose links are followed, wherever they lead."""

    format = "folder+links"
    _follows = True


class OneFile(Folder):
    """A single file, as a folder that has no other."""

    format = "file"

    def __init__(self, where: str) -> None:
        Source.__init__(self, where)
        self._path = find_file(Path(where))
        self.directory = self._path.parent

    def files(self, problems: Problems) -> list[Path]:
        return [self._path]


def has_text(path: Path) -> bool:
    """Whether a file is one of those that are read."""
    return _stem_and_ending(path)[1] in _ENDINGS


def _content(path: Path, problems: Problems) -> str | None:
    """The lines of a file; None if they are too many."""
    lines, size = [], 0
    for _, line in read_lines(path, problems.broken_text):
        lines.append(line)
        size += len(line) + 1
        if size > _LARGEST:
            return None
    return "\n".join(lines)


def _stem_and_ending(path: Path) -> tuple[str, str]:
    """``page.fr.MD.gz`` to ``page.fr`` and ``.md``."""
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.stem, path.suffix.lower()


def _named_language(path: Path) -> str:
    """The language that the name of a file says, or that of a folder, the innermost first; empty where none does.

    >>> [_named_language(Path(name)) for name in ("docs/fr/page.md", "page.pt-BR.md", "docs/page.md")]
    ['fr', 'pt', '']
    """
    names = [_stem_and_ending(path)[0].rpartition(".")[2], *reversed(path.parts[:-1])]
    return next((match[1].lower() for match in map(_LANGUAGE.fullmatch, names) if match), "")


def _is_marked(path: Path, language: str) -> bool:
    return language in path.parts[:-1] or _stem_and_ending(path)[0].endswith(f".{language}")


def _read(text: str, ending: str) -> tuple[str, str]:
    if ending in _HTML:
        return read_html(text)
    return read_markdown(text) if ending in _MARKDOWN else ("", text.strip())

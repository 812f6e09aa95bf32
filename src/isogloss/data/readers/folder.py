"""A folder of text, Markdown and HTML files, plain or ``.gz``. The id of a document is its path in the folder.

Languages: files below a sub-folder named by the language (``fr/…``) or with it before the ending (``page.fr.md``) are
of that language; where the folder has neither for a language, every file is read. Where no language is asked for, such
names are hints (:mod:`isogloss.text.detection`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.readers.markup import read_html, read_markdown
from isogloss.data.source import Source, existing_directory
from isogloss.storage.lines import Location, read_lines

_HTML = (".html", ".htm")
_MARKDOWN = (".md", ".markdown")
_LANGUAGE = re.compile(r"([A-Za-z]{2})([-_][A-Za-z]{2,4})?")  # fr, pt-BR, zh_Hans
_ENDINGS = (".txt", *_MARKDOWN, *_HTML)


class Folder(Source):
    """Files below a folder; hidden files and other kinds of file are skipped."""

    format = "folder"
    about_documents = f"; files are read that end with {', '.join(_ENDINGS)}, plain or .gz"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        paths = self._paths()
        marked = [path for path in paths if _is_marked(path.relative_to(self.directory), language)]
        for path in marked or paths:
            yield Location(path), replace(self._document(path, language, problems), language=language if marked else "")

    def all_documents(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        for path in self._paths():
            yield Location(path), self._document(path, _named_language(path.relative_to(self.directory)), problems)

    def place(self, document: Document) -> tuple[str, str]:
        path = Path(document.id)
        return path.parent.as_posix(), _named_language(path)

    def _document(self, path: Path, language: str, problems: Problems) -> Document:
        stem, ending = _stem_and_ending(path)
        title, text = _read("\n".join(line for _, line in read_lines(path, problems.broken_text)), ending)
        id_ = path.relative_to(self.directory).as_posix()
        return Document(id_, text, title or stem.removesuffix(f".{language}"))

    def _paths(self) -> list[Path]:
        return [path for path in sorted(self.directory.rglob("*")) if self._is_document(path)]

    def _is_document(self, path: Path) -> bool:
        hidden = any(part.startswith(".") for part in path.relative_to(self.directory).parts)
        return _stem_and_ending(path)[1] in _ENDINGS and not hidden and path.is_file()


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

"""A folder of text, Markdown and HTML files, plain or ``.gz``. The id of a document is its path in the folder.

Languages: files below a sub-folder named by the language (``fr/…``) or with it before the ending (``page.fr.md``) are
of that language; where the folder has neither for a language, every file is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.readers.markup import read_html, read_markdown
from isogloss.data.source import Source, existing_directory
from isogloss.storage.lines import Location, read_lines

_HTML = (".html", ".htm")
_MARKDOWN = (".md", ".markdown")
_ENDINGS = (".txt", *_MARKDOWN, *_HTML)


class Folder(Source):
    """Files below a folder; hidden files and other kinds of file are skipped."""

    format = "folder"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        paths = [path for path in sorted(self.directory.rglob("*")) if self._is_document(path)]
        marked = [path for path in paths if _is_marked(path.relative_to(self.directory), language)]
        for path in marked or paths:
            stem, ending = _stem_and_ending(path)
            title, text = _read("\n".join(line for _, line in read_lines(path, problems.broken_text)), ending)
            id_ = path.relative_to(self.directory).as_posix()
            name = stem.removesuffix(f".{language}")
            yield Location(path), Document(id_, text, title or name, language if marked else "")

    def _is_document(self, path: Path) -> bool:
        hidden = any(part.startswith(".") for part in path.relative_to(self.directory).parts)
        return _stem_and_ending(path)[1] in _ENDINGS and not hidden and path.is_file()


def _stem_and_ending(path: Path) -> tuple[str, str]:
    """``page.fr.MD.gz`` to ``page.fr`` and ``.md``."""
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.stem, path.suffix.lower()


def _is_marked(path: Path, language: str) -> bool:
    return language in path.parts[:-1] or _stem_and_ending(path)[0].endswith(f".{language}")


def _read(text: str, ending: str) -> tuple[str, str]:
    if ending in _HTML:
        return read_html(text)
    return read_markdown(text) if ending in _MARKDOWN else ("", text.strip())

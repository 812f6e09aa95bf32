"""A folder of text, Markdown and HTML files. The id of a document is its path in the folder.

Languages: files below a sub-folder named by the language (``fr/…``) or with it before the ending (``page.fr.md``) are
of that language; where the folder has neither for the asked language, every file is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.lines import Place, read_lines
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import Document
from isogloss.corpus.source import Source

_HTML = (".html", ".htm")
_MARKDOWN = (".md", ".markdown")
_ENDINGS = (".txt", *_MARKDOWN, *_HTML)


class Folder(Source):
    """Files below a folder; hidden files and other kinds of file are passed over."""

    format = "folder"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = Path(where)
        if not self.directory.is_dir():
            what = "is a file, a directory is needed" if self.directory.exists() else "no such directory"
            raise InputError(f"{self.directory}: {what}")

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Place, Document]]:
        paths = [path for path in sorted(self.directory.rglob("*")) if self._is_document(path)]
        marked = [path for path in paths if _is_marked(path.relative_to(self.directory), language)]
        for path in marked or paths:
            lines = "\n".join(line for _, line in read_lines(path, problems.broken_text))
            title, text = _read(lines, path.suffix.lower())
            id_ = path.relative_to(self.directory).as_posix()
            yield Place(path), Document(id_, text, title or path.stem, language if marked else "")

    def _is_document(self, path: Path) -> bool:
        hidden = any(part.startswith(".") for part in path.relative_to(self.directory).parts)
        return path.suffix.lower() in _ENDINGS and not hidden and path.is_file()


def _is_marked(path: Path, language: str) -> bool:
    return language in path.parts[:-1] or path.stem.endswith(f".{language}")


def _read(text: str, ending: str) -> tuple[str, str]:
    if ending in _HTML:
        page = _Page()
        page.feed(text)
        page.close()
        return page.title_and_text()
    return _read_markdown(text) if ending in _MARKDOWN else ("", text.strip())


def _read_markdown(text: str) -> tuple[str, str]:
    title = ""
    front_matter = re.match(r"---\n(.*?)\n(?:---|\.\.\.)\s*(?:\n|$)", text, re.DOTALL)
    if front_matter:
        text = text[front_matter.end() :]
        named = re.search(r"^title:\s*(.+)$", front_matter[1], re.MULTILINE)
        title = named[1].strip().strip("\"'") if named else ""
    heading = re.search(r"^#\s+(.+?)\s*#*$", text, re.MULTILINE)
    if heading and not title:
        title = heading[1]
        text = text[: heading.start()] + text[heading.end() :]
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", text)  # images
    text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)  # links keep their words
    text = re.sub(r"</?[a-zA-Z][^>]*>", " ", text)
    text = re.sub(r"^(?:#+|>|[-*+]|\d+\.|```.*|~~~.*|\|?[-:| ]+\|?$)\s*", "", text, flags=re.MULTILINE)
    return title, re.sub(r"[*_`|]+", " ", text).strip()


class _Page(HTMLParser):
    """The title and the visible text of a page."""

    _silent = frozenset({"script", "style", "template", "noscript"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._title: list[str] = []
        self._heading: list[str] = []
        self._text: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in self._silent or tag in ("title", "h1"):
            self._open.append(tag)
        self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        self._text.append(" ")

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside in self._silent:
            return
        {"title": self._title, "h1": self._heading}.get(inside, self._text).append(data)

    def title_and_text(self) -> tuple[str, str]:
        title, heading, text = (" ".join("".join(parts).split()) for parts in (self._title, self._heading, self._text))
        return title or heading, text

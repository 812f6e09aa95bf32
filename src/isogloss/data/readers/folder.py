"""A folder of documents: text, Markdown, HTML, reStructuredText, PDF, office documents, books and e-mail.

Files may be ``.gz``. The id of a document is its path in the folder; its fields are ``path``, the same, and ``kind``. A
file that cannot be read is skipped, with its reason. Links that lead out of the folder are not followed, unless the
source is written ``folder+links:DIR``.

Languages: files below a sub-folder named by the language (``fr/…``) or with it before the ending (``page.fr.md``) are
of that language; where the folder has neither for a language, every file is read. Where no language is asked for, such
names are hints (:mod:`isogloss.text.detection`).
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from gzip import BadGzipFile
from pathlib import Path
from queue import SimpleQueue
from typing import ClassVar

from isogloss.data.documents import Document
from isogloss.data.problems import UNREADABLE, Problems
from isogloss.data.readers.files.blocks import UnreadableError
from isogloss.data.readers.files.isolated import IsolatedReader
from isogloss.data.readers.files.kinds import ENDINGS, KINDS, TitleAndText, kind_of, read_here, split_ending
from isogloss.data.readers.walking import id_of, walk
from isogloss.data.source import Source, existing_directory
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, find_file, open_bytes
from isogloss.text.batches import available_cores
from isogloss.text.language_names import find_code

_LANGUAGE = re.compile(r"[A-Za-z]{2}(?:[-_@][A-Za-z]{2,8})*|[A-Za-z]{4,}")  # fr, pt-BR, zh_Hans, french
LARGEST = 1 << 28
"""Bytes of a file."""
_LARGEST_TEXT = 1 << 26  # bytes of a file that is text
_ALL_TEXT = ("text", "markdown", "html", "rst")


class Folder(Source):
    """Files below a folder; hidden files are left out, and other kinds of file skipped."""

    format = "folder"
    can_sync = True
    may_mix_languages = True
    _follows: ClassVar[bool] = False
    about_documents = f"; files are read that end with {', '.join(ENDINGS)}, plain or .gz"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        paths = self.files(problems)
        marked = self.marked(paths, language)
        for location, document in self.read(marked or paths, problems):
            yield location, replace(document, language=language) if marked else document

    def all_documents(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        return self.read(self.files(problems), problems)

    def files(self, problems: Problems) -> list[Path]:
        """The files that are read, in order."""
        endings = (*ENDINGS, *(f"{ending}.gz" for ending in ENDINGS))
        return sorted(walk(self.directory, endings, problems, self._follows))

    def marked(self, paths: Iterable[Path], language: str) -> list[Path]:
        """Those files whose paths say that they are in a language."""
        return [path for path in paths if language in _named_languages(path.relative_to(self.directory))]

    def read(self, paths: Iterable[Path], problems: Problems) -> Iterator[tuple[Location, Document]]:
        """The documents of some files of the folder."""
        for path, content in _contents(paths):
            try:
                title, text = content()
            except UnreadableError as error:
                problems.skip(Location(path), error.reason, str(error))
                continue
            except OSError as error:
                problems.skip(Location(path), UNREADABLE, f"cannot be read ({error.strerror or error})")
                continue
            name = path.relative_to(self.directory)
            title = title or id_of(Path(_without_language(split_ending(name)[0])))
            kind, id_ = kind_of(name), id_of(name)
            fields = {"path": id_, "kind": kind.name if kind else ""}
            yield Location(path), Document(id_, text, title, fields=fields)

    def place(self, document: Document) -> tuple[str, str]:
        path = Path(document.id)
        return path.parent.as_posix(), next(iter(_named_languages(path)), "")


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
    return kind_of(path) is not None


Content = Callable[[], TitleAndText]
"""Returns the title and the text of a file, or raises :class:`UnreadableError`."""


def _contents(paths: Iterable[Path]) -> Iterator[tuple[Path, Content]]:
    """Each file with its content. Some are read in other processes, a few of them at the same time."""
    cores = available_cores()
    waiting: deque[tuple[Path, Content]] = deque()
    with ExitStack() as stack:
        readers: SimpleQueue[IsolatedReader] = SimpleQueue()
        for reader in (IsolatedReader() for _ in range(cores)):
            stack.callback(reader.close)
            readers.put(reader)
        pool = ThreadPoolExecutor(cores)
        stack.callback(pool.shutdown, cancel_futures=True)
        for path in paths:
            kind = kind_of(path) or KINDS[".txt"]
            if kind.isolated:
                waiting.append((path, pool.submit(_read_isolated, path, kind.name, readers).result))
            else:
                waiting.append((path, partial(_read_here, path, kind.name)))
            if len(waiting) > 2 * cores:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()


def _read_here(path: Path, kind: str) -> TitleAndText:
    return read_here(kind, _bytes(path, kind))


def _read_isolated(path: Path, kind: str, readers: SimpleQueue[IsolatedReader]) -> TitleAndText:
    data = _bytes(path, kind)
    reader = readers.get()
    try:
        return reader.read(kind, data)
    finally:
        readers.put(reader)


def _bytes(path: Path, kind: str) -> bytes:
    """What a file holds; unpacked, if it is a gzip archive."""
    most = _LARGEST_TEXT if kind in _ALL_TEXT else LARGEST
    try:
        with open_bytes(path) as file:
            data = file.read(most + 1)
    except InputError as error:  # cut off, or it expands too much
        reason = "archive bomb" if "makes more than" in str(error) else "damaged"
        raise UnreadableError(reason, str(error).removeprefix(f"{path}: ")) from error
    except (EOFError, BadGzipFile, zlib.error) as error:
        raise UnreadableError("damaged", f"is a damaged gzip archive ({error})") from error
    if len(data) > most:
        raise UnreadableError("too large", f"has more than {most:,} bytes; cut it into several files, or leave it out")
    return data


def _named_languages(path: Path) -> list[str]:
    """The languages that the name of a file and those of its folders say, the innermost first.

    >>> names = ("docs/zh-cn/page.md", "fr/page.pt-BR.md", "French/a.md", "docs/a.md")
    >>> [_named_languages(Path(name)) for name in names]
    [['zh'], ['pt', 'fr'], ['fr'], []]
    """
    names = [split_ending(path)[0].rpartition(".")[2], *reversed(path.parts[:-1])]
    if "." not in split_ending(path)[0]:
        names = names[1:]
    return [code for code in map(_code, names) if code]


def _code(name: str) -> str:
    return find_code(name) if _LANGUAGE.fullmatch(name) else ""


def _without_language(stem: str) -> str:
    """``page.fr`` to ``page``."""
    page, _, language = stem.rpartition(".")
    return page if page and _code(language) else stem

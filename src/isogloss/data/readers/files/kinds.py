"""The kinds of file by their endings, and how the bytes of each become a title and a text."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import PurePath
from typing import NamedTuple

from isogloss.data.readers.files.blocks import UnreadableError
from isogloss.data.readers.files.epub import read_epub
from isogloss.data.readers.files.html import declared_charset, read_html
from isogloss.data.readers.files.mail import read_mail
from isogloss.data.readers.files.markdown import read_markdown
from isogloss.data.readers.files.office import read_docx, read_opendocument, read_pptx, read_xlsx
from isogloss.data.readers.files.pdf import read_pdf
from isogloss.data.readers.files.rst import read_rst
from isogloss.storage.errors import MissingExtraError

TitleAndText = tuple[str, str]
MOST_BROKEN = 0.01
"""The share of characters that may be broken in a text; of more, its character set is not known."""
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NO_TEXT = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf_7"})


class Kind(NamedTuple):
    """A kind of file: its name, how it is read, and whether that is done in a process with limits."""

    name: str
    read: Callable[[bytes], TitleAndText]
    isolated: bool = False


def _of_text(read: Callable[[str], TitleAndText]) -> Callable[[bytes], TitleAndText]:
    return lambda data: read(decode(data))


def _read_page(data: bytes) -> TitleAndText:
    return read_html(decode(data, declared_charset(data)))


_KINDS = {
    Kind("text", _of_text(lambda text: ("", text.strip()))): (".txt", ".text"),
    Kind("markdown", _of_text(read_markdown)): (".md", ".markdown", ".mdx"),
    Kind("html", _read_page): (".html", ".htm", ".xhtml"),
    Kind("rst", _of_text(read_rst)): (".rst",),
    Kind("pdf", read_pdf, isolated=True): (".pdf",),
    Kind("docx", read_docx): (".docx", ".docm", ".dotx"),
    Kind("pptx", read_pptx): (".pptx", ".pptm", ".ppsx"),
    Kind("xlsx", read_xlsx): (".xlsx", ".xlsm"),
    Kind("opendocument", read_opendocument): (".odt", ".odp", ".ods"),
    Kind("epub", read_epub): (".epub",),
    Kind("mail", read_mail, isolated=True): (".eml",),
}
KINDS = {ending: kind for kind, endings in _KINDS.items() for ending in endings}
"""Ending to kind."""
ENDINGS = tuple(KINDS)


def kind_of(path: PurePath) -> Kind | None:
    """The kind of a file, plain or ``.gz``, by its name."""
    return KINDS.get(split_ending(path)[1])


def split_ending(path: PurePath) -> tuple[str, str]:
    """``page.fr.MD.gz`` to ``page.fr`` and ``.md``."""
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.stem, path.suffix.lower()


def read_here(kind: str, data: bytes) -> TitleAndText:
    """The title and the text of a file by the name of its kind; whatever else its reader raises, it is damaged."""
    read = next(each.read for each in _KINDS if each.name == kind)
    try:
        return read(data)
    except (UnreadableError, MemoryError):
        raise
    except MissingExtraError as error:
        raise UnreadableError("extra not installed", str(error)) from error
    except Exception as error:
        raise UnreadableError("damaged", f"cannot be read ({type(error).__name__}: {error})"[:300]) from error


def decode(data: bytes, declared: str = "") -> str:
    """Bytes as text: by their mark of UTF-8 or UTF-16, as UTF-8, or by a character set that the file declares."""
    marked = next((name for bom, name in _BOMS if data.startswith(bom)), "")
    if b"\x00" in data and not marked.startswith("utf-16"):
        raise UnreadableError("binary", "is a binary file, text is needed")
    text = _decoded(data, marked or "utf-8")
    if text is None and declared and _is_of_text(declared):
        text = _decoded(data, declared)
    if text is None:
        text = data.decode(marked or "utf-8", "replace")
        if text.count("\ufffd") > MOST_BROKEN * len(text):
            what = "is not UTF-8; convert it, for example with: iconv -f WINDOWS-1252 -t UTF-8"
            raise UnreadableError("unknown character set", what)
        text = text.replace("\ufffd", "")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def _decoded(data: bytes, charset: str) -> str | None:
    try:
        return data.decode(charset)
    except (UnicodeDecodeError, ValueError):
        return None


def _is_of_text(charset: str) -> bool:
    """Whether a character set is known, and one of text."""
    try:
        info = codecs.lookup(charset)
    except (LookupError, ValueError):
        return False
    return getattr(info, "_is_text_encoding", True) and info.name.replace("-", "_") not in _NO_TEXT

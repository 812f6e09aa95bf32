"""ZIP archives of XML, which office documents and books are: every part with a limit, and XML without entities.

zipfile and expat are of the standard library. Documents are read as a stream of elements, so nothing of python-docx,
python-pptx or openpyxl is needed, which build a tree of each part.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

from isogloss.data.readers.files.blocks import UnreadableError
from isogloss.storage.lines import MOST_EXPANSION

LARGEST = 1 << 27
"""Bytes of all parts of a document that are read."""
_FREE = 1 << 20  # bytes that any part may make
_BLOCK = 1 << 16
_DEEPEST = 1_000  # elements in elements
_OLE = b"\xd0\xcf\x11\xe0"
_RELATIONSHIPS = "/relationships"

START, END, TEXT = "start", "end", "text"


class Event(NamedTuple):
    """An element begins or ends, or there is text; names are without namespaces."""

    what: str
    name: str
    attributes: dict[str, str] = {}  # noqa: RUF012 - never changed


class Archive:
    """An archive in memory."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            what = "is encrypted, or of a format before 2007; save it without a password, in a newer format"
            raise UnreadableError("encrypted", what)
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
            self.names = frozenset(self._file.namelist())
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise UnreadableError("damaged", f"is no ZIP archive, or a damaged one ({error})") from error
        self._count = 0

    def read(self, name: str) -> bytes:
        """A part; one that is too large, encrypted or damaged makes the file unreadable."""
        try:
            part = self._file.getinfo(name)
        except KeyError as error:
            raise UnreadableError("damaged", f"has no part {name[:60]!r}") from error
        if part.flag_bits & 1:
            raise UnreadableError("encrypted", "is encrypted; save it without a password")
        blocks, size, most = [], 0, max(_FREE, MOST_EXPANSION * part.compress_size)
        try:
            with self._file.open(part) as file:
                while block := file.read(_BLOCK):
                    blocks.append(block)
                    size += len(block)
                    self._count += len(block)
                    if size > most:
                        what = f"makes more than {MOST_EXPANSION} bytes of each of its own"
                        raise UnreadableError("archive bomb", f"{name[:60]!r} {what}")
                    if self._count > LARGEST:
                        raise UnreadableError("too large", f"its texts have more than {LARGEST:,} bytes")
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise UnreadableError("damaged", f"its part {name[:60]!r} is damaged ({error})") from error
        return b"".join(blocks)

    def events(self, name: str) -> Iterator[Event]:
        """The elements and texts of a part in XML."""
        return _events(self.read(name), name)

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an office document refers to: id to the last word of the type, and the part."""
        folder, base = posixpath.split(name)
        where = posixpath.join(folder, "_rels", f"{base}.rels")
        if where not in self.names:
            return {}
        return {
            event.attributes.get("Id", ""): (
                event.attributes.get("Type", "").rpartition("/")[2],
                resolve(folder, event.attributes.get("Target", "")),
            )
            for event in self.events(where)
            if event.what == START and event.name == "Relationship"
        }


def resolve(folder: str, target: str) -> str:
    """The name of a part that is referred to from a folder of the archive."""
    target = unquote(target.partition("#")[0])
    return target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))


def _events(data: bytes, name: str) -> Iterator[Event]:
    found: list[Event] = []
    depth = 0

    def start(element: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise UnreadableError("damaged", f"more than {_DEEPEST:,} elements are inside each other")
        found.append(Event(START, _local(element), {_attribute(key): value for key, value in attributes.items()}))

    def end(element: str) -> None:
        nonlocal depth
        depth -= 1
        found.append(Event(END, _local(element)))

    def entity(declared: str, *_: object) -> None:
        raise UnreadableError("XML entities", f"declares the entity {declared[:30]!r}, which is not read")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: found.append(Event(TEXT, text))
    parser.EntityDeclHandler = entity
    try:
        for position in range(0, len(data) + 1, _BLOCK):
            block = data[position : position + _BLOCK]
            parser.Parse(block, position + _BLOCK > len(data))
            yield from found
            found.clear()
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise UnreadableError("damaged", f"its part {name[:60]!r} is not well-formed XML ({error})") from error


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _attribute(name: str) -> str:
    """``val`` for that of any namespace, but ``r:id`` for one that refers to a part."""
    namespace, _, local = name.rpartition(" ")
    return f"r:{local}" if namespace.endswith(_RELATIONSHIPS) else local

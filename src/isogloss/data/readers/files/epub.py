"""Books in EPUB: the chapters in their order, each a page of HTML."""

from __future__ import annotations

import posixpath

from isogloss.data.document_checks import LONGEST_TEXT
from isogloss.data.readers.files.archives import START, TEXT, Archive, resolve
from isogloss.data.readers.files.blocks import UnreadableError
from isogloss.data.readers.files.html import read_blocks

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"


def read_epub(data: bytes) -> tuple[str, str]:
    """The title of the book, and its text."""
    archive = Archive(data)
    paths = [event.attributes["full-path"] for event in archive.events(_CONTAINER) if "full-path" in event.attributes]
    if not paths:
        raise UnreadableError("damaged", "does not say where its content is")
    title, chapters = _package(archive, resolve("", paths[0]))
    encrypted = _encrypted(archive)
    if chapters and encrypted.issuperset(chapters):
        raise UnreadableError("encrypted", "its chapters are encrypted (digital rights management)")
    texts, size = [], 0
    for name in dict.fromkeys(chapters):
        if name not in archive.names or name in encrypted:
            continue
        texts.append(read_blocks(archive.read(name).decode("utf-8", "replace"))[1].text())
        size += len(texts[-1])
        if size > LONGEST_TEXT:
            raise UnreadableError("too large", f"has more than {LONGEST_TEXT:,} characters of text")
    return title, "\n\n".join(text for text in texts if text)


def _package(archive: Archive, path: str) -> tuple[str, list[str]]:
    """The title, and the parts with the chapters."""
    items: dict[str, str] = {}
    spine: list[str] = []
    title: list[str] = []
    inside = done = False
    for what, name, attributes in archive.events(path):
        if what == TEXT:
            title += [name] if inside else []
        elif name == "title":
            inside, done = what == START and not done, True
        elif what == START and name == "item" and "html" in attributes.get("media-type", ""):
            if "nav" not in attributes.get("properties", "").split():
                items[attributes.get("id", "")] = resolve(posixpath.dirname(path), attributes.get("href", ""))
        elif what == START and name == "itemref":
            spine.append(attributes.get("idref", ""))
    return " ".join("".join(title).split()), [items[id_] for id_ in spine if id_ in items]


def _encrypted(archive: Archive) -> set[str]:
    if _ENCRYPTION not in archive.names:
        return set()
    events = archive.events(_ENCRYPTION)
    return {resolve("", event.attributes["URI"]) for event in events if "URI" in event.attributes}

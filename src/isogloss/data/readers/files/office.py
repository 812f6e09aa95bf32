"""Office documents: Word, PowerPoint and Excel since 2007 (Office Open XML), and OpenDocument, without their macros."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from isogloss.data.readers.files.archives import END, START, TEXT, Archive, Event
from isogloss.data.readers.files.blocks import ITEM, PARAGRAPH, Blocks, UnreadableError, heading

_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "s": " ", "line-break": "\n", "noBreakHyphen": "-"}
_TITLE = "title"
_TITLES = frozenset({"title", "ctrTitle"})
_HEADING_NAME = re.compile(r"heading (\d)")
_NOTES = ("footnotes", "endnotes")
_MOST_CELLS = 10_000_000
_NUMBER = re.compile(r"-?\d+\.\d{7,}")


def read_docx(data: bytes) -> tuple[str, str]:
    """A document of Word."""
    archive = Archive(data)
    main = _main_part(archive)
    relations = archive.relations(main).values()
    kinds = _word_styles(archive, next((part for type_, part in relations if type_ == "styles"), ""))

    def kind_of(event: Event) -> str:
        if event.name == "pStyle":
            return kinds.get(event.attributes.get("val", ""), "")
        if event.name == "outlineLvl" and event.attributes.get("val", "").isdecimal():
            level = int(event.attributes["val"][:3])
            return heading(level + 1) if level < 9 else ""  # 9 is body text
        return ITEM if event.name == "numPr" else ""

    blocks = Blocks()
    for part in (main, *(part for type_, part in relations if type_ in _NOTES and part in archive.names)):
        _add_paragraphs(blocks, archive.events(part), kind_of)
    return _finished(blocks, archive)


def read_pptx(data: bytes) -> tuple[str, str]:
    """A presentation of PowerPoint: its slides in their order, each with its notes."""
    archive = Archive(data)
    main = _main_part(archive)
    parts = archive.relations(main)
    ids = [event.attributes.get("r:id", "") for event in archive.events(main) if event.name == "sldId"]
    blocks = Blocks()
    for id_ in dict.fromkeys(ids):  # each begins and ends
        _, slide = parts.get(id_, ("", ""))
        if slide not in archive.names:
            continue
        notes = [part for type_, part in archive.relations(slide).values() if type_ == "notesSlide"]
        for part in (slide, *(part for part in notes if part in archive.names)):
            _add_paragraphs(blocks, archive.events(part), _slide_kind)
    return _finished(blocks, archive, title=blocks.first(heading(2)))


def _slide_kind(event: Event) -> str:
    """Of a shape: the heading of the slide; what repeats on every slide is left out."""
    if event.name == "sp":
        return PARAGRAPH
    if event.name != "ph":
        return ""
    type_ = event.attributes.get("type", "")
    return heading(2) if type_ in _TITLES else _LEFT_OUT if type_ in ("sldNum", "dt", "ftr", "hdr") else ""


_LEFT_OUT = "left out"


def read_xlsx(data: bytes) -> tuple[str, str]:
    """A workbook of Excel: its sheets, each a heading and rows; formulas have the values that were saved."""
    archive = Archive(data)
    main = _main_part(archive)
    parts = archive.relations(main)
    shared: list[str] = []
    for type_, part in parts.values():
        if type_ == "sharedStrings" and part in archive.names:
            shared = list(_strings(archive.events(part)))
    blocks = Blocks()
    for event in archive.events(main):
        _, part = parts.get(event.attributes.get("r:id", ""), ("", ""))
        if event.what == START and event.name == "sheet" and part in archive.names:
            blocks.add(event.attributes.get("name", ""), heading(2))
            for row in _rows(archive.events(part), shared):
                blocks.add_row(row)
    return _finished(blocks, archive)


def read_opendocument(data: bytes) -> tuple[str, str]:
    """A text, a presentation or a table of OpenDocument."""
    archive = Archive(data)
    if "META-INF/manifest.xml" in archive.names and any(
        event.name == "encryption-data" for event in archive.events("META-INF/manifest.xml")
    ):
        raise UnreadableError("encrypted", "is encrypted; save it without a password")

    def kind_of(event: Event) -> str:
        if event.name == "h":
            level = event.attributes.get("outline-level", "1")
            return heading(int(level[:2]) if level.isdecimal() else 1)
        return ITEM if event.name == "list-item" else heading(2) if event.name == "table" else ""

    blocks = Blocks()
    _add_paragraphs(blocks, archive.events("content.xml"), kind_of, ("p", "h"), ("p", "h"))
    return _finished(blocks, archive, "meta.xml")


def _main_part(archive: Archive) -> str:
    main = next((part for type_, part in archive.relations("").values() if type_ == "officeDocument"), "")
    if main not in archive.names:
        raise UnreadableError("damaged", "is an archive, but no office document")
    return main


def _finished(
    blocks: Blocks, archive: Archive, properties: str = "docProps/core.xml", title: str = ""
) -> tuple[str, str]:
    """Title and text: the title is the one given, the first heading, or that of the properties."""
    title = title or blocks.first(heading(1))
    if not title and properties in archive.names:
        title = _property(archive.events(properties), "title")
    return title, blocks.without(title).text()


def _property(events: Iterable[Event], name: str) -> str:
    inside, texts = False, []
    for what, value, _ in events:
        if what == TEXT:
            texts += [value] if inside else []
        elif value == name:
            inside = what == START and not texts
    return " ".join("".join(texts).split())


def _word_styles(archive: Archive, part: str) -> dict[str, str]:
    """The id of each style of headings to its kind; names of styles are in English, whatever the ids are."""
    kinds: dict[str, str] = {}
    style = ""
    for what, name, attributes in archive.events(part) if part in archive.names else ():
        if what == START and name == "style":
            style = attributes.get("styleId", "")
        elif what == START and name == "name" and style:
            value = attributes.get("val", "").lower()
            found = _HEADING_NAME.fullmatch(value)
            if found or value == _TITLE:
                kinds[style] = heading(int(found[1]) if found else 1)
            elif value.startswith("list"):
                kinds[style] = ITEM
    return kinds


def _add_paragraphs(
    blocks: Blocks, events: Iterable[Event], kind_of: Callable[[Event], str],
    paragraphs: tuple[str, ...] = ("p",), texts_in: tuple[str, ...] = ("t",),
) -> None:  # fmt: skip
    """Add the paragraphs of a part, and the rows of its tables; ``kind_of`` says what an element makes of one."""
    reader = _Paragraphs(blocks, paragraphs, texts_in)
    for event in events:
        if event.what == TEXT:
            reader.take_text(event.name)
        elif event.what == END:
            reader.end(event.name)
        else:
            reader.start(event.name, kind_of(event))
    reader.flush()


class _Paragraphs:
    """Collects paragraphs from the elements of a document."""

    def __init__(self, blocks: Blocks, paragraphs: tuple[str, ...], texts_in: tuple[str, ...]) -> None:
        self._blocks, self._paragraphs, self._texts_in = blocks, paragraphs, texts_in
        self._texts: list[str] = []
        self._kind = self._outer = PARAGRAPH
        self._cells: list[str] | None = None
        self._tables = self._inside = self._skipped = 0

    def start(self, name: str, kind: str) -> None:
        if name == "Fallback":  # the same once more, for older programs
            self._skipped += 1
        elif name in self._paragraphs:
            self._begin_paragraph()
        elif name == "sp" and kind:
            self._outer = kind
        elif name in ("tr", "table-row") and self._cells is None:
            self._cells = []
        elif name in ("tc", "table-cell"):
            self._tables += 1
        self._inside += name in self._texts_in
        if name in _SPACES:
            self._texts.append(_SPACES[name])
        if kind:
            self._kind = kind
            self._outer = kind if name in ("ph", "list-item") else self._outer

    def end(self, name: str) -> None:
        if name == "Fallback":
            self._skipped -= 1
        self._inside -= name in self._texts_in
        if name in self._paragraphs:
            self.flush()
        elif name in ("tc", "table-cell"):
            self._tables -= 1
            if self._cells is not None and not self._tables:
                self._cells.append("".join(self._texts))
                self._texts = []
        elif name in ("tr", "table-row") and self._cells is not None and not self._tables:
            self._blocks.add_row(self._cells)
            self._cells = None
        elif name in ("sp", "list-item"):
            self._outer = self._kind = PARAGRAPH

    def take_text(self, text: str) -> None:
        if self._inside > 0 and not self._skipped:
            self._texts.append(text)

    def flush(self) -> None:
        """End a paragraph; within a table it is a part of a cell."""
        if self._tables:
            self._texts.append(" ")
            return
        if self._kind != _LEFT_OUT:
            self._blocks.add("".join(self._texts), self._kind)
        self._texts, self._kind = [], self._outer

    def _begin_paragraph(self) -> None:
        self.flush()  # a text box is within a paragraph


def _strings(events: Iterable[Event]) -> Iterator[str]:
    """The shared strings of a workbook, without the readings of Japanese words."""
    texts: list[str] = []
    inside = phonetic = 0
    for what, name, _ in events:
        if what == TEXT:
            texts += [name] if inside and not phonetic else []
        else:
            step = 1 if what == START else -1
            inside += step * (name == "t")
            phonetic += step * (name == "rPh")
            if name == "si" and what == END:
                yield "".join(texts)
                texts = []


def _rows(events: Iterable[Event], shared: list[str]) -> Iterator[list[str]]:
    """The rows of a sheet as texts of cells."""
    cells: list[str] = []
    texts: list[str] = []
    type_, inside = "", 0
    for what, name, attributes in events:
        if what == TEXT:
            texts += [name] if inside else []
        elif name in ("v", "t"):
            inside += 1 if what == START else -1
        elif name == "c" and what == START:
            type_, texts = attributes.get("t", ""), []
        elif name == "c":
            cells.append(_cell("".join(texts), type_, shared))
        elif name == "row" and what == END:
            yield cells
            cells = []


def _cell(value: str, type_: str, shared: list[str]) -> str:
    if type_ == "s":
        number = int(value) if value.isdecimal() and len(value) < 10 else len(shared)
        return shared[number] if number < len(shared) else ""
    if type_ == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(value, value)
    return f"{float(value):.10g}" if _NUMBER.fullmatch(value) else value

"""The text of a document in blocks: paragraphs, headings, items of lists, rows of tables and code.

Blocks are written as Markdown writes them, and nothing else of Markdown is: a blank line is between paragraphs, a line
that begins with one to six ``#`` and a space is a heading, one with ``- `` an item of a list, cells of a row have
`` | `` between them, and lines between two lines of three backquotes are code.
"""

from __future__ import annotations

import re

from isogloss.data.document_checks import LONGEST_TEXT

PARAGRAPH, ITEM, ROW, CODE = "p", "li", "tr", "pre"
FENCE = "```"
_TOGETHER = frozenset({ITEM, ROW})  # no blank line is between two of them
CELL = " | "
_UNSPACED = "[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]"  # Chinese and Japanese
_LINE_BREAK = re.compile(rf"(?<={_UNSPACED})[^\S\n]*+\n\s*+(?={_UNSPACED})")


class UnreadableError(Exception):
    """A file is not read: the reason, by which such files are counted, and a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Blocks:
    """Collects blocks. Those of more than ``LONGEST_TEXT`` characters are too large."""

    def __init__(self) -> None:
        self._blocks: list[tuple[str, str]] = []
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, text: str, kind: str = PARAGRAPH) -> None:
        """Add a block: one of the kinds, or a heading by its level, ``h1`` to ``h6``. Lines are joined but in code."""
        text = _code(text) if kind == CODE else _one_line(text)
        if text:
            self._size += len(text)
            if self._size > LONGEST_TEXT:
                what = f"has more than {LONGEST_TEXT:,} characters of text; cut it into several files"
                raise UnreadableError("too large", what)
            self._blocks.append((kind, text))

    def add_row(self, cells: list[str]) -> None:
        """Add a row of a table; empty cells are left out."""
        self.add(CELL.join(cell for cell in cells if cell.strip()), ROW)

    def first(self, *kinds: str) -> str:
        """The first block of these kinds."""
        return next((text for kind, text in self._blocks if kind in kinds), "")

    def without(self, title: str) -> Blocks:
        """The blocks without a heading at the beginning that is the title."""
        made = Blocks()
        is_title = bool(self._blocks) and self._blocks[0][0].startswith("h") and self._blocks[0][1] == title
        made._blocks = self._blocks[1:] if is_title else self._blocks
        return made

    def text(self) -> str:
        """All blocks as one text."""
        parts: list[str] = []
        before = ""
        for kind, text in self._blocks:
            if before:
                parts.append("\n" if kind == before and kind in _TOGETHER else "\n\n")
            parts.append(_written(kind, text))
            before = kind
        return "".join(parts)


def heading(level: int) -> str:
    """The kind of a heading."""
    return f"h{min(max(level, 1), 6)}"


def _written(kind: str, text: str) -> str:
    if kind == CODE:
        return f"{FENCE}\n{text}\n{FENCE}"
    if kind == ITEM:
        return f"- {text}"
    return f"{'#' * int(kind[1])} {text}" if kind[0] == "h" else text


def _one_line(text: str) -> str:
    """White space as one space, and as none where a line of Chinese or Japanese is broken."""
    return " ".join(_LINE_BREAK.sub("", text).split())


def _code(text: str) -> str:
    """Lines of code as they are; a line that is a fence would end them."""
    lines = [line.rstrip() for line in text.expandtabs(4).splitlines() if line.strip() != FENCE]
    return "\n".join(lines).strip("\n")

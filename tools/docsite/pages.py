"""A page of Markdown: its headings with their anchors, its links, its fenced blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

DOCS = "docs"
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages that lie beside the folder of pages."""
_NO_ANCHOR = re.compile(r"[^\w\- ]")


class Heading(NamedTuple):
    """A heading: how deep it is, its text, the name that links call it by."""

    level: int
    text: str
    anchor: str


class Link(NamedTuple):
    """Where a link or an image points, its text, and the line it stands in or below."""

    target: str
    text: str
    line: int


class Block(NamedTuple):
    """A fenced block: its language, what else stands beside the fence, its text and its line."""

    language: str
    marks: tuple[str, ...]
    text: str
    line: int


@dataclass(frozen=True)
class Page:
    """A file of Markdown, by its path from the root of the repository."""

    root: Path
    path: str

    @cached_property
    def tokens(self) -> list[Token]:
        """What the file says, each heading with its anchor in the attribute ``id``."""
        tokens = parser().parse((self.root / self.path).read_text(encoding="utf-8"))
        seen: dict[str, int] = {}
        for token, inline in pairwise(tokens):
            if token.type == "heading_open":
                token.attrSet("id", _anchor(plain_text(inline), seen))
        return tokens

    @cached_property
    def headings(self) -> list[Heading]:
        """All headings, in order."""
        return [
            Heading(int(token.tag[1]), plain_text(inline), str(token.attrGet("id")))
            for token, inline in pairwise(self.tokens)
            if token.type == "heading_open"
        ]

    @property
    def title(self) -> str:
        """The first heading, or the name of the file."""
        return self.headings[0].text if self.headings else self.path

    @cached_property
    def links(self) -> list[Link]:
        """Links and images, in order."""
        return [link for token in self.tokens for link in _links(token)]

    @cached_property
    def blocks(self) -> list[Block]:
        """The fenced blocks, in order."""
        return [_block(token) for token in self.tokens if token.type == "fence"]


def find_pages(root: Path) -> list[Page]:
    """Every page of the repository: those beside the folder of pages, then those in it."""
    beside = [name for name in BESIDE if (root / name).is_file()]
    inside = sorted(path.relative_to(root).as_posix() for path in (root / DOCS).rglob("*.md"))
    return [Page(root, path) for path in (*beside, *inside)]


def parser() -> MarkdownIt:
    """Markdown as GitHub reads it, as far as the pages use it."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def plain_text(inline: Token) -> str:
    """The text of a heading or a link, without its markup."""
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))


def _anchor(text: str, seen: dict[str, int]) -> str:
    """The name that GitHub gives a heading; of equal ones the second has ``-1`` added, and so on."""
    name = _NO_ANCHOR.sub("", text.strip().lower()).replace(" ", "-")
    count = seen.get(name, 0)
    seen[name] = count + 1
    return f"{name}-{count}" if count else name


def _links(token: Token) -> Iterator[Link]:
    line = token.map[0] + 1 if token.map else 0
    children = token.children or []
    for place, child in enumerate(children):
        if child.type == "link_open":
            said = children[place + 1].content if place + 1 < len(children) else ""
            yield Link(str(child.attrGet("href")), said, line)
        elif child.type == "image":
            yield Link(str(child.attrGet("src")), child.content, line)


def _block(token: Token) -> Block:
    language, *marks = token.info.split() or [""]
    return Block(language, tuple(marks), token.content, token.map[0] + 1 if token.map else 0)

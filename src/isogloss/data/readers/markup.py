"""The title and the text of HTML and Markdown files, in time that is linear in their length.

Only text is needed, not a tree of elements, so tags are scanned one after another. Parsers that build a tree take
quadratic time for some pages: lexbor and libxml2 look through all open elements at each tag. Every pattern here scans
a part of a text a bounded number of times: its repetitions are possessive (``*+``) and end where the next match may
begin.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_SILENT = frozenset({"script", "style", "template", "noscript", "svg"})
_RAW = frozenset({"script", "style"})  # their content has no tags
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
    "var", "wbr",
})  # fmt: skip
_EMPTY = frozenset({"br", "img", "hr", "input", "meta", "link", "source", "area", "base", "col", "embed"})


_OPENING = re.compile(r"<(?:(!--)|(/?)([a-zA-Z][^\s/>]*+)|[!?/])")
_COMMENT_END = re.compile(r"--!?>")
_TAG_END = re.compile(r"""(?:[^=>]++ | =\s*+(?:"[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z) | [^\s>]*+))*+ (?:>|\Z)""", re.VERBOSE)
"""The attributes of a tag up to its end; what is not closed ends with the text, as in browsers."""
_LONG_NUMBER = re.compile(r"&#[0-9]{8,}+;?|&#[xX][0-9a-fA-F]{8,}+;?")


def read_html(text: str) -> tuple[str, str]:
    """Title and text; without a title the first heading is the title, otherwise headings belong to the text.

    >>> read_html("<title>Tea</title><h1>Leaves</h1><p>H<sub>2</sub>O &amp; leaves<br>boiled</p>")
    ('Tea', 'Leaves H2O & leaves boiled')
    """
    page = _Page()
    for slash, tag, data in _scan(text):
        if not tag:
            page.take_text(data)
        elif slash:
            page.end(tag)
        else:
            page.start(tag)
    return page.title_and_text()


def _scan(text: str) -> Iterator[tuple[bool, str, str]]:
    """Tags (whether one ends an element, and its name) and the texts between them, without comments and scripts."""
    position = 0
    while opening := _OPENING.search(text, position):
        yield False, "", text[position : opening.start()]
        comment, slash, name = opening.groups()
        if name is None:  # a comment, or what browsers take as one
            found = _COMMENT_END.search(text, opening.start() + 2) if comment else None
            end = found.end() if found else text.find(">", opening.end()) + 1 if not comment else 0
            position = end or len(text)
            continue
        position = _TAG_END.match(text, opening.end()).end()  # type: ignore[union-attr]  # it always matches
        tag = name.lower()
        yield bool(slash), tag, ""
        if not slash and text.endswith("/>", 0, position):
            yield True, tag, ""
        elif not slash and tag in _RAW:
            position = _end_of(tag, text, position)
    yield False, "", text[position:]


def _end_of(tag: str, text: str, position: int) -> int:
    """Where the tag stands that ends a script or a style."""
    found = re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE).search(text, position)
    return found.start() if found else len(text)


class _Page:
    """Collects texts, each under ``title``, ``h1`` (the first of each) or nothing."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []
        self._seen: set[str] = set()
        self._inside = ""
        self._silent, self._depth = "", 0  # the outermost silent element, and how many of its name are open

    def start(self, tag: str) -> None:
        """An element begins."""
        if tag in _INLINE:  # it may be within a word
            return
        if tag not in _EMPTY:
            self._inside = ""  # a block ends an unclosed heading
        self._texts.append((self._inside, " "))
        if tag in _SILENT and self._silent in ("", tag):
            self._silent, self._depth = tag, self._depth + 1
        elif tag in ("title", "h1") and tag not in self._seen and not self._silent:
            self._seen.add(tag)
            self._inside = tag

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in _INLINE or tag in _EMPTY:
            return
        if tag == self._silent:
            self._depth -= 1
            self._silent = tag if self._depth else ""
        self._inside = ""
        self._texts.append(("", " "))

    def take_text(self, data: str) -> None:
        """Text that is seen unless an element hides it."""
        if not self._silent and data:
            self._texts.append((self._inside, unescape(data)))

    def title_and_text(self) -> tuple[str, str]:
        """The title and the text."""
        title = self._joined("title")
        return (title, self._joined("h1", "")) if title else (self._joined("h1"), self._joined(""))

    def _joined(self, *names: str) -> str:
        return " ".join("".join(text for name, text in self._texts if name in names).split())


def unescape(text: str) -> str:
    """Character references as their characters; one with a number of eight or more digits has none."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"^(\w[\w-]*):[ \t]*(\S.*)$", re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(.+)$|^(\S.*)\n=+[ \t]*$", re.MULTILINE)
_CLOSING = re.compile(r"[ \t]#+$")  # of a heading
_TARGET = r"\((?:[^()]|\([^()]*+\))*+\)"  # of a link, with at most one pair of parentheses in it
_CLEANED = (
    (re.compile(rf"!\[[^\[\]]*+\]{_TARGET}"), " "),  # images
    (re.compile(rf"\[([^\[\]]*+)\](?:{_TARGET}|\[[^\[\]]*+\])"), r"\1"),  # links keep their words
    (re.compile(r"</?[a-zA-Z][^<>]*+>"), " "),
    (re.compile(r"^[ \t]*+(?:```|~~~).*$", re.MULTILINE), ""),  # fences; the code between them stays
    (re.compile(r"^[-:|=*_ \t]++$", re.MULTILINE), ""),  # rules, underlines of headings and of table heads
    (re.compile(r"^[ \t]*+(?:>[ \t]*+)*+(?:#++|[-*+]|\d++[.)])[ \t]++", re.MULTILINE), ""),  # headings and list items
    (re.compile(r"^[ \t]*+(?:>[ \t]*+)++", re.MULTILINE), ""),  # quotations
    (re.compile(r"(?<![\w*])[*_]++|(?<![*_])(?:[*_]++(?!\w)|_*+\*[*_]++)|`++"), ""),  # emphasis and code
    (re.compile(r"\|"), " "),
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def read_markdown(text: str) -> tuple[str, str]:
    r"""Title and text: the title of the front matter, or else the first heading, which then is not in the text.

    >>> read_markdown("# Tea\n\nA *drink* of [leaves](leaf.md).")
    ('Tea', 'A drink of leaves.')
    """
    title = ""
    front_matter = _FRONT_MATTER.match(text)
    if front_matter:
        text = text[front_matter.end() :]
        title = _values(front_matter[1]).get("title", "")
    heading = _HEADING.search(text)
    if heading and not title:
        title = _clean(_CLOSING.sub("", (heading[1] or heading[2]).rstrip()))
        text = text[: heading.start()] + text[heading.end() :]
    return title, _clean(text)


def read_front_matter(text: str) -> dict[str, str]:
    r"""The values of the front matter that take one line; none where a text has no front matter.

    >>> read_front_matter("---\ntitle: Tea\nslug: 'drinks/tea'\n---\nA drink.")
    {'title': 'Tea', 'slug': 'drinks/tea'}
    """
    found = _FRONT_MATTER.match(text)
    return _values(found[1]) if found else {}


def _values(front_matter: str) -> dict[str, str]:
    return {key: value.strip().strip("\"'") for key, value in _VALUE.findall(front_matter)}


def _clean(text: str) -> str:
    end = text.rfind("-->") + len("-->")  # after it no comment is closed: none is searched for
    text = _COMMENT.sub(" ", text[:end]) + text[end:]
    for pattern, replacement in _CLEANED:
        text = pattern.sub(replacement, text)
    return unescape(text).strip()

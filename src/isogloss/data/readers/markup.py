"""The title and the text of HTML and Markdown files."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

_SILENT = frozenset({"script", "style", "template", "noscript", "svg"})
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
    "var", "wbr",
})  # fmt: skip
_EMPTY = frozenset({"br", "img", "hr", "input", "meta", "link", "source", "area", "base", "col", "embed"})


def read_html(text: str) -> tuple[str, str]:
    """Title and text; without a title the first heading is the title, otherwise headings belong to the text.

    >>> read_html("<title>Tea</title><h1>Leaves</h1><p>H<sub>2</sub>O &amp; leaves<br>boiled</p>")
    ('Tea', 'Leaves H2O & leaves boiled')
    """
    page = _Page()
    page.feed(text.replace("<![", "<! ["))  # a bogus comment to browsers, an AssertionError to the parser
    page.close()
    return page.title_and_text()


class _Page(HTMLParser):
    """Collects texts, each under ``title``, ``h1`` (the first of each) or nothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._texts: list[tuple[str, str]] = []
        self._silent: list[str] = []
        self._seen: set[str] = set()
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _INLINE:  # it may be within a word
            return
        if tag not in _EMPTY:
            self._inside = ""  # a block ends an unclosed heading
        self._texts.append((self._inside, " "))
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag in ("title", "h1") and tag not in self._seen and not self._silent:
            self._seen.add(tag)
            self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag in _INLINE or tag in _EMPTY:
            return
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        self._inside = ""
        self._texts.append(("", " "))

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._texts.append((self._inside, data))

    def title_and_text(self) -> tuple[str, str]:
        """The title and the text."""
        title = self._joined("title")
        return (title, self._joined("h1", "")) if title else (self._joined("h1"), self._joined(""))

    def _joined(self, *names: str) -> str:
        return " ".join("".join(text for name, text in self._texts if name in names).split())


_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"^(\w[\w-]*):[ \t]*(\S.*)$", re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(.+)$|^(\S.*)\n=+[ \t]*$", re.MULTILINE)
_CLOSING = re.compile(r"[ \t]#+$")  # of a heading
_CLEANED = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), " "),  # images
    (re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])"), r"\1"),  # links keep their words
    (re.compile(r"<!--.*?-->", re.DOTALL), " "),
    (re.compile(r"</?[a-zA-Z][^>]*>"), " "),
    (re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE), ""),  # fences; the code between them stays
    (re.compile(r"^[-:|=*_ \t]+$", re.MULTILINE), ""),  # rules, underlines of headings and of table heads
    (re.compile(r"^[ \t]*(?:>[ \t]*)*(?:#+|[-*+]|\d+[.)])[ \t]+", re.MULTILINE), ""),  # headings and list items
    (re.compile(r"^[ \t]*(?:>[ \t]*)+", re.MULTILINE), ""),  # quotations
    (re.compile(r"\*\*+|(?<!\w)[*_]+|[*_]+(?!\w)|`+"), ""),  # emphasis and code
    (re.compile(r"\|"), " "),
)


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
    for pattern, replacement in _CLEANED:
        text = pattern.sub(replacement, text)
    return html.unescape(text).strip()

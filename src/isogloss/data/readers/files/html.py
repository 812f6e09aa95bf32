"""The title and the main text of HTML pages, in time that is linear in their length.

Only text is needed, not a tree of elements, so tags are scanned one after another. Parsers that build a tree take
quadratic time for some pages: lexbor and libxml2 look through all open elements at each tag. Every pattern here scans
a part of a text a bounded number of times: its repetitions are possessive (``*+``) and end where the next match may
begin.

What a page says beside its text (menus, side bars, headers and footers of the site) is left out: by the elements and
roles of HTML, and by the class names of Sphinx, DocBook, MkDocs, Docusaurus, Hugo and their kind. Where the page marks
its main part, only that is read. trafilatura and Resiliparse do this by statistics over a tree of elements; on pages
of known text this is as exact, and keeps more of it (docs/reference/data-formats.md).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from isogloss.data.readers.files.blocks import CELL, CODE, ITEM, PARAGRAPH, Blocks

_SILENT = frozenset({
    "script", "style", "template", "noscript", "svg", "iframe", "object", "select", "button", "dialog", "canvas",
})  # fmt: skip
_BESIDE = frozenset({"nav", "footer"})
_BESIDE_MAIN = frozenset({"header", "aside"})  # within the main part they belong to it
_RAW = frozenset({"script", "style"})  # their content has no tags
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
    "var", "wbr",
})  # fmt: skip
_EMPTY = frozenset({"br", "img", "hr", "input", "meta", "link", "source", "area", "base", "col", "embed"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "toolbar"})
_BESIDE_CLASSES = re.compile(
    r"""(?:^|\s)(?:
    nav|navbar|navheader|navfooter|nav-?links|navigation|(?:main-?)?menu|sidebar|side-?bar|sphinxsidebar(?:wrapper)?
    |related|docnav|(?:md-)?breadcrumbs?|footer|site-(?:header|footer|nav)|page-?footer|toc|toctree-wrapper|table-of-contents
    |localtoc|globaltoc|headerlink|hash-link|anchor-?link|skip-?(?:link|to-content)|pagination(?:-nav)?|pager
    |prev-?next(?:-area)?|cookie(?:-\w+)*+|share(?:-\w+)*+|social(?:-\w+)*+|advert\w*+|copy-?(?:button|btn)|linenos
    |md-(?:header|footer|sidebar|tabs|nav|search|skip|source|banner|top)|theme-doc-(?:toc|sidebar|footer|breadcrumbs).*
    |wy-(?:nav-side|breadcrumbs.*)|rst-(?:footer-buttons|versions)|sr-only|visually-hidden|screen-reader-text
    )(?=\s|$)""",
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""(?:^|\s)(class|id|role|hidden|aria-hidden)(?=[\s=/>])(?:\s*+=\s*+(?:"([^"]*+)|'([^']*+)|([^\s>]*+)))?"""
)
_MOST_ATTRIBUTES = 1_000  # characters of the attributes of a tag that are looked at

_OPENING = re.compile(r"<(?:(!--)|(/?)([a-zA-Z][^\s/>]*+)|[!?/])")
_COMMENT_END = re.compile(r"--!?>")
_TAG_END = re.compile(r"""(?:[^=>]++ | =\s*+(?:"[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z) | [^\s>]*+))*+ (?:>|\Z)""", re.VERBOSE)
"""The attributes of a tag up to its end; what is not closed ends with the text, as in browsers."""
_LONG_NUMBER = re.compile(r"&#[0-9]{8,}+;?|&#[xX][0-9a-fA-F]{8,}+;?")
_PERMALINKS = "¶§# \n\t\xa0"
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s{0,5}=\s{0,5}["']?([\w.:-]{1,40})|<\?xml[^>]{0,100}?encoding=["']([\w.:-]{1,40})"""
)


def read_html(text: str) -> tuple[str, str]:
    r"""Title and main text; without a title the first heading is the title. Headings belong to the text but for it.

    >>> read_html("<title>Tea</title><nav>Home</nav><h1>Leaves</h1><p>H<sub>2</sub>O &amp; leaves<br>boiled</p>")
    ('Tea', '# Leaves\n\nH2O & leaves boiled')
    """
    title, blocks = read_blocks(text)
    title = title or blocks.first("h1")
    return title, blocks.without(title).text()


def read_blocks(text: str) -> tuple[str, Blocks]:
    """The title in the head of a page, and the blocks of its main text."""
    title, blocks = _read(text, everything=False)
    return (title, blocks) if blocks else _read(text, everything=True)  # a page of links, or a menu that never ends


def declared_charset(data: bytes) -> str:
    """The character set that a page declares; empty where it does not."""
    found = _CHARSET.search(data[:4096])
    return (found[1] or found[2]).decode("ascii") if found else ""


def unescape(text: str) -> str:
    """Character references as their characters; one with a number of eight or more digits has none."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def _read(text: str, everything: bool) -> tuple[str, Blocks]:
    page = _Page(everything)
    for slash, tag, data in _scan(text):
        if not tag:
            page.take_text(data)
        elif slash:
            page.end(tag)
        else:
            page.start(tag, data)
    return page.title_and_blocks()


def _scan(text: str) -> Iterator[tuple[bool, str, str]]:
    """Tags (whether one ends an element, its name, its attributes) and texts between them, without comments."""
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
        yield bool(slash), tag, text[opening.end() : min(position, opening.end() + _MOST_ATTRIBUTES)]
        if not slash and text.endswith("/>", 0, position):
            yield True, tag, ""
        elif not slash and tag in _RAW:
            position = _end_of(tag, text, position)
    yield False, "", text[position:]


def _end_of(tag: str, text: str, position: int) -> int:
    """Where the tag stands that ends a script or a style."""
    found = re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE).search(text, position)
    return found.start() if found else len(text)


class _Inside:
    """The outermost element of some sort that is open: its name, and how many of its name are open in it."""

    def __init__(self) -> None:
        self.tag, self._depth = "", 0

    def start(self, tag: str, begins: bool) -> None:
        if (begins and not self.tag) or tag == self.tag:
            self.tag, self._depth = tag, self._depth + 1

    def end(self, tag: str) -> None:
        if tag and tag == self.tag:
            self._depth -= 1
            self.tag = tag if self._depth else ""


class _Page:
    """Collects the blocks of a page, and apart from them those of its main part."""

    def __init__(self, everything: bool) -> None:
        self._everything = everything
        self._all, self._main = Blocks(), Blocks()
        self._silent, self._beside, self._in_main, self._in_article = _Inside(), _Inside(), _Inside(), _Inside()
        self._title: list[str] = []
        self._in_title = self._has_title = False
        self._kind, self._texts = PARAGRAPH, list[str]()

    def start(self, tag: str, attributes: str) -> None:
        """An element begins."""
        values = _values(attributes)
        if tag not in _EMPTY:
            self._open(tag, values)
        if tag in _INLINE:  # it may be within a word
            return
        if tag in _EMPTY or tag in _RAW:
            self._texts.append("\n" if tag == "br" else " ")
            return
        if tag == "title" and not self._has_title and not self._silent.tag:
            self._in_title = self._has_title = True
            return
        self._in_title = False
        if tag in ("td", "th") and self._kind == "td":
            self._texts.append(CELL)
        elif not (tag in ("p", "div") and self._kind in (ITEM, "td") and not "".join(self._texts).strip(" |\n")):
            self._flush()
            self._kind = _kind_of(tag)

    def end(self, tag: str) -> None:
        """An element ends."""
        self._in_title = False
        if tag in _INLINE or tag in _EMPTY or tag in _RAW:
            self._close(tag)
            return
        if not (tag in ("td", "th", "p") and self._kind == "td"):
            self._flush()
            self._kind = PARAGRAPH
        else:
            self._texts.append(" ")
        self._close(tag)

    def take_text(self, data: str) -> None:
        """Text that is seen unless an element hides it."""
        if self._in_title:
            self._title.append(unescape(data))
        elif data and not self._silent.tag and not self._beside.tag:
            self._texts.append(unescape(data))

    def title_and_blocks(self) -> tuple[str, Blocks]:
        """The title and the blocks."""
        self._flush()
        return " ".join("".join(self._title).split()), self._main or self._all

    def _open(self, tag: str, values: dict[str, str]) -> None:
        roles = values.get("role", "").lower()
        is_main = tag == "main" or roles == "main"
        self._silent.start(tag, tag in _SILENT or (_is_hidden(values) and roles != "tabpanel"))
        self._in_main.start(tag, is_main and not self._silent.tag)
        self._in_article.start(tag, tag == "article")
        beside = not (self._everything or is_main or tag in ("html", "body")) and (
            tag in _BESIDE
            or (tag in _BESIDE_MAIN and not (self._in_main.tag or self._in_article.tag))
            or roles in _ROLES
            or bool(_BESIDE_CLASSES.search(f"{values.get('class', '')} {values.get('id', '')}"))
        )
        if beside and tag not in _INLINE:
            self._flush()
        self._beside.start(tag, beside)

    def _close(self, tag: str) -> None:
        for inside in (self._silent, self._beside, self._in_main, self._in_article):
            inside.end(tag)

    def _flush(self) -> None:
        """End the block."""
        text, kind = "".join(self._texts), self._kind
        self._texts = []
        if kind in _HEADINGS:
            text = text.rstrip(_PERMALINKS)
        for blocks in (self._all, self._main)[: 2 if self._in_main.tag else 1]:
            if kind == "td":
                blocks.add_row(text.split(CELL))
            else:
                blocks.add(text, kind)


def _kind_of(tag: str) -> str:
    if tag in _HEADINGS or tag == CODE:
        return tag
    return ITEM if tag == "li" else "td" if tag in ("td", "th") else PARAGRAPH


def _is_hidden(values: dict[str, str]) -> bool:
    return "hidden" in values or values.get("aria-hidden") == "true"


def _values(attributes: str) -> dict[str, str]:
    """The values of the attributes that tell what an element is."""
    if "=" not in attributes and "hidden" not in attributes:
        return {}
    return {name: a or b or c or "" for name, a, b, c in _ATTRIBUTE.findall(attributes)}

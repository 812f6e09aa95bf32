"""The title and the visible text of an HTML page."""

from __future__ import annotations

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
    """Gathers pieces of text, each under ``title``, ``h1`` (the first of each) or nothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[tuple[str, str]] = []
        self._silent: list[str] = []
        self._seen: set[str] = set()
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _INLINE:  # it may stand within a word
            return
        if tag not in _EMPTY:
            self._inside = ""  # a block ends a heading that nobody closed
        self._pieces.append((self._inside, " "))
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
        self._pieces.append(("", " "))

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._pieces.append((self._inside, data))

    def title_and_text(self) -> tuple[str, str]:
        """What was gathered."""
        title = self._joined("title")
        return (title, self._joined("h1", "")) if title else (self._joined("h1"), self._joined(""))

    def _joined(self, *names: str) -> str:
        return " ".join("".join(piece for name, piece in self._pieces if name in names).split())

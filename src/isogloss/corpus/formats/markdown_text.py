"""The title and the words of a Markdown file."""

from __future__ import annotations

import html
import re

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(.+)$|^(\S.*)\n=+[ \t]*$", re.MULTILINE)
_CLOSING = re.compile(r"[ \t]#+$")  # the signs some people close a heading with
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
        named = _NAMED.search(front_matter[1])
        title = named[1].strip().strip("\"'") if named else ""
    heading = _HEADING.search(text)
    if heading and not title:
        title = _clean(_CLOSING.sub("", (heading[1] or heading[2]).rstrip()))
        text = text[: heading.start()] + text[heading.end() :]
    return title, _clean(text)


def _clean(text: str) -> str:
    for pattern, replacement in _CLEANED:
        text = pattern.sub(replacement, text)
    return html.unescape(text).strip()

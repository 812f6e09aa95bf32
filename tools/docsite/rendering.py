"""A page of Markdown as HTML: headings with anchors, code in colours, links as they are on the site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from docsite.pages import Page, parser

Address = Callable[[str], str]
"""A link as the page writes it, to a link as the site needs it."""
_STYLES = {"light": "default", "dark": "github-dark"}
_CODE = "code"


def render(page: Page, address: Address) -> str:
    """The body of a page."""
    markdown = parser()
    markdown.add_render_rule("fence", _fence)
    markdown.add_render_rule("heading_close", _heading_close)
    markdown.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0">\n<table>\n')
    markdown.add_render_rule("table_close", lambda *_: "</table>\n</div>\n")
    tokens = Page(page.root, page.path).tokens  # its own: links are changed in them
    for token in tokens:
        for child in token.children or ():
            for name in ("href", "src"):
                if name in child.attrs:
                    child.attrSet(name, address(str(child.attrs[name])))
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def code_styles() -> str:
    """The colours of code, by day and by night."""
    day, night = (HtmlFormatter(style=_STYLES[time]).get_style_defs(f".{_CODE}") for time in ("light", "dark"))
    return f"{day}\n@media (prefers-color-scheme: dark) {{\n{night}\n}}\n"


def _fence(renderer: object, tokens: Sequence[Token], number: int, *_: Any) -> str:
    language = (tokens[number].info.split() or ["text"])[0]
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return str(highlight(tokens[number].content, lexer, HtmlFormatter(cssclass=_CODE)))


def _heading_close(renderer: object, tokens: Sequence[Token], number: int, *_: Any) -> str:
    """Behind the words of a heading, a link to it."""
    heading, words = tokens[number - 2], escape(tokens[number - 1].content)
    link = f'<a class="anchor" href="#{heading.attrGet("id")}" aria-label="Link to: {words}">#</a>'
    return f"{link}</{heading.tag}>\n"

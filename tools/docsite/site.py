"""The pages as a site: files that lie side by side, that need no server and ask for nothing from elsewhere."""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import quote

from docsite.links import HOME, broken_links, resolve
from docsite.navigation import Entry, Group, read_navigation
from docsite.pages import DOCS, Page, find_pages
from docsite.rendering import code_styles, render

_HERE = Path(__file__).parent
_NAME = "isogloss"
_STYLE = "style.css"
_FEWEST_SECTIONS = 3  # a page with fewer needs no list of them


def build_site(root: Path, output: Path) -> int:
    """Build the site of a repository into a folder, whose content goes; how many pages it has."""
    pages = find_pages(root)
    problems = broken_links(pages)
    if problems:
        raise ValueError("\n".join(problems))
    if output.exists():
        shutil.rmtree(output)
    output.mkdir(parents=True)
    site = _Site(root, output, pages)
    for page in pages:
        site.write(page)
    styles = (_HERE / _STYLE).read_text(encoding="utf-8")
    (output / _STYLE).write_text(styles + code_styles(), encoding="utf-8")
    return len(pages)


def place_of(path: str) -> str:
    """Where a file of the repository is on the site."""
    if path.startswith(f"{DOCS}/"):
        path = path.removeprefix(f"{DOCS}/")
        return path.removesuffix(".md") + ".html" if path.endswith(".md") else path
    return f"{path.removesuffix('.md').lower()}.html" if path.endswith(".md") else f"files/{path}"


class _Site:
    """The site in the making."""

    def __init__(self, root: Path, output: Path, pages: Sequence[Page]) -> None:
        self._root, self._output = root, output
        self._navigation = read_navigation(next(page for page in pages if page.path == HOME))
        self._order = [entry for group in self._navigation for entry in group.entries]
        self._template = Template((_HERE / "page.html").read_text(encoding="utf-8"))

    def write(self, page: Page) -> None:
        """Write one page, and copy what it shows."""
        here = place_of(page.path)
        filled = self._template.substitute(
            title=escape(page.title if page.path == HOME else f"{page.title} · {_NAME}"),
            name=_NAME,
            home=_relative(here, "index.html"),
            style=_relative(here, _STYLE),
            navigation="\n".join(self._group(group, page) for group in self._navigation),
            sections=_sections(page),
            body=render(page, lambda target: self._address(page, target)),
            around=self._around(page),
        )
        target = self._output / here
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(filled, encoding="utf-8")

    def _address(self, page: Page, target: str) -> str:
        place = resolve(page, target)
        if place is None:
            return target
        path, anchor = place
        if not path.endswith(".md"):
            self._copy(path)
        return _relative(place_of(page.path), place_of(path)) + (f"#{quote(anchor)}" if anchor else "")

    def _copy(self, path: str) -> None:
        target = self._output / place_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._root / path, target)

    def _group(self, group: Group, page: Page) -> str:
        items = "".join(f"<li>{self._link(entry, page)}</li>" for entry in group.entries)
        return f"<h2>{escape(group.title)}</h2>\n<ul>{items}</ul>"

    def _link(self, entry: Entry, page: Page, rel: str = "") -> str:
        here = ' aria-current="page"' if entry.path == page.path else ""
        address = _relative(place_of(page.path), place_of(entry.path))
        kind = f' rel="{rel}"' if rel else ""
        return f'<a href="{address}"{kind}{here}>{escape(entry.text)}</a>'

    def _around(self, page: Page) -> str:
        """Links to the pages before and after this one."""
        paths = [entry.path for entry in self._order]
        if page.path not in paths:
            return ""
        number = paths.index(page.path)
        before, after = self._order[:number][-1:], self._order[number + 1 :][:1]
        links = [f"<span>← {self._link(entry, page, 'prev')}</span>" for entry in before]
        links += [f"<span>{self._link(entry, page, 'next')} →</span>" for entry in after]
        return "\n".join(links)


def _sections(page: Page) -> str:
    sections = [heading for heading in page.headings if heading.level == 2]
    if len(sections) < _FEWEST_SECTIONS or page.path == HOME:  # whose sections are the navigation
        return ""
    items = "".join(f'<li><a href="#{quote(one.anchor)}">{escape(one.text)}</a></li>' for one in sections)
    return f'<nav class="sections" aria-label="On this page"><ul>{items}</ul></nav>'


def _relative(here: str, there: str) -> str:
    return quote(posixpath.relpath(there, posixpath.dirname(here) or "."))

"""Whether every link leads somewhere: relative ones to a file that is there and an anchor that it has."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from docsite.pages import DOCS, Page

HOME = f"{DOCS}/index.md"
_ELSEWHERE = ("http", "https", "mailto")


def resolve(page: Page, target: str) -> tuple[str, str] | None:
    """The path, from the root of the repository, and the anchor that a link means; None if it leaves the house."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), unquote(parts.path)))
    return (path if parts.path else page.path), unquote(parts.fragment)


def broken_links(pages: Sequence[Page]) -> list[str]:
    """What is wrong with the links of these pages, each as a sentence that names its place."""
    by_path = {page.path: page for page in pages}
    return [problem for page in pages for problem in _problems(page, by_path)]


def lost_pages(pages: Sequence[Page]) -> list[str]:
    """The pages that nobody finds who begins at the first one and follows links."""
    by_path = {page.path: page for page in pages}
    found, ahead = {HOME}, [HOME]
    while ahead:
        page = by_path[ahead.pop()]
        targets = {place[0] for link in page.links if (place := resolve(page, link.target))}
        new = (targets & by_path.keys()) - found
        found |= new
        ahead += sorted(new)
    return sorted(by_path.keys() - found)


def _problems(page: Page, by_path: dict[str, Page]) -> list[str]:
    problems = []
    for link in page.links:
        what = _what_is_wrong(page, link.target, by_path)
        if what:
            problems.append(f"{page.path}:{link.line}: the link to {link.target!r} {what}")
    return problems


def _what_is_wrong(page: Page, target: str, by_path: dict[str, Page]) -> str:
    place = resolve(page, target)
    if place is None:
        return "" if urlsplit(target).scheme in _ELSEWHERE else "is neither a path nor an address"
    path, anchor = place
    if path.startswith(("../", "/")):
        return "leaves the repository"
    if not (page.root / path).is_file():
        return "leads to no file"
    if anchor and path in by_path and anchor not in {heading.anchor for heading in by_path[path].headings}:
        return f"leads to no heading of {path}"
    return ""

"""What stands beside every page: the lists of the first page, each under its heading."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from docsite.links import resolve
from docsite.pages import Page, plain_text


class Entry(NamedTuple):
    """A page as the first page names it."""

    path: str
    text: str


class Group(NamedTuple):
    """The pages under one heading of the first page."""

    title: str
    entries: list[Entry]


def read_navigation(home: Page) -> list[Group]:
    """The first link of each item of each list, under the heading above it.

    So the first page is written once, for readers, and is the table of contents too.
    """
    groups: list[Group] = []
    wanted = False
    for number, token in enumerate(home.tokens):
        if token.type == "heading_open" and token.tag == "h2":
            groups.append(Group(plain_text(home.tokens[number + 1]), []))
        elif token.type == "list_item_open":
            wanted = True
        elif token.type == "inline" and wanted and groups:
            wanted = False
            groups[-1].entries.extend(_first_link(home, number))
    return [group for group in groups if group.entries]


def _first_link(home: Page, number: int) -> list[Entry]:
    children = home.tokens[number].children or []
    for child, said in pairwise(children):
        place = resolve(home, str(child.attrGet("href"))) if child.type == "link_open" else None
        if place:
            return [Entry(place[0], said.content)]
    return []

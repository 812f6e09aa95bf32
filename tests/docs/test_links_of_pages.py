"""Every link of every page leads somewhere, and every page can be found; the checks find what is wrong."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages():
    from docsite.pages import find_pages

    return find_pages(ROOT)


def test_every_relative_link_and_anchor_resolves(pages):
    from docsite.links import broken_links

    assert broken_links(pages) == []


def test_every_page_can_be_found_from_the_first(pages):
    from docsite.links import lost_pages

    assert lost_pages(pages) == []


def test_headings_get_the_anchors_that_github_gives_them(house):
    (page,) = house(index="# What `psq` is, exactly?\n\n## Über  uns\n\n## 2. Find it\n\n## 2. Find it\n")
    anchors = [heading.anchor for heading in page.headings]
    assert anchors == ["what-psq-is-exactly", "über--uns", "2-find-it", "2-find-it-1"]
    assert page.title == "What psq is, exactly?"


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        ("there.md", ""),
        ("there.md#a-part", ""),
        ("#home", ""),
        ("../README.md", ""),
        ("https://example.org/x#y", ""),
        ("gone.md", "leads to no file"),
        ("there.md#gone", "leads to no heading of docs/there.md"),
        ("#gone", "leads to no heading of docs/index.md"),
        ("../../outside.md", "leaves the repository"),
        ("ftp://example.org", "is neither a path nor an address"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(house, link, wrong):
    from docsite.links import broken_links

    pages = house(index=f"# Home\n\nlook [there]({link})\n", there="# There\n\n## A part\n", readme="# Read me\n")
    expected = [f"docs/index.md:3: the link to {link!r} {wrong}"] if wrong else []
    assert broken_links(pages) == expected


def test_a_missing_image_is_a_broken_link(house):
    from docsite.links import broken_links

    (problem,) = broken_links(house(index="# Home\n\n![a picture](gone.png)\n"))
    assert "gone.png" in problem


def test_a_link_inside_code_is_none(house):
    (page,) = house(index="# Home\n\n`[a](gone.md)`\n\n```text\n[b](gone.md)\n```\n")
    assert page.links == []


def test_a_page_that_nobody_links_is_lost(house):
    from docsite.links import lost_pages

    pages = house(index="# Home\n\n[a](a.md)\n", a="# A\n\n[b](b.md)\n", b="# B\n", c="# C\n")
    assert lost_pages(pages) == ["docs/c.md"]

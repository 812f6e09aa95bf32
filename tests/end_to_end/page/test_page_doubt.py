"""What the page says of results of which even the best is hardly relevant."""

from __future__ import annotations

import sys

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.index.making import make_index

expect = pytest.importorskip("playwright.sync_api").expect

SETTINGS = {"eps": "0", "thresholds": "0.998,0.999", "epochs": "1", "dimension": "8"}
DOUBT = "Probably nothing here: even the best result scores below what counts as relevant."


@pytest.fixture(scope="module")
def site(tmp_path_factory, demo_indexes, serve):
    """A system that counts as relevant what nothing reaches, beside one whose scores say nothing of relevance."""
    folder = tmp_path_factory.mktemp("doubt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)  # compiling takes longer than one epoch without it
        make_index(folder / "smooth", "smooth", open_source("demo"), ["fr"], settings=SETTINGS)
    with serve(folder / "smooth", demo_indexes / "psq") as address:
        yield address


def test_the_doubt_stands_before_the_results(site, open_page, ask):
    page = open_page(site)
    ask(page, "animal with a long trunk")
    expect(page.locator(".doubt")).to_have_text(DOUBT)
    expect(page.get_by_role("status")).to_contain_text("probably none of them relevant")
    expect(page.locator(".card")).to_have_count(10)
    expect(page.locator(".card .relevance").first).to_have_text("not relevant")
    assert page.locator(".doubt").bounding_box()["y"] < page.locator(".card").first.bounding_box()["y"]


def test_later_pages_need_no_such_remark(site, open_page):
    page = open_page(f"{site}?q=animal+with+a+long+trunk&offset=10")
    expect(page.locator(".card").first).to_be_visible()
    expect(page.locator(".doubt")).to_have_count(0)
    expect(page.get_by_role("status")).not_to_contain_text("relevant")


def test_scores_without_classes_get_no_remark(demo_site, open_page):
    page = open_page(f"{demo_site}?q=elephant")
    expect(page.locator(".card").first).to_be_visible()
    expect(page.locator(".doubt")).to_have_count(0)


def test_side_by_side_the_doubt_is_of_one_system(site, open_page):
    page = open_page(f"{site}?q=animal+with+a+long+trunk&compare=1")
    expect(page.locator(".column").first.locator(".doubt")).to_have_text(DOUBT)
    expect(page.locator(".column").nth(1).locator(".card").first).to_be_visible()
    expect(page.locator(".doubt")).to_have_count(1)

"""The pictures of the documentation: ISOGLOSS_PICTURES=docs/images takes them anew."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.request import urlopen

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.index.making import make_index
from isogloss.systems.lexicons import with_auto_lexicon

expect = pytest.importorskip("playwright.sync_api").expect

FOLDER = os.environ.get("ISOGLOSS_PICTURES", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="set ISOGLOSS_PICTURES=docs/images to take the pictures anew")
KEPT = Path(FOLDER).absolute()  # before a test goes elsewhere
MOST_BYTES = 150_000
QUERY = "?q=animal+with+a+long+trunk"
DESKTOP = {"width": 1200, "height": 800}
PHONE = {"width": 320, "height": 680}


@pytest.fixture(scope="module")
def site(tmp_path_factory, serve):
    """The bundled collection under two systems."""
    folder = tmp_path_factory.mktemp("pictures")
    for system in ("bridge", "psq"):
        settings = with_auto_lexicon(system, {})
        make_index(folder / system, system, open_source("demo"), ["es", "fr", "sw", "zh"], settings=settings)
    with serve(folder / "bridge", folder / "psq") as address:
        urlopen(f"{address}api/v1/search{QUERY}&gloss=true").close()  # the first answer takes longer than others
        yield address


def taken(page, name):
    page.mouse.move(0, 0)
    page.screenshot(path=KEPT / f"{name}.png", animations="disabled", caret="hide")
    assert (KEPT / f"{name}.png").stat().st_size < MOST_BYTES


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results(site, open_page, scheme):
    page = open_page(site + QUERY, viewport=DESKTOP, color_scheme=scheme)
    expect(page.locator(".card").first).to_be_visible()
    taken(page, f"results-{scheme}")


def test_gloss(site, open_page):
    """The picture of the README: what somebody sees who reads none of these languages."""
    page = open_page(f"{site}?q=why+do+volcanoes+erupt", viewport=DESKTOP)
    page.locator(".card").first.locator(".passage ~ .gloss mark").last.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    taken(page, "gloss")


def test_why(site, open_page):
    page = open_page(site + QUERY, viewport=DESKTOP)
    page.locator(".toggle").first.click()
    expect(page.locator(".why .pairs").first).to_be_visible()
    taken(page, "why")


def test_narrow(site, open_page):
    page = open_page(site + QUERY, viewport=PHONE, color_scheme="light", has_touch=True, is_mobile=True)
    page.locator(".toggle").first.click()
    expect(page.locator(".why .pairs").first).to_be_visible()
    page.locator(".card").first.scroll_into_view_if_needed()
    taken(page, "narrow")


def test_nothing_found(site, open_page):
    taken(open_page(f"{site}?q=xyzzy&lang=fr", viewport=DESKTOP), "nothing-found")


def test_probably_nothing_here(tmp_path, serve, open_page):
    make_index(
        tmp_path / "index", "smooth", open_source("demo"), ["fr"], settings={"thresholds": "0.97,0.99", "epochs": "5"}
    )
    with serve(tmp_path / "index") as address:
        page = open_page(f"{address}?q=animal+with+a+long+trunk", viewport=DESKTOP)
        expect(page.locator(".doubt")).to_be_visible()
        taken(page, "probably-nothing")


def test_start(site, open_page):
    taken(open_page(site, viewport=DESKTOP), "start")


def test_document(site, open_page):
    taken(open_page(f"{site}{QUERY}&language=fr&id=fr-elephant", viewport=DESKTOP), "document")


def test_side_by_side(site, open_page):
    page = open_page(f"{site}{QUERY}&compare=1", viewport={"width": 1280, "height": 720})
    page.locator(".column .title").nth(1).focus()
    taken(page, "side-by-side")

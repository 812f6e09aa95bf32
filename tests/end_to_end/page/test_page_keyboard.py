"""The page without a mouse."""

from __future__ import annotations

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def test_from_the_box_to_a_document_and_back_by_keys_alone(demo_site, open_page):
    page = open_page(demo_site)
    keys = page.keyboard
    keys.type("elephant")
    keys.press("Enter")
    expect(page.locator(".card").first).to_be_visible()
    titles = page.locator(".card .title")
    keys.press("ArrowDown")
    expect(titles.nth(0)).to_be_focused()
    keys.press("j")
    expect(titles.nth(1)).to_be_focused()
    keys.press("ArrowDown")
    keys.press("k")
    keys.press("ArrowUp")
    expect(titles.nth(0)).to_be_focused()
    keys.press("w")
    expect(page.locator(".why .pairs").first).to_be_visible()
    keys.press("Escape")
    expect(page.locator(".why .pairs").first).to_be_hidden()
    expect(page.locator(".toggle").first).to_be_focused()
    keys.press("j")
    keys.press("Enter")
    expect(page.locator(".document h2")).to_be_focused()
    keys.press("Escape")
    expect(titles.nth(1)).to_be_focused()
    keys.press("k")
    keys.press("k")
    expect(page.locator("#query")).to_be_focused()


def test_the_slash_leads_to_the_box_and_escape_empties_it(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "elephant")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("w/w jk")  # the selected query gives way; in the box, letters are letters
    expect(page.locator("#query")).to_have_value("w/w jk")
    page.keyboard.press("Escape")
    expect(page.locator("#query")).to_have_value("")
    expect(page.locator(".welcome")).to_be_visible()


def test_the_last_result_is_the_end(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water")
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".card .title").last).to_be_focused()
    expect(page.locator(".card").last).to_be_in_viewport()


def test_keys_of_the_browser_stay_its_own(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+k")
    expect(page.locator(".card .title").first).to_be_focused()


def test_every_control_is_reached_by_tab(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water")
    page.get_by_role("link", name="isogloss").focus()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="Skip to the results")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the results")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"query", "from", "compare", "title", "quiet toggle", "button"} <= reached

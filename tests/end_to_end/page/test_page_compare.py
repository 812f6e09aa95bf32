"""Two systems side by side."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_same_query_in_two_columns(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water animal species food")
    page.get_by_role("link", name="Compare systems").click()
    columns = page.locator(".column")
    expect(columns).to_have_count(2)
    expect(columns.nth(0).locator("h3").first).to_contain_text("psq")
    expect(columns.nth(1).locator("h3").first).to_contain_text("bm25-dict")
    assert parse_qs(urlsplit(page.url).query)["compare"] == ["1"]
    page.go_back()
    expect(columns).to_have_count(0)
    expect(page.locator(".card").first).to_be_visible()


def test_each_result_says_where_the_other_system_puts_it(demo_site, open_page):
    page = open_page(f"{demo_site}?q=water+animal+species+food&compare=1")
    left, right = (page.locator(".column").nth(side) for side in (0, 1))
    keys = [[card.get_attribute("data-key") for card in side.locator(".card").all()] for side in (left, right)]
    shared = [key for key in keys[0] if key in keys[1]]
    assert shared
    for key in shared:
        here, there = keys[0].index(key), keys[1].index(key)
        moved = "same place" if here == there else f"{abs(there - here)} {'lower' if there > here else 'higher'}"
        place = left.locator(".card").nth(here).locator(".place")
        expect(place).to_have_text(f"{there + 1} in bm25-dict, {moved}")
    expect(page.locator(".links path")).to_have_count(len(shared))
    expect(page.get_by_role("status")).to_contain_text(f"{len(shared)} of 10 documents")


def test_a_result_and_its_twin_light_up_together(demo_site, open_page):
    page = open_page(f"{demo_site}?q=water+animal+species+food&compare=1")
    left, right = (page.locator(".column").nth(side) for side in (0, 1))
    key = left.locator(".card").first.get_attribute("data-key")
    left.locator(".card .title").first.focus()
    lit = page.locator(".card.twin")
    assert {card.get_attribute("data-key") for card in lit.all()} == {key}
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('.card').dataset.key") == key
    assert right.locator(".title:focus").count() == 1
    page.keyboard.press("ArrowLeft")
    assert left.locator(".title:focus").count() == 1


def test_documents_and_reasons_come_from_the_column_they_are_in(demo_site, open_page):
    page = open_page(f"{demo_site}?q=water+animal+species+food&compare=1")
    card = page.locator(".column").nth(1).locator(".card").first
    with page.expect_request(lambda request: "/explain" in request.url and "index=compare" in request.url):
        card.locator(".toggle").click()
    with page.expect_request(lambda request: "/documents/" in request.url and "index=compare" in request.url):
        card.locator(".title").click()
    expect(page.locator(".document h2")).to_be_visible()


def test_one_system_can_fail_alone(demo_site, open_page, ask):
    page = open_page(f"{demo_site}?compare=1", failing=True)
    page.route("**/api/v1/search?*index=compare*", lambda route: route.abort())
    page.locator("#query").fill("water")
    page.keyboard.press("Enter")
    expect(page.locator(".column").nth(0).locator(".card").first).to_be_visible()
    expect(page.locator(".column").nth(1)).to_contain_text("cannot be reached")


def test_without_a_second_index_there_is_nothing_to_compare(own_site, open_page):
    page = open_page(f"{own_site}?q=sea&compare=1")
    expect(page.locator(".card").first).to_be_visible()
    expect(page.locator(".column")).to_have_count(0)
    expect(page.locator("#compare")).to_be_hidden()

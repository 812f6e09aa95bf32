"""What the page says when it has nothing to show, and that there is always a way on."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def refusing(page, status, code, message="the reason", path="search"):
    body = json.dumps({"error": {"code": code, "message": message, "request_id": "r-17"}})
    page.route(
        f"**/api/v1/{path}*", lambda route: route.fulfill(status=status, body=body, content_type="application/json")
    )


def test_nothing_found_says_why_and_what_to_do(demo_site, open_page):
    page = open_page(f"{demo_site}?q=xyzzy+plugh&lang=fr")
    notice = page.locator(".notice")
    expect(notice.get_by_role("heading")).to_have_text("Nothing found")
    expect(notice).to_contain_text("does not know xyzzy, plugh")
    expect(page.get_by_role("status")).to_have_text("Nothing found")
    notice.get_by_role("link", name="Search all languages").click()
    expect(notice.get_by_role("link", name="Search all languages")).to_have_count(0)
    assert "lang" not in parse_qs(urlsplit(page.url).query)


def test_a_page_after_the_last_leads_to_the_first(demo_site, open_page):
    page = open_page(f"{demo_site}?q=elephant&offset=900")
    page.get_by_role("link", name="Go to the first page").click()
    expect(page.locator(".card .rank").first).to_have_text("1")


def test_a_service_that_cannot_be_reached(demo_site, open_page):
    page = open_page(demo_site, failing=True)
    page.route("**/api/v1/**", lambda route: route.abort())
    page.locator("#query").fill("water")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The search service cannot be reached")).to_be_visible()
    expect(page.locator("#query")).to_have_value("water")
    page.unroute("**/api/v1/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card").first).to_be_visible()


def test_a_service_that_is_gone_from_the_start_comes_back(demo_site, open_page, browser):
    page = open_page(f"{demo_site}?q=water&lang=fr")
    context = page.context
    blocked = context.new_page()
    blocked.route("**/api/v1/**", lambda route: route.abort())
    blocked.goto(demo_site)
    expect(blocked.get_by_role("heading", name="The search service cannot be reached")).to_be_visible()
    blocked.unroute("**/api/v1/**")
    blocked.get_by_role("button", name="Try again").click()
    expect(blocked.locator(".welcome")).to_be_visible()
    expect(blocked.get_by_label("Swahili")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "code", "heading"),
    [
        (503, "busy", "The service is busy"),
        (429, "busy", "The service is busy"),
        (504, "timeout", "The answer took too long"),
        (500, "internal", "Something went wrong in the service"),
        (422, "invalid", "This cannot be searched"),
    ],
)
def test_refusals_are_shown_in_words(demo_site, open_page, status, code, heading):
    page = open_page(demo_site, failing=True)
    refusing(page, status, code)
    page.locator("#query").fill("water")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("the reason · request r-17")


def test_an_answer_that_is_no_json_is_a_fault_and_not_a_blank_page(demo_site, open_page):
    page = open_page(demo_site)
    page.route("**/api/v1/search*", lambda route: route.fulfill(status=200, body="<html>", content_type="text/html"))
    page.locator("#query").fill("water")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Something went wrong in the service")).to_be_visible()


def test_a_query_that_is_too_long_is_not_sent_and_can_be_cut(demo_site, open_page):
    page = open_page(demo_site)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#query").fill("water " * 2000)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The query is too long")).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("It has 11,999 characters; at most 4,000 are read.")
    assert asked == []
    assert "water" not in page.url
    page.get_by_role("button", name="Search with the first 4,000").click()
    expect(page.locator(".card").first).to_be_visible()


def test_an_index_without_documents_says_so(demo_site, open_page):
    page = open_page(demo_site)
    status = page.request.get(f"{demo_site}api/v1/status").json()
    status["index"]["documents"] = {}
    empty = page.context.new_page()
    empty.route(
        "**/api/v1/status", lambda route: route.fulfill(body=json.dumps(status), content_type="application/json")
    )
    empty.goto(demo_site)
    expect(empty.locator(".welcome")).to_contain_text("no documents yet")

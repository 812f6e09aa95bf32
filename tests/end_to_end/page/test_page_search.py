"""Searching on the page: type, read, narrow down, turn pages, go back, share."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def asked_for(page):
    return parse_qs(urlsplit(page.url).query)


def test_typing_is_enough(demo_site, open_page):
    page = open_page(demo_site)
    expect(page.locator(".welcome")).to_contain_text("Ask in English. 416 documents")
    page.keyboard.type("elephant water", delay=5)  # the box has the focus from the start
    expect(page.locator(".card").first).to_be_visible()
    assert asked_for(page)["q"] == ["elephant water"]
    expect(page).to_have_title("elephant water · isogloss")


def test_a_result_shows_what_one_needs_to_judge_it(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water animal species")
    card = page.locator(".card").first
    assert card.locator(".language").inner_text() in ("Chinese", "French", "Spanish", "Swahili")
    expect(card.locator(".meter")).to_be_visible()
    expect(card.locator("h3 a")).to_have_attribute("lang", re.compile("zh|fr|es|sw"))
    expect(card.locator(".passage mark").first).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Results 1 to 10")


def test_an_address_can_be_shared(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water animal species")
    page.get_by_label("French").check()
    expect(page.locator(".card .language").first).to_have_text("French")
    titles = page.locator(".card .title").all_inner_texts()
    other = open_page(page.url)
    expect(other.locator("#query")).to_have_value("water animal species")
    expect(other.get_by_label("French")).to_be_checked()
    assert other.locator(".card .title").all_inner_texts() == titles


def test_languages_are_chosen_one_by_one(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water")
    expect(page.get_by_label("All")).to_be_checked()
    expect(page.locator(".choice", has_text="Swahili")).to_contain_text("104")
    page.get_by_label("Swahili").check()
    expect(page.locator(".card .language", has_text="French")).to_have_count(0)
    expect(page.get_by_label("All")).not_to_be_checked()
    expect(page.get_by_label("Swahili")).to_be_focused()
    page.get_by_label("French").check()
    expect(page.locator(".card .language", has_text="French").first).to_be_visible()
    assert asked_for(page)["lang"] == ["fr", "sw"]
    page.get_by_label("All").check()
    expect(page.get_by_label("Swahili")).not_to_be_checked()
    assert "lang" not in asked_for(page)


def test_the_language_of_the_query_is_shown_and_can_be_changed(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "pourquoi est-ce que la mer est salée")
    choice = page.get_by_label("Query in")
    expect(choice.locator("option:checked")).to_have_text("French (detected)")
    expect(page.locator("#view")).to_contain_text("English")
    choice.select_option("en")
    expect(choice.locator("option:checked")).to_have_text("English")
    assert asked_for(page)["query_lang"] == ["en"]
    expect(page.locator("#view")).not_to_contain_text("looks like")
    page.go_back()
    expect(choice.locator("option:checked")).to_have_text("French (detected)")


def test_words_that_are_not_known_are_named(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water xyzzy")
    expect(page.locator(".remark")).to_have_text("Not known: xyzzy. The results come from the other words.")


def test_pages_turn_both_ways(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water")
    first = page.locator(".card .title").all_inner_texts()
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".card .rank").first).to_have_text("11")
    assert asked_for(page)["offset"] == ["10"]
    expect(page.locator("main")).to_be_focused()
    assert page.evaluate("scrollY") == 0
    assert page.locator(".card .title").all_inner_texts() != first
    page.get_by_role("link", name="Previous").click()
    expect(page.locator(".card .rank").first).to_have_text("1")
    page.go_back()
    expect(page.locator(".card .rank").first).to_have_text("11")
    page.go_back()
    expect(page.locator(".card .rank").first).to_have_text("1")


def test_going_back_leads_from_query_to_query_and_not_through_every_letter(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water")
    for part in ("elep", "elephant", "elephant food"):
        with page.expect_response(lambda response: "/api/v1/search" in response.url):
            page.locator("#query").fill(part)  # and a pause
    page.keyboard.press("Enter")
    expect(page).to_have_title("elephant food · isogloss")
    page.go_back()
    expect(page.locator("#query")).to_have_value("water")
    expect(page).to_have_title("water · isogloss")
    page.go_back()
    expect(page.locator(".welcome")).to_be_visible()
    expect(page.locator("#query")).to_have_value("")
    page.go_forward()
    page.go_forward()
    expect(page.locator("#query")).to_have_value("elephant food")


def test_a_new_question_starts_at_its_first_page(demo_site, open_page, ask):
    page = open_page(f"{demo_site}?q=water&offset=10")
    ask(page, "water animal")
    expect(page.locator(".card .rank").first).to_have_text("1")
    assert "offset" not in asked_for(page)


def test_the_wordmark_and_the_cross_lead_to_an_empty_box(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water")
    page.get_by_role("button", name="Clear the query").click()
    expect(page.locator(".welcome")).to_be_visible()
    expect(page.locator("#query")).to_be_focused()
    ask(page, "water")
    page.get_by_role("link", name="isogloss").click()
    expect(page.locator(".welcome")).to_be_visible()
    expect(page.locator("#query")).to_have_value("")


def test_letters_that_are_being_composed_are_not_searched_yet(demo_site, open_page):
    page = open_page(demo_site)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#query").evaluate(
        """box => {
            box.value = "wa";
            box.dispatchEvent(new InputEvent("input", {isComposing: true, bubbles: true}));
        }"""
    )
    page.locator("#query").evaluate(
        """box => {
            box.value = "water";
            box.dispatchEvent(new CompositionEvent("compositionend", {bubbles: true}));
        }"""
    )
    expect(page.locator(".card").first).to_be_visible()
    assert [parse_qs(urlsplit(url).query)["q"] for url in asked if "/search" in url] == [["water"]]


def test_only_the_last_of_two_questions_is_answered(demo_site, open_page):
    page = open_page(demo_site)
    slow = []
    page.route("**/api/v1/search?q=water&*", lambda route: slow.append(route.request.url))  # never answered
    page.locator("#query").fill("water")
    page.keyboard.press("Enter")
    page.wait_for_selector("main[aria-busy]")
    page.locator("#query").fill("elephant")
    page.keyboard.press("Enter")
    expect(page.locator(".card").first).to_be_visible()
    expect(page).to_have_title("elephant · isogloss")
    assert len(slow) == 1


def test_many_languages_are_folded_away_until_they_are_wanted(demo_site, open_page):
    page = open_page(demo_site)
    status = page.request.get(f"{demo_site}api/v1/status").json()
    status["index"]["documents"] |= dict.fromkeys(["ar", "de", "he", "it", "ja", "pt", "tl"], 5)
    many = page.context.new_page()
    body = json.dumps(status)
    many.route("**/api/v1/status", lambda route: route.fulfill(body=body, content_type="application/json"))
    many.goto(demo_site)
    expect(many.get_by_label("Hebrew")).to_be_hidden()
    many.get_by_text("All 11 languages").click()
    many.get_by_label("French").check()
    expect(many.get_by_text("1 language", exact=True)).to_be_visible()
    expect(many.get_by_label("French")).to_be_focused()
    expect(many.get_by_label("Hebrew")).to_be_visible()


def test_facets_count_and_narrow(manuals_site, open_page, ask):
    page = open_page(manuals_site)
    ask(page, "salt")
    facets = page.get_by_role("navigation", name="Narrow the results")
    assert facets.locator("dt").all_inner_texts() == ["kind", "year"]  # nothing has the third
    choices = facets.locator("dd").first.locator(".facet")
    expect(choices.first).to_contain_text("guide 3")
    expect(choices.last).to_be_hidden()
    facets.get_by_text("4 more").click()
    expect(choices.last).to_be_visible()
    choices.first.click()
    expect(page.locator(".card")).to_have_count(3)
    assert asked_for(page)["filter"] == ["kind:guide"]
    assert facets.locator("dt").all_inner_texts() == ["year"]  # a field has one value
    facets.get_by_role("link", name="2020").click()
    expect(page.locator(".card")).to_have_count(1)
    assert asked_for(page)["filter"] == ["kind:guide", "year:2020"]
    shared = open_page(page.url)
    expect(shared.locator(".card")).to_have_count(1)
    page.go_back()
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_role("link", name="Remove the filter kind:guide").click()
    expect(page.locator(".card")).to_have_count(10)


def answered(page, **changes):
    """Answer searches as the service does, with some values changed."""

    def handle(route):
        found = route.fetch(url=route.request.url.replace("&exact=true", "")).json()
        route.fulfill(body=json.dumps(found | changes), content_type="application/json")

    page.route("**/api/v1/search?*", handle)


def test_how_many_there_are_is_said(demo_site, open_page, ask):
    page = open_page(demo_site)
    answered(page, total=1234, total_is_exact=True)
    ask(page, "water")
    expect(page.get_by_role("status")).to_contain_text("Results 1 to 10 of 1,234")
    page.unroute("**/api/v1/search?*")
    answered(page, total=2000, total_is_exact=False)
    ask(page, "water animal")
    expect(page.get_by_role("status")).to_contain_text("Results 1 to 10 of at least 2,000")


def test_what_was_counted_is_said_where_it_is_not_all(manuals_site, open_page, ask):
    page = open_page(manuals_site)
    fields = {"kind": [{"value": "<b>x</b>", "count": 1000}]}
    answered(page, facets={"counted": 1000, "complete": False, "fields": fields})
    ask(page, "salt")
    expect(page.locator(".facets")).to_contain_text("Counted in the best 1,000 results; there are more.")
    expect(page.locator(".facet bdi")).to_have_text("<b>x</b>")


def test_a_mistyped_query_says_how_it_was_read_and_can_be_searched_as_it_is(demo_site, open_page, ask):
    page = open_page(demo_site)
    answered(page, corrected=[{"word": "water", "read_as": "waters"}], read_as="waters <b>")
    ask(page, "water")
    remark = page.locator(".remark").first
    expect(remark).to_have_text("Read as waters <b>. Search exactly for “water”.")
    page.unroute("**/api/v1/search?*")
    answered(page, corrected=[])
    remark.get_by_role("link").click()
    expect(page.get_by_text("exactly as it is typed")).to_be_visible()
    assert asked_for(page)["exact"] == ["1"]
    page.locator("#query").fill("elephant")
    page.keyboard.press("Enter")
    expect(page).to_have_title("elephant · isogloss")
    assert "exact" not in asked_for(page)  # it was about that query

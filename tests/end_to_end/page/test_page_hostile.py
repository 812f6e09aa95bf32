"""Documents and queries that would like to be more than text stay text."""

from __future__ import annotations

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
"""As in the documents of the fixture."""


def nothing_was_made_of_it(page):
    assert page.locator("#view img, #view script, #view iframe, #view style, #view b img").count() == 0
    assert page.locator("header img, header script").count() == 0
    assert "isogloss" in page.title()


def test_markup_in_documents_is_shown_as_it_is_written(own_site, open_page, ask):
    page = open_page(own_site)
    ask(page, "sea")
    hostile = page.locator(".card", has=page.locator(".title", has_text="<img"))
    expect(hostile.locator(".title")).to_have_text(HOSTILE)
    expect(hostile.locator(".passage")).to_contain_text(HOSTILE)
    hostile.locator(".toggle").click()
    expect(hostile.locator(".why .pairs")).to_be_visible()
    nothing_was_made_of_it(page)
    hostile.locator(".title").click()
    expect(page.locator(".document h2")).to_have_text(HOSTILE)
    expect(page.locator(".document .text")).to_contain_text(HOSTILE)
    expect(page.locator(".fields dt").first).to_have_text("<b>author</b>")
    expect(page.locator(".fields dd").first).to_have_text(HOSTILE)
    assert page.locator('a[href^="javascript:"]').count() == 0
    nothing_was_made_of_it(page)


def test_a_document_with_an_odd_id_is_found_by_its_address(own_site, open_page, ask):
    page = open_page(own_site)
    ask(page, "sea")
    page.locator(".title", has_text="<img").click()
    expect(page.locator(".document h2")).to_have_text(HOSTILE)
    again = open_page(page.url)
    expect(again.locator(".document h2")).to_have_text(HOSTILE)


@pytest.mark.parametrize(
    "query",
    [HOSTILE, "javascript:alert(1)", '"><svg onload=alert(1)>', "%3Cscript%3E", "sea\u202e\u2066 evil", "sea \x00\x07"],
)
def test_markup_in_queries_is_shown_as_it_is_written(own_site, open_page, ask, query):
    page = open_page(own_site)
    ask(page, query)
    nothing_was_made_of_it(page)
    again = open_page(page.url)
    nothing_was_made_of_it(again)
    assert again.locator("#query").input_value() == page.locator("#query").input_value()


def test_markup_in_every_other_part_of_the_address(own_site, open_page):
    odd = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    for address in (
        f"?q=sea&lang={odd}",
        f"?q=sea&query_lang={odd}",
        f"?q=sea&filter={odd}:{odd}",
        f"?language={odd}&id={odd}",
    ):
        page = open_page(own_site + address, failing=True)
        assert page.locator("#main").inner_text() != ""
        nothing_was_made_of_it(page)


def test_words_are_marked_beside_letters_beyond_the_first_plane(own_site, open_page, ask):
    page = open_page(own_site)
    ask(page, "sea")
    card = page.locator(".card", has=page.locator(".title", has_text="fr-3"))  # without a title the id stands for it
    assert card.locator(".passage mark").all_inner_texts() == ["Mer", "mer"]
    expect(card.locator(".passage")).to_contain_text("🌊𝒳")


def test_right_to_left_text_runs_from_the_right(own_site, open_page, ask):
    page = open_page(own_site)
    ask(page, "sea water")
    page.get_by_label("Arabic").check()
    card = page.locator(".card").first
    expect(card.locator(".language")).to_have_text("Arabic")
    passage = card.locator(".passage")
    expect(passage).to_have_attribute("lang", "ar")
    assert passage.evaluate("element => element.matches(':dir(rtl)')")
    assert card.locator(".meta").evaluate("element => element.matches(':dir(ltr)')")
    title, box = card.locator(".title").bounding_box(), card.bounding_box()
    assert title["x"] + title["width"] == pytest.approx(box["x"] + box["width"], abs=2)
    card.locator(".title").click()
    assert page.locator(".document .text p").evaluate("element => element.matches(':dir(rtl)')")


def test_the_page_is_served_with_a_policy_that_forbids_the_rest(own_site, open_page):
    page = open_page(own_site)
    policy = page.request.get(own_site).headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    html = page.request.get(own_site).text()
    assert "style=" not in html
    assert "<script>" not in html
    assert "http://" not in html
    assert "https://" not in html

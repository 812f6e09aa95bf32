"""A whole document: from a result and back, in other languages, with its fields."""

from __future__ import annotations

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def test_a_title_leads_to_the_text_and_back_to_where_one_was(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "water animal species")
    title = page.locator(".card .title").nth(6)
    name = title.inner_text()
    title.scroll_into_view_if_needed()
    scroll = page.evaluate("scrollY")
    assert scroll > 0
    title.click()
    heading = page.locator(".document h2")
    expect(heading).to_have_text(name)
    expect(heading).to_be_focused()
    assert page.evaluate("scrollY") == 0
    expect(page.locator(".document .text mark").first).to_be_visible()
    expect(page).to_have_title(f"{name} · isogloss")
    page.go_back()
    expect(page.locator(".card .title").nth(6)).to_be_focused()
    assert page.evaluate("scrollY") == scroll
    page.go_forward()
    expect(heading).to_have_text(name)
    page.get_by_role("link", name="← Results").click()
    expect(page.locator(".card .title").nth(6)).to_be_focused()
    expect(page.locator("#query")).to_have_value("water animal species")


def test_a_shared_document_has_a_way_to_the_results(demo_site, open_page):
    page = open_page(f"{demo_site}?q=elephant&language=fr&id=fr-elephant")
    expect(page.locator(".document h2")).to_have_text("Éléphant")
    page.get_by_role("link", name="← Results").click()
    expect(page.locator(".card").first).to_be_visible()


def test_the_same_page_in_other_languages(demo_site, open_page):
    page = open_page(f"{demo_site}?language=fr&id=fr-elephant")
    page.get_by_role("link", name="Spanish").click()
    expect(page.locator(".document h2")).to_have_text("Elefante")
    expect(page.locator(".document h2")).to_have_attribute("lang", "es")
    expect(page.get_by_role("link", name="Italian")).to_have_count(0)  # not in this index


def test_the_page_in_the_language_of_the_query_can_be_read(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "elephant trunk")
    page.locator(".twin-page a", has_text="Elephant").first.click()
    expect(page.locator(".document h2")).to_have_text("Elephant")
    assert {word.lower() for word in page.locator(".document mark").all_inner_texts()} == {"elephant", "trunk"}
    page.get_by_role("link", name="French").click()
    expect(page.locator(".document h2")).to_have_text("Éléphant")
    page.get_by_role("link", name="English").click()
    expect(page.locator(".document h2")).to_have_text("Elephant")


def test_the_original_is_one_click_away(own_site, open_page, ask):
    page = open_page(own_site)
    ask(page, "blue sea")
    original = page.locator('.card a[target="_blank"]')
    expect(original).to_have_count(1)  # only http, https and paths are followed
    expect(original).to_have_attribute("href", "https://example.org/mer")
    expect(original).to_contain_text("example.org/mer")
    expect(original).to_have_attribute("rel", "noopener noreferrer")
    page.get_by_role("link", name="La mer", exact=True).click()
    expect(page.get_by_role("link", name="example.org/mer")).to_have_attribute("href", "https://example.org/mer")
    expect(page.locator(".document .text p")).to_have_count(2)
    expect(page.locator(".document .text mark", has_text="bleue")).to_be_visible()


def test_a_field_narrows_the_search(own_site, open_page):
    page = open_page(f"{own_site}?q=sea&language=fr&id=fr-2")
    expect(page.locator(".fields")).to_contain_text("1998")
    with page.expect_request(lambda request: "filter=topic%3Awater" in request.url):
        page.get_by_role("link", name="water", exact=True).click()
    expect(page.get_by_role("link", name="Remove the filter topic:water")).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_role("link", name="Remove the filter topic:water").click()
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("#query")).to_have_value("sea")


def test_a_document_that_is_gone(demo_site, open_page):
    page = open_page(f"{demo_site}?q=water&language=fr&id=no-such", failing=True)
    expect(page.get_by_role("heading", name="There is no such document")).to_be_visible()


def test_headings_code_and_lists_are_kept(manuals_site, open_page):
    page = open_page(f"{manuals_site}?language=fr&id=guide%2Fsel.md")
    text = page.locator(".document .text")
    assert text.locator("h3, h4, h5, h6").evaluate_all("all => all.map(one => one.localName + one.textContent)") == [
        "h3Le sel gris", "h4Trop profond", "h3La fin",
    ]  # fmt: skip
    expect(text.locator("pre")).to_have_text("sel --gris --fort\n  # pas un titre")
    assert text.locator("ul li").all_inner_texts() == ["un grain de sel", "deux grains"]
    assert text.locator("ol li").all_inner_texts() == ["laver", "sécher"]
    assert text.locator("td").all_inner_texts() == ["fin", "petit grain", "gros", "grand grain"]
    expect(text.locator("p").last).to_contain_text("jamais fermé")  # what nothing ends is no code
    expect(text.locator(".here, mark")).to_have_count(0)  # there is no query
    expect(page.locator(".original")).to_have_text("File: guide/sel.md")


def test_a_document_opens_at_its_passage(manuals_site, open_page, ask):
    page = open_page(manuals_site)
    ask(page, "salt sea")
    expect(page.locator(".card .passage").first).to_contain_text("d'utile. · La fin · Ici le sel")
    page.locator(".title", has_text="Guide du sel").click()
    here = page.locator(".here", has_text="se retrouvent")
    expect(here).to_be_in_viewport()
    assert page.evaluate("scrollY") > 0
    expect(page.locator(".document h2")).to_be_focused()
    assert set(page.locator(".document mark").all_inner_texts()) == {"sel", "mer"}
    expect(page.locator("pre mark")).to_have_text("sel")
    page.evaluate("scrollTo(0, 0)")
    page.get_by_role("button", name="To the passage").click()
    expect(here).to_be_in_viewport()
    expect(here).to_be_focused()
    again = open_page(page.url)
    expect(again.locator(".here", has_text="se retrouvent")).to_be_in_viewport()


def test_paths_stand_beside_results_and_only_safe_ones_are_links(manuals_site, open_page, ask):
    page = open_page(manuals_site)
    ask(page, "salt sea")
    expect(page.locator(".card", has_text="Guide du sel").locator(".source")).to_have_text("guide/sel.md")
    page.goto(f"{manuals_site}?q=salt&filter=kind:kind+1")
    link = page.locator(".card").first.locator("a.source")
    assert link.get_attribute("href").startswith(f"{manuals_site}pages/")
    expect(link).to_contain_text("/pages/")
    page.goto(f"{manuals_site}?q=salt&filter=kind:guide")
    expect(page.locator(".card", has_text="Ailleurs").locator("span.source")).to_have_text("loin/q.md")
    expect(page.locator(".card", has_text="Barre").locator(".source")).to_have_count(0)
    expect(page.locator("a.source")).to_have_count(0)

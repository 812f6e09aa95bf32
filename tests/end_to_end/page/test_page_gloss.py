"""Glosses on the page: what a reader who does not know the language sees, and how it is switched."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe

PIECES = [
    {"text": "La", "gloss": ""},
    {"text": " "},
    {
        "text": "mémoire", "gloss": "memory", "match": True, "met": "memory",
        "meanings": [{"word": "memory", "probability": 0.81}, {"word": "storage", "probability": 0.07}],
    },
    {"text": " "},
    {"text": "du", "gloss": "of the", "meanings": [{"word": "of the", "probability": 0.9}]},
    {"text": " "},
    {"text": "zorglub", "unknown": True},
    {"text": "."},
]  # fmt: skip
HIT = {
    "rank": 1, "score": -1.5, "language": "fr", "id": "x", "title": "Mémoire", "url": "", "fields": {},
    "snippet": [
        {"text": "La ", "match": False}, {"text": "mémoire", "match": True}, {"text": " du zorglub.", "match": False},
    ],
    "relevance": "relevant", "reranked": False, "chance": 0.62, "bar": 0.62,
    "gloss": {
        "language": "en", "snippet": PIECES, "translation": None,
        "title": [{"text": "Mémoire", "gloss": "memory", "meanings": [{"word": "memory", "probability": 0.81}]}],
    },
    "twin": {"language": "en", "id": "en-x", "title": "Memory <b>", "url": ""},
}  # fmt: skip
PLAIN = {**HIT, "rank": 2, "id": "y", "language": "en", "title": "Storage", "gloss": None, "twin": None}
TRANSLATION = {"title": "The <i>memory</i>", "snippet": "A memory.", "by": "Apertium fra-eng"}
MACHINE = {
    **HIT, "rank": 3, "id": "z", "twin": None, "gloss": {**HIT["gloss"], "translation": TRANSLATION},
}  # fmt: skip
ANSWER = {
    "query": "memory", "query_language": "en", "expected_language": "en", "note": "", "languages": ["fr"], "offset": 0,
    "more": False, "hits": [HIT, PLAIN, MACHINE], "unknown_words": [], "translations": {}, "doubtful": False,
    "generation": 1, "milliseconds": 1.0, "gloss_note": "", "corrected": [], "read_as": "memory", "total": 3,
    "total_is_exact": True, "facets": None,
}  # fmt: skip


def answering(page, answer=ANSWER):
    body = json.dumps(answer)
    page.route("**/api/v1/search?*", lambda route: route.fulfill(body=body, content_type="application/json"))


@pytest.fixture
def page(demo_site, open_page, ask):
    opened = open_page(demo_site)
    answering(opened)
    ask(opened, "memory")
    return opened


def test_a_gloss_stands_under_title_and_passage_and_says_what_it_is(page):
    card = page.locator(".card").nth(0)
    expect(card.locator(".passage")).to_have_text("La mémoire du zorglub.")
    expect(card.locator(".gloss").nth(0)).to_contain_text("memory")
    gloss = card.locator(".gloss").nth(1)
    expect(gloss.locator(".tag")).to_contain_text("word for word")
    expect(gloss.locator(".words")).to_have_text("memory of the zorglub.")
    expect(gloss.locator(".words")).to_have_attribute("lang", "en")
    expect(gloss.locator("mark")).to_have_text("memory")
    expect(gloss.locator(".unknown")).to_have_attribute("lang", "fr")
    expect(page.locator(".card").nth(1).locator(".gloss")).to_have_count(0)


def test_a_translation_names_its_translator(page):
    machine = page.locator(".card").nth(2)
    expect(machine.locator(".gloss").nth(0)).to_contain_text("The <i>memory</i>")
    expect(machine.locator(".gloss").nth(1)).to_contain_text("translated by Apertium fra-eng")
    expect(machine.locator(".gloss").nth(1)).to_contain_text("A memory.")
    assert machine.locator("i").count() == machine.locator(".meter i").count()


def test_the_page_in_the_readers_language_is_named(page):
    link = page.locator(".card").nth(0).get_by_role("link", name="Memory <b>")
    expect(link).to_have_attribute("href", "?q=memory&language=en&id=en-x")


def test_one_key_switches_and_the_address_says_how(page):
    card = page.locator(".card").nth(0)
    card.locator(".title").focus()
    page.keyboard.press("g")
    expect(card.locator(".passage")).to_have_count(0)
    expect(card.locator(".title")).to_have_text("memory")
    expect(card.locator(".title")).to_have_attribute("lang", "en")
    expect(page.locator(".card").nth(1).locator(".passage")).to_be_visible()  # it has no gloss
    assert parse_qs(urlsplit(page.url).query)["gloss"] == ["gloss"]
    page.keyboard.press("g")
    expect(card.locator(".gloss")).to_have_count(0)
    expect(card.locator(".title")).to_have_text("Mémoire")
    expect(card.locator(".title")).to_be_focused()
    page.keyboard.press("g")
    expect(card.locator(".gloss")).to_have_count(2)
    assert "gloss" not in parse_qs(urlsplit(page.url).query)
    page.go_back()
    expect(card.locator(".gloss")).to_have_count(0)
    page.get_by_role("link", name="Gloss only").click()
    expect(page.get_by_role("link", name="Gloss only")).to_be_focused()
    expect(page.get_by_role("link", name="Gloss only")).to_have_attribute("aria-current", "true")


def test_what_was_open_stays_open(demo_site, open_page, ask):
    page = open_page(demo_site)
    answering(page, {**ANSWER, "hits": [HIT]})
    explained = {"explanation": [{"query_word": "memory", "document_words": ["mémoire"], "score": 1.0}]}
    page.route("**/explain?*", lambda route: route.fulfill(body=json.dumps(explained), content_type="application/json"))
    ask(page, "memory")
    page.locator(".toggle").click()
    expect(page.locator(".why .pairs")).to_be_visible()
    page.keyboard.press("g")
    expect(page.locator(".passage")).to_have_count(0)
    expect(page.locator(".why .pairs")).to_be_visible()


def test_a_word_tells_its_meanings_to_pointer_keyboard_and_screen_reader(page):
    tip = page.get_by_role("tooltip")
    words = page.locator(".card").nth(0).locator(".gloss").nth(1).locator(".word")
    expect(tip).to_be_hidden()
    words.nth(0).hover()
    expect(tip).to_contain_text("mémoire")
    expect(tip).to_contain_text("memory 81 %, storage 7 %")
    expect(tip).to_contain_text("met memory of the query")
    page.locator("#about").hover()
    expect(tip).to_be_hidden()
    words.nth(0).focus()
    expect(words.nth(0)).to_have_attribute("aria-describedby", "tip")
    page.keyboard.press("ArrowRight")
    expect(words.nth(1)).to_be_focused()
    expect(tip).to_contain_text("of the 90 %")
    page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text("no translation known")
    page.keyboard.press("ArrowRight")
    expect(words.nth(2)).to_be_focused()  # the last
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(page.locator("#query")).to_have_value("memory")
    stops = page.locator(".card").nth(0).locator('.word[tabindex="0"]')
    expect(stops).to_have_count(1)  # Tab comes back to this word
    expect(stops).to_have_text("zorglub")


def test_a_finger_shows_it_too(demo_site, open_page, ask):
    page = open_page(demo_site, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    answering(page)
    ask(page, "memory")
    page.locator(".gloss .word", has_text="memory").nth(1).tap()
    expect(page.get_by_role("tooltip")).to_contain_text("storage")
    box = page.get_by_role("tooltip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_a_chance_is_shown_and_no_score(page):
    meta = page.locator(".card").nth(0).locator(".meta")
    expect(meta).to_contain_text("62 %")
    expect(meta).not_to_contain_text("1.5")
    expect(meta.locator(".relevance")).to_have_attribute("title", "Estimated chance that this is relevant: 62 %")


def test_why_there_is_no_gloss_is_said_once(demo_site, open_page, ask):
    page = open_page(demo_site)
    answering(page, {**ANSWER, "hits": [PLAIN], "gloss_note": "nothing is known of words in 'sw'"})
    ask(page, "memory")
    expect(page.locator(".remark")).to_have_text("nothing is known of words in 'sw'")
    expect(page.locator(".modes")).to_have_count(0)


def test_a_whole_document_is_glossed_when_the_reader_asks(manuals_site, open_page):
    page = open_page(f"{manuals_site}?q=salt&language=fr&id=guide%2Fsel.md")
    text = page.locator(".document .text")
    expect(text.locator(".gloss")).to_have_count(0)
    page.keyboard.press("g")
    expect(text.locator("h3 + .gloss").first).to_contain_text("salt")
    expect(text.locator("li .gloss").first.locator(".words")).to_have_attribute("lang", "en")
    expect(text.locator("pre + .gloss")).to_have_count(0)  # code says itself
    expect(text.locator(".gloss .tag").locator("visible=true")).to_have_count(1)
    expect(text.locator(".gloss", has_text="##")).to_have_count(0)  # marks of headings are no words
    assert parse_qs(urlsplit(page.url).query)["glossed"] == ["1"]
    text.locator(".word", has_text="salt").first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("met salt of the query")
    text.locator('.word[tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    expect(text.locator(".word").nth(1)).to_be_focused()
    assert Axe().run(page).violations_count == 0
    page.get_by_role("link", name="Original only").click()
    expect(text.locator(".gloss")).to_have_count(0)
    expect(page.get_by_role("link", name="Original only")).to_be_focused()


def test_a_page_in_the_readers_language_offers_no_gloss(demo_site, open_page):
    page = open_page(f"{demo_site}?language=en&id=en-elephant")
    expect(page.locator(".document h2")).to_have_text("Elephant")
    expect(page.locator(".modes")).to_have_count(0)


def test_a_document_says_why_it_has_no_gloss(demo_site, open_page):
    document = {"id": "x", "lang": "fr", "title": "Mer", "text": "La mer.", "gloss_note": "nothing is known"}
    page = open_page(demo_site)
    page.route("**/documents/fr/x?*", lambda route: route.fulfill(body=json.dumps(document)))
    page.goto(f"{demo_site}?language=fr&id=x&glossed=1")
    expect(page.locator(".remark")).to_have_text("nothing is known")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_glosses_and_tips(demo_site, open_page, ask, scheme):
    page = open_page(demo_site, color_scheme=scheme, reduced_motion="reduce")
    answering(page)
    ask(page, "memory")
    page.locator(".gloss .word").first.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()

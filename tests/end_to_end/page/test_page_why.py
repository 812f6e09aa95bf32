"""Why a result was found: pairs of words that sum to the score."""

from __future__ import annotations

import json

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.index.making import make_index

expect = pytest.importorskip("playwright.sync_api").expect

HIT = {
    "rank": 1, "score": 1.0, "language": "fr", "id": "x", "title": "Titre", "url": "", "fields": {},
    "snippet": [{"text": "texte", "match": False}], "relevance": "partially relevant",
}  # fmt: skip
ANSWER = {
    "query": "q", "query_language": "en", "expected_language": "en", "note": "", "languages": ["fr"], "offset": 0,
    "more": False, "hits": [HIT], "unknown_words": [], "translations": {}, "generation": 1, "milliseconds": 1.0,
}  # fmt: skip


def number(text):
    return float(text.replace("−", "-"))


def answering(page, path, answer):
    body = json.dumps(answer)
    page.route(f"**/api/v1/{path}?*", lambda route: route.fulfill(body=body, content_type="application/json"))


@pytest.fixture(scope="module")
def network_site(tmp_path_factory, serve):
    """A system whose scores no formula takes apart."""
    pytest.importorskip("torch").set_num_threads(1)
    settings = {"dimension": "8", "hidden": "8", "outputs": "4", "epochs": "1", "dev_queries": "0"}
    settings |= {"query_vectors": "random", "document_vectors": "random"}
    folder = tmp_path_factory.mktemp("network")
    make_index(folder / "index", "dssm", open_source("demo"), ["fr"], settings=settings)
    with serve(folder / "index") as address:
        yield address


@pytest.mark.parametrize("site", ["demo_site", "network_site"])
def test_the_parts_sum_to_the_score(request, site, open_page, ask):
    page = open_page(request.getfixturevalue(site))
    ask(page, "water animal species food")
    card = page.locator(".card").first
    button = card.get_by_role("button", name="Why this?")
    expect(button).to_have_attribute("aria-expanded", "false")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    pairs = card.locator(".pairs")
    expect(pairs).to_be_visible()
    assert set(pairs.locator("tbody th").all_inner_texts()) <= {"water", "animal", "species", "food"}
    widths = [bar.bounding_box()["width"] for bar in pairs.locator(".bar").all()]
    assert widths == sorted(widths, reverse=True)
    table = card.locator(".numbers table")
    expect(table).to_be_hidden()
    card.get_by_text("In numbers").click()
    expect(table).to_be_visible()
    parts = [number(text) for text in table.locator("tbody .number").all_inner_texts()]
    total = number(table.locator("tfoot .number").inner_text())
    assert len(parts) > 1
    assert sum(parts) == pytest.approx(total, abs=0.001 * len(parts))
    asked = page.request.get(page.url.replace("/?", "/api/v1/search?")).json()
    assert total == pytest.approx(asked["hits"][0]["score"], abs=0.001)
    button.click()
    expect(pairs).to_be_hidden()


def test_it_is_fetched_once_and_only_when_it_is_opened(demo_site, open_page, ask):
    page = open_page(demo_site)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/explain" in request.url else None)
    ask(page, "water")
    assert asked == []
    button = page.locator(".toggle").first
    button.click()
    expect(page.locator(".why .pairs").first).to_be_visible()
    button.click()
    button.click()
    expect(page.locator(".why .pairs").first).to_be_visible()
    assert len(asked) == 1


def test_words_of_the_query_that_are_not_in_the_document_are_shown_with_their_translations(demo_site, open_page, ask):
    page = open_page(demo_site)
    ask(page, "elephant mountain")
    page.locator(".toggle").first.click()
    expect(page.locator(".why .absent").first).to_contain_text("Not in this document:")
    page.get_by_text("How the words were understood").click()
    expect(page.locator(".readings dd").first).to_contain_text("mountain →")


def test_what_single_words_do_not_explain_is_a_row_of_its_own(demo_site, open_page, ask):
    page = open_page(demo_site)
    reasons = [
        {"query_word": "sea", "document_words": ["mer", "Mer"], "score": 0.75},
        {"query_word": "salt", "document_words": ["sel"], "score": -0.25},
    ]
    answering(page, "search", ANSWER)
    answering(page, "explain", {"explanation": reasons, "total": 0.5, "translations": [], "unknown_words": []})
    ask(page, "sea salt")
    expect(page.locator(".relevance")).to_have_text("partially relevant")
    page.locator(".toggle").click()
    pairs = page.locator(".why .pairs tbody tr")
    expect(pairs).to_have_count(1)  # what speaks against a document is not drawn as a bar
    expect(pairs.nth(0)).to_contain_text("mer")
    expect(pairs.nth(0)).not_to_contain_text("Mer")
    expect(page.locator(".why > .fine")).to_have_text("Also counted: 1 word that fit badly.")
    page.get_by_text("In numbers").click()
    rows = page.locator(".numbers tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(1).locator(".number")).to_have_text("−0.250")
    expect(rows.nth(2)).to_contain_text("not by single words")
    expect(page.locator(".why tfoot .number")).to_have_text("1.000")


def test_many_words_are_folded_into_one_row(demo_site, open_page, ask):
    page = open_page(demo_site)
    reasons = [{"query_word": f"w{number}", "document_words": [f"m{number}"], "score": 0.05} for number in range(20)]
    answering(page, "search", ANSWER)
    answering(page, "explain", {"explanation": reasons, "total": 1.0, "translations": [], "unknown_words": []})
    ask(page, "many words")
    page.locator(".toggle").click()
    expect(page.locator(".pairs tbody tr")).to_have_count(12)
    expect(page.locator(".why > .fine")).to_have_text("Also counted: 8 more words.")
    page.get_by_text("In numbers").click()
    expect(page.locator(".numbers tbody tr")).to_have_count(13)
    expect(page.locator(".numbers tbody tr").last).to_contain_text("8 more")


def test_what_met_no_word_is_folded_into_one_line(demo_site, open_page, ask):
    page = open_page(demo_site)
    reasons = [
        {"query_word": "sea", "document_words": ["mer"], "score": 2.0},
        {"query_word": "(length)", "document_words": [], "score": -0.5},
        {"query_word": "(other words)", "document_words": [], "score": -0.5},
    ]
    answering(page, "search", ANSWER)
    answering(page, "explain", {"explanation": reasons, "translations": [], "unknown_words": []})
    ask(page, "the sea")
    page.locator(".toggle").click()
    expect(page.locator(".pairs tbody tr")).to_have_count(1)
    expect(page.locator(".why > .fine")).to_have_text("Also counted: length and other words.")
    page.get_by_text("In numbers").click()
    expect(page.locator(".numbers tfoot .number")).to_have_text("1.000")


def test_a_system_without_explanations_shows_a_remark(demo_site, open_page, ask):
    page = open_page(demo_site)
    answering(page, "search", ANSWER)
    answering(page, "explain", {"explanation": [], "total": 0.0, "translations": [], "unknown_words": []})
    ask(page, "anything")
    page.locator(".toggle").click()
    expect(page.locator(".why")).to_contain_text("cannot say")


def test_an_answer_that_did_not_come_is_fetched_again(demo_site, open_page, ask):
    page = open_page(demo_site, failing=True)
    ask(page, "water")
    page.route("**/api/v1/explain?*", lambda route: route.abort())
    button = page.locator(".toggle").first
    button.click()
    expect(page.locator(".why").first).to_contain_text("cannot be reached")
    page.unroute("**/api/v1/explain?*")
    button.click()
    button.click()
    expect(page.locator(".why .pairs").first).to_be_visible()


def test_a_re_ranked_hit_is_explained_by_the_re_ranker_which_is_named(demo_site, open_page, ask):
    page = open_page(demo_site)
    answering(page, "search", {**ANSWER, "hits": [{**HIT, "reranked": True}, {**HIT, "rank": 2, "reranked": False}]})
    reasons = [{"query_word": "sea", "document_words": ["mer"], "score": 1.0}]
    meanings = [{"word": "salt", "translations": ["sel"]}]
    answering(page, "explain", {"explanation": reasons, "system": "a-matcher", "translations": meanings})
    ask(page, "sea salt")
    cards = page.locator(".card")
    with page.expect_request(lambda request: "/explain" in request.url and "reranked=true" in request.url):
        cards.nth(0).locator(".toggle").click()
    why = cards.nth(0).locator(".why")
    expect(why).to_contain_text("The score is that of a-matcher, which put the first results in their order.")
    why.get_by_text("In numbers").click()
    expect(why.locator("tfoot .number")).to_have_text("1.000")
    expect(why.locator(".absent")).to_have_count(0)
    with page.expect_request(lambda request: "/explain" in request.url and "reranked" not in request.url):
        cards.nth(1).locator(".toggle").click()
    expect(cards.nth(1).locator(".why .pairs")).to_be_visible()
    expect(cards.nth(1).locator(".why")).not_to_contain_text("a-matcher")
    expect(cards.nth(1).locator(".absent")).to_contain_text("salt → sel")

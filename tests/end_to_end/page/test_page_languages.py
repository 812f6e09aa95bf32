"""The page over an index of several languages of documents and of queries."""

from __future__ import annotations

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.index.making import make_index

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def site(tmp_path_factory, serve):
    path = tmp_path_factory.mktemp("languages") / "index"
    make_index(path, "psq", open_source("demo"), ["es", "fr"], ["en", "fr"], settings={"lexicon": "induced"})
    with serve(path) as address:
        yield address


def test_the_page_says_what_the_index_holds_and_takes_and_how_it_ranks(site, open_page):
    page = open_page(site)
    expect(page.locator(".welcome")).to_contain_text("Ask in English or French. 208 documents in Spanish and French")
    expect(page.locator("#about")).to_contain_text(
        "208 documents in Spanish and French. Queries in English or French. "
        "Ranked by psq (BM25 over probabilistic structured queries)."
    )


def test_the_language_of_a_query_is_detected_or_chosen(site, open_page, ask):
    page = open_page(site)
    ask(page, "pourquoi un volcan entre en éruption")
    expect(page.locator("#from option:checked")).to_have_text("French (detected)")
    expect(page.locator(".card .language", has_text="Spanish").first).to_be_visible()
    expect(page.locator(".remark", has_text="looks like")).to_have_count(0)
    page.locator("#from").select_option("en")
    expect(page.locator(".remark", has_text="Not known")).to_be_visible()
    assert "query_lang=en" in page.url

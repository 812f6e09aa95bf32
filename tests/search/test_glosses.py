"""Glosses and twins of hits, from Python."""

import pytest

import isogloss
from isogloss.search import glosses as module
from isogloss.search.glosses import Glosses
from isogloss.search.snippets import snippet_of

PAGES = [
    {"id": "f1", "lang": "fr", "title": "La mer", "text": "La mer est salée.", "translations": {"en": "e1"}},
    {"id": "f2", "lang": "fr", "title": "Le vent", "text": "Le vent souffle sur la mer.", "translations": {"en": "no"}},
    {"id": "e1", "lang": "en", "title": "The sea", "text": "The sea is salty.", "url": "https://example.org/sea"},
]
LEXICON = {"sea": "mer", "salty": "salée", "wind": "vent", "the": ["la", "le"]}


@pytest.fixture(scope="module")
def index():
    return isogloss.Index.make(PAGES, "fr", system="bm25-dict", lexicon=LEXICON)


def test_hits_have_glosses_only_where_they_are_asked_for(index):
    assert all(hit.gloss is None and hit.twin is None for hit in index.search("salty sea"))
    first = index.search("salty sea", gloss=True)[0]
    assert first.gloss.title_text == "The sea"
    assert "sea" in first.gloss.snippet_text and "salty" in first.gloss.snippet_text
    assert "".join(piece.text for piece in first.gloss.snippet) == "La mer est salée."
    assert first.gloss.by == "word for word"
    met = {piece.text: piece.met for piece in first.gloss.snippet if piece.match}
    assert met == {"mer": "sea", "salée": "salty"}


def test_a_twin_is_the_stored_page_that_translates_the_hit(index):
    hits = {hit.document.id: hit for hit in index.search("wind on the salty sea", gloss=True)}
    twin = hits["f1"].twin
    assert (twin.language, twin.id, twin.title, twin.url) == ("en", "e1", "The sea", "https://example.org/sea")
    assert hits["f2"].twin is None, "the index does not keep the page"


def test_pages_that_are_paired_when_an_index_is_made_are_twins(tmp_path):
    for language, texts in {"fr": ("mer salée", "vent fort"), "en": ("salty sea", "strong wind")}.items():
        (tmp_path / language).mkdir()
        for name, text in zip(("sea.md", "wind.md"), texts, strict=True):
            body = f"# {text}\n\n{text} {text} {text}.\n"
            (tmp_path / language / name).write_text(body, encoding="utf-8")
    made = isogloss.Index.make(str(tmp_path / "fr"), "fr", translations=str(tmp_path / "en"), epochs=0)
    hit = made.search("salty sea", gloss=True)[0]
    assert (hit.document.id, hit.twin.id, hit.twin.title) == ("sea.md", "sea.md", "salty sea")
    assert "salty" in hit.gloss.snippet_text and "sea" in hit.gloss.snippet_text


def test_documents_in_the_language_of_the_reader_have_no_gloss_and_no_note(index):
    own = isogloss.Index.make(["the salty sea"], "en", system="bm25")
    assert own.search("sea", gloss=True)[0].gloss is None


def test_where_nothing_is_known_of_a_language_the_note_says_so_once():
    made = isogloss.Index.make(["bahari ina chumvi", "chumvi ya bahari"], "sw", system="bm25")
    searcher = made.searcher
    hits = searcher.search("bahari chumvi")
    glosses = Glosses(searcher)
    shown = [(hit, snippet_of(searcher, hit, lambda word: False)) for hit in hits]
    assert glosses.of("bahari", shown) == [None, None]
    assert glosses.note.startswith("no gloss of Swahili: ") and "isogloss languages sw" in glosses.note


def test_what_is_at_hand_glosses_for_a_system_that_translates_nothing(monkeypatch, tmp_path):
    (tmp_path / "en-sw.tsv").write_text("sea\tbahari\nsalt\tchumvi\n", encoding="utf-8")
    monkeypatch.setenv("ISOGLOSS_DICTIONARIES", str(tmp_path))
    module.glosser_at_hand.cache_clear()
    try:
        made = isogloss.Index.make(["bahari ina chumvi"], "sw", system="bm25")
        assert made.search("chumvi", gloss=True)[0].gloss.snippet_text == "sea ina salt"
    finally:
        module.glosser_at_hand.cache_clear()


def test_a_translator_that_fails_leaves_the_gloss_and_says_why(index):
    searcher = index.searcher
    glosses = Glosses(searcher, "ctranslate2:/no/such/model")
    hit = searcher.search("sea")[0]
    (gloss,) = glosses.of("sea", [(hit, snippet_of(searcher, hit, lambda word: False))])
    assert gloss.translation is None and gloss.snippet
    assert glosses.note.startswith("not translated: ") and "no model.bin" in glosses.note


def test_plain_values_leave_out_defaults(index):
    value = index.search("sea", gloss=True)[0].gloss.to_dict()
    assert value["language"] == "en" and value["translation"] is None
    words = [piece for piece in value["snippet"] if piece["text"] == "mer"]
    assert words[0]["gloss"] == "sea" and words[0]["met"] == "sea"
    assert {"text": " "} in value["snippet"]

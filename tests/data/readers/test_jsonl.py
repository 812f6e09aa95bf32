"""Pages as JSON lines: everything a page can say, its language, and what is wrong with it."""

from __future__ import annotations

import json

import pytest

from isogloss.data.dataset import load_collection
from isogloss.data.documents import Document
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_pages_bring_documents_queries_and_judgments(tiny, read, packed):
    data = read(tiny("jsonl", packed=packed))
    assert data.documents.ids == ["d1", "d2", "d3"]
    assert {query.id: query.text for query in data.queries.values()} == {"e1": "A purrs.", "e2": "is a drink."}
    assert set(data.judgments) == {("e1", "d1", 2), ("e1", "d2", 1), ("e2", "d2", 2), ("e2", "d1", 1)}
    assert data.judgments.top_grade == 2
    assert not data.problems.warnings


def test_a_page_keeps_all_it_says(put):
    page = {
        "id": 5, "lang": "fr", "title": "Thé", "text": "chaud", "url": "http://x/y", "links": [1, "b"],
        "translations": {"en": 7}, "fields": {"year": 1900, "queries": []},
    }  # fmt: skip
    source = open_source(f"jsonl:{put({'p.jsonl': json.dumps(page)}) / 'p.jsonl'}")
    assert list(load_collection(source, "fr")) == [
        Document("5", "chaud", "Thé", "fr", "http://x/y", ("1", "b"), {"en": "7"}, {"year": 1900, "queries": []})
    ]


def test_a_page_without_a_language_belongs_to_the_one_asked_for(put):
    lines = '{"id": "a", "text": "x"}\n{"id": "b", "text": "y", "lang": "it"}\n{"id": "c", "text": "z", "url": null}\n'
    source = open_source(f"jsonl:{put({'p.jsonl': lines}) / 'p.jsonl'}")
    assert load_collection(source, "fr").ids == ["a", "c"]
    assert load_collection(source, "it").ids == ["a", "b", "c"]


def test_a_language_without_pages_is_answered_with_the_languages_there_are(tiny, read):
    with pytest.raises(InputError, match=r"has no pages in 'zh'; languages here: en, fr"):
        read(tiny("jsonl"), "en-zh")


def test_a_collection_without_a_page_of_the_language_is_an_error(tiny):
    with pytest.raises(InputError, match=r"jsonl:.*: has no documents in 'zh'"):
        load_collection(open_source(tiny("jsonl")), "zh")


def test_languages_without_translations_are_answered_with_the_pairs_there_are(put, read):
    lines = "".join(f'{{"id": "{lang}", "lang": "{lang}", "text": "a b"}}\n' for lang in ("en", "fr"))
    with pytest.raises(InputError, match=r"no page in 'en' has a translation in 'fr'.*; pairs here: en-en, fr-fr$"):
        read(f"jsonl:{put({'p.jsonl': lines}) / 'p.jsonl'}")


def test_a_directory_or_nothing_instead_of_the_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"is a directory, a file is needed"):
        open_source(f"jsonl:{tmp_path}")
    with pytest.raises(InputError, match=r"none\.jsonl: no such file \(nor none\.jsonl\.gz\)"):
        open_source(f"jsonl:{tmp_path}/none.jsonl")


def test_an_id_names_one_page_whatever_its_language(tiny, gather):
    lines = (
        '{"id": "1", "lang": "en", "text": "One is odd.", "translations": {"fr": "2"}}\n'
        '{"id": "2", "lang": "fr", "text": "deux"}\n'
        '{"id": "1", "lang": "fr", "text": "un"}\n'
    )
    data = gather(tiny("jsonl", {"pages.jsonl": lines}))
    assert data.documents.ids == ["2"]
    assert data.queries["1"].text == "One is odd."
    assert [(p.location.line, p.kind) for p in data.problems.kept] == [(3, "duplicate document id")]

"""A service whose index takes queries in several languages, over documents that are in one of them."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")

from starlette.testclient import TestClient

from isogloss.data.readers.jsonl import Jsonl
from isogloss.index.making import make_index
from isogloss.server.app import Settings, make_app

SEARCH = "/api/v1/search"
PAGES = (
    {"id": "i1", "lang": "it", "text": "Il sale di mare."},
    {"id": "i2", "lang": "it", "text": "Mare, vento e sole."},
    {"id": "f1", "lang": "fr", "text": "Le sel de la mer vient de loin."},
)
LEXICONS = {"en-it": "salt\tsale\nsea\tmare\n", "fr-it": "sel\tsale\nmer\tmare\n", "en-fr": "salt\tsel\nsea\tmer\n"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES), encoding="utf-8")
    for pair, text in LEXICONS.items():
        (folder / f"{pair}.tsv").write_text(text, encoding="utf-8")
    settings = {"lexicon": str(folder / "{pair}.tsv")}
    make_index(folder / "index", "psq", Jsonl(str(folder / "pages.jsonl")), (), ["en", "fr"], settings=settings)
    with TestClient(make_app(Settings(folder / "index", log=False)), base_url="http://localhost") as client:
        yield client


def ids(answer):
    return {hit["id"] for hit in answer["hits"]}


def test_the_status_names_the_languages_of_queries_and_what_the_system_does(client):
    status = client.get("/api/v1/status").json()["index"]
    assert (status["query_languages"], status["documents"]) == (["en", "fr"], {"it": 2, "fr": 1})
    assert status["summary"] == "BM25 over probabilistic structured queries"
    assert (status["system"], status["systems"]) == ("psq", {"it": "psq", "fr": "psq"})


@pytest.mark.parametrize(
    ("query", "named", "language", "found"),
    [
        ("salt", "detect", "en", {"i1", "f1"}),
        ("sel", "detect", "fr", {"i1", "f1"}),
        ("salt", "fr", "fr", set()),
        ("sel de la mer", "fr", "fr", {"i1", "i2", "f1"}),
    ],
)
def test_a_query_is_searched_in_its_language(client, query, named, language, found):
    answer = client.get(SEARCH, params={"q": query, "query_lang": named, "exact": "true"}).json()
    assert (answer["query_language"], answer["expected_language"], answer["note"]) == (language, language, "")
    assert ids(answer) == found
    posted = client.post(SEARCH, json={"q": query, "query_language": named, "exact": True}).json()
    assert posted["hits"] == answer["hits"]


def test_a_language_that_the_index_does_not_take_is_noted(client):
    answer = client.get(SEARCH, params={"q": "salt", "query_lang": "de"}).json()
    assert (answer["query_language"], answer["expected_language"]) == ("de", "en")
    assert "'de'; the index expects queries in 'en' or 'fr'" in answer["note"]
    assert ids(answer) == {"i1", "f1"}


def test_each_query_of_a_batch_has_its_language_unless_one_is_named(client):
    answer = client.post(SEARCH, json={"queries": ["salt", "sel"]}).json()
    assert [ids(result) for result in answer["results"]] == [{"i1", "f1"}] * 2
    named = {"queries": ["salt", "sel"], "query_language": "fr", "exact": True}
    answer = client.post(SEARCH, json=named).json()
    assert [ids(result) for result in answer["results"]] == [set(), {"i1", "f1"}]
    refused = client.post(SEARCH, json={"queries": ["salt"], "query_language": "de"})
    assert refused.status_code == 422
    assert "'de' is not a language that this index takes queries in" in refused.json()["error"]["message"]


def test_an_explanation_is_that_of_the_system_for_the_pair(client):
    params = {"q": "sel", "language": "it", "id": "i1", "query_lang": "fr"}
    answer = client.get("/api/v1/explain", params=params).json()
    assert (answer["system"], answer["explanation"][0]["document_words"]) == ("psq", ["sale"])
    own = client.get("/api/v1/explain", params={**params, "language": "fr", "id": "f1"}).json()
    assert (own["system"], own["explanation"][0]["document_words"]) == ("bm25", ["sel"])
    assert client.get("/api/v1/explain", params={**params, "query_lang": "en"}).json()["explanation"] == []

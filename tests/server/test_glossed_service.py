"""Glosses and twins over HTTP."""

import json

import pytest

from isogloss.data.readers.jsonl import Jsonl
from isogloss.index.making import make_index
from isogloss.search.gloss import Gloss
from isogloss.search.glosses import MOST_GLOSSED
from isogloss.server.glossing import gloss_message
from isogloss.server.limits import cost_of
from isogloss.server.presenting import encoded
from isogloss.translation.glossing import Meaning, Piece

SEARCH = "/api/v1/search"
PAGES = (
    {"id": "f1", "lang": "fr", "title": "La mer", "text": "La mer est salée.", "translations": {"en": "e 1"}},
    {"id": "f2", "lang": "fr", "title": "<b>Vent</b>", "text": "Le vent sur la mer <i>salée</i>."},
    {"id": "e 1", "lang": "en", "title": "The sea", "text": "The sea is salty."},
)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glossed")
    pages, lexicon = folder / "pages.jsonl", folder / "words.tsv"
    pages.write_text("".join(json.dumps(page) + "\n" for page in PAGES), encoding="utf-8")
    lexicon.write_text("sea\tmer\nsalty\tsalée\nwind\tvent\nthe\tla\n", encoding="utf-8")
    make_index(folder / "index", "bm25-dict", Jsonl(str(pages)), ["fr"], settings={"lexicon": str(lexicon)})
    return folder / "index"


def answer(client, **parameters):
    got = client.get(SEARCH, params=parameters)
    assert got.status_code == 200, got.text
    return got.json()


def text_of(parts):
    return "".join(part["text"] for part in parts)


def test_a_gloss_comes_on_request_piece_by_piece(serving, index):
    client = serving(index)
    assert all("gloss" not in hit and "twin" not in hit for hit in answer(client, q="salty sea")["hits"])
    found = answer(client, q="salty sea", gloss="true")
    first = found["hits"][0]
    gloss = first["gloss"]
    assert (first["id"], gloss["language"], gloss["translation"], found["gloss_note"]) == ("f1", "en", None, "")
    assert text_of(gloss["snippet"]) == text_of(first["snippet"])
    assert text_of(gloss["title"]) == first["title"]
    marked = {piece["text"] for piece in gloss["snippet"] if piece.get("match")}
    assert marked == {part["text"] for part in first["snippet"] if part["match"]} == {"mer", "salée"}
    word = next(piece for piece in gloss["snippet"] if piece["text"] == "salée")
    assert (word["gloss"], word["met"]) == ("salty", "salty")
    assert word["meanings"] == [{"word": "salty", "probability": 1.0}]
    assert {"text": " "} in gloss["snippet"], "what has its default is left out"


def test_get_and_post_answer_alike(serving, index):
    client = serving(index)
    got = answer(client, q="wind", gloss="1")
    posted = client.post(SEARCH, json={"q": "wind", "gloss": True}).json()
    assert got["hits"] == posted["hits"] and got["hits"][0]["gloss"]


def test_a_twin_can_be_opened(serving, index):
    client = serving(index)
    twin = answer(client, q="salty sea", gloss="true")["hits"][0]["twin"]
    assert twin == {"language": "en", "id": "e 1", "title": "The sea", "url": ""}
    opened = client.get(f"/api/v1/documents/{twin['language']}/{twin['id']}")
    assert opened.status_code == 200 and opened.json()["text"] == "The sea is salty."
    assert client.get("/api/v1/documents/en/none").status_code == 404


def test_half_a_character_of_an_old_index_is_no_fault():
    made = gloss_message(Gloss("en", (), (Piece("vent\ud800", "wind", meanings=(Meaning("wind", 1.0),)),)))
    assert json.loads(encoded(made))["snippet"][0]["text"] == "vent\\ud800"


def test_a_failing_translator_leaves_the_glosses_and_a_note(serving, index):
    found = answer(serving(index, translator="ctranslate2:/no/such/model"), q="sea", gloss="true")
    assert found["gloss_note"].startswith("not translated: ")
    assert all(hit["gloss"]["snippet"] and hit["gloss"]["translation"] is None for hit in found["hits"])


def test_a_translation_stands_beside_the_gloss_and_says_by_what(serving, index, tmp_path, monkeypatch):
    command = tmp_path / "apertium"
    command.write_text('#!/bin/sh\nif [ "$1" = -l ]; then echo fra-eng; exit; fi\nexec tr a-z A-Z\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    first = answer(serving(index, translator="apertium:fra-eng"), q="salty sea", gloss="true")["hits"][0]
    assert first["gloss"]["translation"]["by"] == "Apertium fra-eng"
    assert first["gloss"]["translation"]["title"] == "LA MER"
    assert first["gloss"]["snippet"]


def test_glosses_cost_something_and_are_limited(serving, index):
    assert cost_of(["salt"], 10) < cost_of(["salt"], 10, glossed=10)
    refused = serving(index).get(SEARCH, params={"q": "sea", "k": 101, "gloss": "true"})
    assert refused.status_code == 422 and "gloss: at most 100" in refused.text


def opened(client, path, **parameters):
    got = client.get(f"/api/v1/documents/{path}", params=parameters)
    assert got.status_code == 200, got.text
    return got.json()


def test_a_whole_document_is_glossed_on_request(serving, index):
    client = serving(index)
    assert "gloss" not in opened(client, "fr/f2", q="wind")
    document = opened(client, "fr/f2", gloss="true", q="wind")
    gloss = document["gloss"]
    assert (gloss["language"], text_of(gloss["title"]), text_of(gloss["text"])) == (
        "en", document["title"], document["text"],
    )  # fmt: skip
    word = next(piece for piece in gloss["text"] if piece["text"] == "vent")
    assert (word["gloss"], word["met"]) == ("wind", "wind")
    title = opened(client, "fr/f1", gloss="true")["gloss"]["title"]
    assert (title[-1]["text"], title[-1]["gloss"]) == ("mer", "sea")


def test_of_a_long_document_the_beginning_is_glossed(serving, index):
    client = serving(index, token="secret")
    text = "La mer. " * 10_000
    headers = {"Authorization": "Bearer secret"}
    client.put("/api/v1/documents", json={"id": "long", "lang": "fr", "text": text}, headers=headers)
    document = opened(client, "fr/long", gloss="true")
    assert document["text"] == text
    assert text_of(document["gloss"]["text"]) == text[:MOST_GLOSSED]
    assert document["gloss_note"] == "the first 10,000 characters of this text have a gloss"
    assert client.delete("/api/v1/documents/fr/long", headers=headers).status_code == 200


def test_what_the_reader_can_read_has_no_gloss(serving, index):
    assert {"gloss", "gloss_note"}.isdisjoint(opened(serving(index), "en/e 1", gloss="true"))


def test_a_document_says_why_it_has_no_gloss(serving, index, monkeypatch):
    monkeypatch.setattr("isogloss.search.glosses.glosser_of", lambda searcher, language: None)
    document = opened(serving(index), "fr/f1", gloss="true")
    assert document["gloss_note"].startswith("no gloss of French: ") and "gloss" not in document


@pytest.mark.parametrize("parameters", [{"q": "x" * 5000}, {"gloss": "perhaps"}, {"glos": "true"}])
def test_wrong_parameters_of_a_document_are_refused(serving, index, parameters):
    assert serving(index).get("/api/v1/documents/fr/f1", params=parameters).status_code == 422

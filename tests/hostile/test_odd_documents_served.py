"""Documents with odd names and fields: refused on the way in, with their place; shown where they are there already."""

import json

import pytest

from isogloss.data.documents import Document
from isogloss.index.writer import IndexWriter

TOKEN = "a-token-of-tests-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
DOCUMENTS = "/api/v1/documents"
GOOD = {"id": "n1", "lang": "fr", "text": "Le vent et le phare."}


def nested(levels, value="x"):
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.fixture
def writable(serving, index):
    return serving(index, token=TOKEN)


def put(client, *documents):
    return client.put(DOCUMENTS, content=json.dumps({"documents": documents}).encode(), headers=BEARER)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "n\x00"},
        {"id": "a\nb"},
        {"id": "x" * 1_000_000},
        {"lang": "zz-nowhere"},
        {"lang": "../fr"},
        {"fields": nested(20)},
        {"fields": nested(700)},
        {"fields": {"n": 10**30}},
        {"fields": {"n": list(range(20_000))}},
        {"fields": {"k" * 2_000: 1}},
        {"links": ["x"] * 20_000},
        {"translations": {"en": 5}},
        {"title": "t" * 200_000},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_wrong_document_is_refused_with_its_place(writable, wrong):
    answer = put(writable, GOOD, {**GOOD, "id": "n2", **wrong})
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["message"].startswith("documents[1]")
    assert len(answer.text) < 1000
    assert writable.get(f"{DOCUMENTS}/fr/n1").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        (b'{"id": "n", "text": "x", "fields": {"n": NaN}}', 400, "the body is not JSON"),
        (b'{"id": "n", "text": "x", "fields": {"n": -Infinity}}', 400, "the body is not JSON"),
        (b'{"id": "n", "text": "x", "fields": {"n": 1e999}}', 422, "documents[0]: fields.n"),
        (b'{"id": "\\ud800", "text": "x"}', 400, "the body is not JSON"),
        (b'{"documents": [{"id": "n", "text": "x", "id": "m"}]}', 422, "documents[0].id"),
        (b'{"documents": [{"id": "n", "text": "x", "fields": {"a": 1, "a": 2}}]}', 422, "documents[0].fields.a"),
    ],
)
def test_json_that_means_no_document_is_refused(writable, body, status, place):
    answer = writable.put(DOCUMENTS, content=body, headers=BEARER)
    assert (answer.status_code, place in answer.json()["error"]["message"]) == (status, True), answer.text


def test_a_language_is_understood_however_it_is_written(writable):
    assert put(writable, {**GOOD, "lang": "FR"}).status_code == 200
    assert writable.get("/api/v1/status").json()["index"]["documents"] == {"fr": 5, "it": 2}
    assert writable.get(f"{DOCUMENTS}/fr/n1").status_code == 200


def test_of_documents_with_one_id_the_last_is_added_and_the_answer_says_so(writable):
    answer = put(writable, GOOD, {**GOOD, "text": "Du pain."}, {**GOOD, "id": "n2"}).json()
    assert (answer["added"], answer["repeated"]) == (2, 1)
    assert writable.get(f"{DOCUMENTS}/fr/n1").json()["text"] == "Du pain."
    assert "repeated" not in put(writable, GOOD).json()


@pytest.mark.parametrize(
    "fields",
    [{"x": ["\udc80"]}, {"\udc80": 1}, nested(300), nested(700), {"n": float("nan")}, {"n": 10**400}, {"a": [[1], ()]}],
    ids=["surrogate", "name", "deep", "deeper", "nan", "huge", "lists"],
)
def test_what_an_older_index_holds_is_shown(serving, index, monkeypatch, fields):
    monkeypatch.setattr("isogloss.index.writer.checked", lambda document, languages=(): document)
    with IndexWriter(index) as writer:
        writer.add([Document("odd\udc80", "Un phare \udc80 pour la mer.", "t\udc80", language="fr", fields=fields)])
        writer.commit()
    client = serving(index)
    for params in ({"q": "phare"}, {"q": "phare", "explain": "1"}, {"q": "sea", "k": "100"}):
        answer = client.get("/api/v1/search", params=params)
        assert answer.status_code == 200, answer.text
        assert "odd\\udc80" in [hit["id"] for hit in answer.json()["hits"]]
    assert client.post("/api/v1/search", json={"queries": ["phare"]}).status_code == 200


@pytest.mark.parametrize("fields", [nested(300), nested(700), {"n": float("nan")}], ids=["deep", "deeper", "nan"])
def test_an_older_document_is_given(serving, index, monkeypatch, fields):
    monkeypatch.setattr("isogloss.index.writer.checked", lambda document, languages=(): document)
    with IndexWriter(index) as writer:
        writer.add([Document("odd", "Un phare \udc80.", "t\udc80", language="fr", fields=fields)])
        writer.commit()
    client = serving(index)
    answer = client.get(f"{DOCUMENTS}/fr/odd")
    assert answer.status_code == 200, answer.text
    assert answer.json()["text"] == "Un phare \\udc80."
    explained = client.get("/api/v1/explain", params={"q": "phare", "language": "fr", "id": "odd"})
    assert explained.status_code == 200, explained.text


def test_long_titles_and_fields_are_cut_in_hits_and_whole_in_the_document(writable):
    fields = {"note": "n" * 50_000, "tags": ["étiquette"] * 5_000, "deep": nested(5)}
    many = [{**GOOD, "id": f"n{number}", "title": "t" * 50_000, "fields": fields} for number in range(5)]
    assert put(writable, *many).status_code == 200
    answer = writable.get("/api/v1/search", params={"q": "phare", "k": 1000})
    assert len(answer.json()["hits"]) == 5
    assert len(answer.content) < 100_000
    hit = answer.json()["hits"][0]
    assert (len(hit["title"]), len(hit["fields"]["note"])) == (1000, 1000)
    assert writable.get(f"{DOCUMENTS}/fr/n1").json()["fields"] == fields

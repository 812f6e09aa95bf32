"""Searching over HTTP."""

import pytest

SEARCH = "/api/v1/search"


def found(answer):
    assert answer.status_code == 200, answer.text
    return [hit["id"] for hit in answer.json()["hits"]]


def test_a_search_finds_ranks_and_shows(client):
    answer = client.get(SEARCH, params={"q": "salt and sea", "lang": "fr"}).json()
    assert [hit["id"] for hit in answer["hits"]] == ["f1", "f2", "f3"]
    first = answer["hits"][0]
    assert (first["rank"], first["language"], first["title"], first["fields"]) == (1, "fr", "Sel", {"topic": "water"})
    assert "".join(part["text"] for part in first["snippet"]) == "Le sel de la mer."
    assert [part["text"] for part in first["snippet"] if part["match"]] == ["sel", "mer"]
    assert "explanation" not in first
    assert answer["languages"] == ["fr"]
    assert (answer["expected_language"], answer["query_language"], answer["note"]) == ("en", "en", "")
    assert {"word": "sea", "translations": ["mer", "mare"]} in answer["translations"]["fr"]
    assert answer["unknown_words"] == ["and"] or answer["unknown_words"] == []


def test_reasons_come_on_request_and_sum_to_the_score(client):
    hits = client.get(SEARCH, params={"q": "salt and sea", "explain": "true"}).json()["hits"]
    assert hits
    for hit in hits:
        assert sum(reason["score"] for reason in hit["explanation"]) == pytest.approx(hit["score"], rel=1e-4)
    reasons = {(reason["query_word"], *reason["document_words"]) for reason in hits[0]["explanation"]}
    assert len(reasons) == 2


def test_get_and_post_answer_alike(client):
    got = client.get(SEARCH, params={"q": "wind", "k": 2, "lang": ["fr", "it"], "explain": "1"}).json()
    body = {"q": "wind", "k": 2, "languages": ["fr", "it"], "explain": True}
    posted = client.post(SEARCH, json=body).json()
    assert got.pop("milliseconds") >= 0
    assert posted.pop("milliseconds") >= 0
    assert got == posted


def test_pages_follow_each_other(client):
    whole = found(client.get(SEARCH, params={"q": "salt sea wind"}))
    assert len(whole) == 5
    pages, offset, more = [], 0, True
    while more:
        answer = client.get(SEARCH, params={"q": "salt sea wind", "k": 2, "offset": offset})
        hits = answer.json()["hits"]
        assert [hit["rank"] for hit in hits] == list(range(offset + 1, offset + 1 + len(hits)))
        pages += found(answer)
        offset, more = offset + 2, answer.json()["more"]
    assert pages == whole
    assert found(client.get(SEARCH, params={"q": "salt sea wind", "offset": 100})) == []


def test_the_values_of_a_field_are_counted_on_request(client):
    assert client.get(SEARCH, params={"q": "salt"}).json()["facets"] is None
    got = client.get(SEARCH, params={"q": "salt", "facet": ["topic", "none"]}).json()["facets"]
    topics = [{"value": "water", "count": 2}, {"value": "food", "count": 1}]
    assert got == {"counted": 4, "complete": True, "fields": {"topic": topics, "none": []}}
    body = {"q": "salt", "facets": ["topic"], "languages": ["it"]}
    assert client.post(SEARCH, json=body).json()["facets"]["fields"] == {"topic": [{"value": "water", "count": 1}]}
    assert client.get(SEARCH, params={"q": "salt", "facet": [str(n) for n in range(11)]}).status_code == 422


def test_a_filter_leaves_only_what_has_the_field(client):
    assert set(found(client.get(SEARCH, params={"q": "salt", "filter": "topic:water"}))) == {"f1", "i1"}
    assert found(client.post(SEARCH, json={"q": "salt", "filters": {"topic": "food"}})) == ["f3"]
    assert found(client.get(SEARCH, params={"q": "salt", "filter": "topic:none"})) == []


def test_a_batch_answers_each_query_as_it_would_alone(client):
    queries = ["salt", "wind", "nothing that is known", "sea"]
    answer = client.post(SEARCH, json={"queries": queries, "k": 3, "languages": ["fr"]}).json()
    assert [result["query"] for result in answer["results"]] == queries
    for result in answer["results"]:
        alone = client.get(SEARCH, params={"q": result["query"], "k": 3, "lang": "fr"}).json()
        assert [hit["id"] for hit in result["hits"]] == [hit["id"] for hit in alone["hits"]]
        scores = [hit["score"] for hit in alone["hits"]]
        assert [hit["score"] for hit in result["hits"]] == pytest.approx(scores, rel=1e-5)


def test_a_query_in_another_language_is_noticed(client):
    answer = client.get(SEARCH, params={"q": "pourquoi la mer est-elle salée et bleue"}).json()
    assert answer["query_language"] == "fr"
    assert "looks like a query in 'fr'" in answer["note"]
    told = client.get(SEARCH, params={"q": "pourquoi la mer est-elle salée et bleue", "query_lang": "en"}).json()
    assert (told["query_language"], told["note"]) == ("en", "")


def test_an_explanation_of_one_document(client):
    params = {"q": "salt and sea", "language": "fr", "id": "f1"}
    answer = client.get("/api/v1/explain", params=params).json()
    assert {reason["query_word"]: reason["document_words"] for reason in answer["explanation"]} == {
        "salt": ["sel"] if len(answer["explanation"][0]["document_words"]) == 1 else ["sel", "Sel"],
        "sea": ["mer"],
    }
    assert answer["score"] == pytest.approx(sum(reason["score"] for reason in answer["explanation"]))
    assert client.post("/api/v1/explain", json=params).json() == answer
    assert client.get("/api/v1/explain", params={**params, "id": "f9"}).status_code == 404


def test_a_document_is_got_by_its_id_whatever_that_holds(client):
    assert client.get("/api/v1/documents/fr/f2").json() == {
        "id": "f2", "lang": "fr", "title": "Vent", "text": "La mer et le vent.", "url": "https://example.org/vent"
    }  # fmt: skip
    odd = client.get("/api/v1/documents/fr/a%2Fb%3Fc%20d%C3%A9")
    assert odd.json()["title"] == "<b>Étoile</b>"
    assert odd.headers["content-type"] == "application/json"
    assert client.get("/api/v1/documents/it/f2").status_code == 404
    assert client.get("/api/v1/documents/xx/f2").status_code == 404


def test_two_indexes_are_compared(serving, made_index):
    client = serving(compare=made_index)
    assert client.get("/api/v1/status").json()["compare"]["system"] == "bm25-dict"
    hits = [client.get(SEARCH, params={"q": "salt", "index": which}).json()["hits"] for which in ("main", "compare")]
    assert hits[0] == hits[1]
    assert client.get("/api/v1/documents/fr/f1?index=compare").status_code == 200
    alone = serving()
    assert alone.get("/api/v1/status").json()["compare"] is None
    assert alone.get(SEARCH, params={"q": "salt", "index": "compare"}).status_code == 404


def test_the_status_says_what_there_is(client):
    status = client.get("/api/v1/status").json()
    assert status["index"]["documents"] == {"fr": 4, "it": 2}
    assert (status["index"]["system"], status["index"]["query_languages"]) == ("bm25-dict", ["en"])
    assert status["writable"] is False
    assert status["limits"]["k"] >= 100
    assert client.get("/api/v1/health").json() == {"live": True, "ready": True}

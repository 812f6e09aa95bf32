"""The service on an index whose documents are in an engine."""

import pytest
from tests.engines.inputs import few_pages
from tests.engines.kept import kept_engine

from isogloss.index.making import make_index

TOKEN = {"Authorization": "Bearer a-token-of-tests-0123456789"}


@pytest.fixture
def engine():
    with kept_engine() as engine:
        yield engine


@pytest.fixture
def service(tmp_path, engine, serving):
    url = f"kept:{tmp_path / 'kept'}?password=s3cret"
    index = tmp_path / "stored"
    make_index(index, "aligned", few_pages(tmp_path), ["fr", "sw"], settings={"dimension": "12"}, engine=url)
    return serving(index, token="a-token-of-tests-0123456789", log=False)


def ids(service, query, **parameters):
    answer = service.get("/api/v1/search", params={"q": query, **parameters})
    assert answer.status_code == 200, answer.text
    return [hit["id"] for hit in answer.json()["hits"]]


def test_it_searches_explains_and_gives_documents(service):
    answer = service.get("/api/v1/search", params={"q": "honey", "lang": "fr", "explain": "true"}).json()
    assert answer["hits"][0]["id"] in ("fr-honey", "fr-honeybee")
    assert answer["hits"][0]["explanation"][0]["query_word"] == "honey"
    explained = service.get("/api/v1/explain", params={"q": "honey", "language": "fr", "id": "fr-honey"}).json()
    assert explained["score"] != 0
    assert service.get("/api/v1/documents/sw/sw-tea").json()["lang"] == "sw"
    assert service.get("/api/v1/documents/sw/nobody").status_code == 404


def test_documents_are_put_and_deleted(service):
    page = {"id": "new", "text": "Le miel, le thé et le miel.", "lang": "fr", "fields": {"kind": "new"}}
    assert service.put("/api/v1/documents", json=page, headers=TOKEN).json() == {"added": 1, "generation": 2}
    assert ids(service, "honey", filter="kind:new") == ["new"]
    assert service.get("/api/v1/status").json()["index"]["documents"] == {"fr": 11, "sw": 10}
    assert service.delete("/api/v1/documents/fr/new", headers=TOKEN).json() == {"deleted": 1, "generation": 3}
    assert service.delete("/api/v1/documents/fr/new", headers=TOKEN).status_code == 404
    assert ids(service, "honey", filter="kind:new") == []


def test_an_engine_that_does_not_answer_is_not_the_fault_of_the_query(service, engine):
    engine.is_down = True
    answer = service.get("/api/v1/search", params={"q": "honey"})
    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == "the engine does not answer"


def test_the_address_of_the_engine_is_not_for_clients(service):
    answer = service.get("/api/v1/status")
    about = answer.json()["index"]["about"]
    assert about["engine"] == {"engine": "kept", "search": "exact"}
    assert "s3cret" not in answer.text
    assert "kept:" not in answer.text


def test_the_engine_is_closed_when_the_service_ends(tmp_path, engine, service):
    assert engine.open_now == 1
    service.__exit__(None, None, None)
    assert engine.open_now == 0

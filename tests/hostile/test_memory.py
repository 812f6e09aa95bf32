"""Bodies and answers that would take much memory are refused before they do."""

import json
import tracemalloc

import pytest

from isogloss.server.errors import Refusal
from isogloss.server.guard import Trace
from isogloss.server.json_bodies import decoded
from isogloss.server.limits import Limits
from isogloss.server.memory import MemoryBudget
from isogloss.server.models import JSON, LINES, document_body, search_body

TOKEN = "a-token-of-tests-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
DOCUMENTS = "/api/v1/documents"
SIZE = 6_000_000


@pytest.mark.parametrize(
    ("kind", "begin", "unit"),
    [
        (LINES, b"", b"{}\n"),
        (JSON, b'{"documents":[', b"{},"),
        (JSON, b'{"documents":[', b'{"id":"a"},'),
        (JSON, b"", b"["),
        (JSON, b"", b'{"a":'),
        (JSON, b'{"id":"x","text":"","fields":{"a":[', b"1,"),
        (JSON, b'{"id":"x","text":"","links":[', b'"a",'),
        (JSON, b'{"id":"x","text":"","fields":', b"[[],[],"),
        (JSON, b"", b'"\\"'),
        (JSON, b"", b"1"),
        (LINES, b"", b"\n"),
        (LINES, b"", b"\x00"),
    ],
)
def test_a_body_is_refused_within_a_fraction_of_its_size(monkeypatch, kind, begin, unit):
    monkeypatch.setattr("isogloss.server.models._MOST_OF_DOCUMENTS", 20_000)
    body = bytearray(begin + unit * (SIZE // len(unit)))
    tracemalloc.start()
    with pytest.raises(Refusal) as refused:
        document_body(body, kind)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused.value.status_code in (400, 413, 422)
    assert peak < 1.5 * SIZE


def test_a_search_has_few_values():
    with pytest.raises(Refusal, match="more than 10000 strings"):
        search_body(json.dumps({"queries": ["salt"] * 20_000}).encode())
    assert search_body(json.dumps({"queries": ["salt, [or] {sea}" * 50] * 256}).encode()).queries[0].startswith("salt")


@pytest.mark.parametrize(
    "text", ['[1, "a\\"b,[", {"x": {"y": []}}]', '"{"', "3", '{"a": "\\\\"}', '{"a": {"a": 1}, "b": 2}']
)
def test_what_is_json_is_decoded(text):
    assert decoded(text.encode(), 100) == json.loads(text)


def test_large_bodies_and_answers_have_a_budget_together():
    budget, first, second = MemoryBudget(100), Trace("1"), Trace("2")
    budget.take(first, 90)
    with pytest.raises(Refusal) as refused:
        budget.take(second, 20)
    assert refused.value.status_code == 503
    budget.release(second)
    budget.release(first)
    budget.take(second, 120)  # alone, whatever it takes
    budget.release(second)
    budget.take(first, 100)


def test_what_a_request_holds_is_released_when_it_is_answered(serving, index):
    client = serving(index, token=TOKEN, limits=Limits(held_bytes=1_000_000))
    document = {"id": "large", "lang": "fr", "text": "Le vent souffle. " * 50_000}
    for _ in range(3):
        assert client.put(DOCUMENTS, json=document, headers=BEARER).status_code == 200
        assert len(client.get(f"{DOCUMENTS}/fr/large").content) > 800_000
        assert client.head(f"{DOCUMENTS}/fr/large").content == b""
        assert client.put(DOCUMENTS, content=b"[" * 900_000, headers=BEARER).status_code == 422
    memory = client.app.state.backend.memory
    other = Trace("other")
    memory.take(other, 900_000)
    assert client.get(f"{DOCUMENTS}/fr/large").status_code == 503
    assert client.put(DOCUMENTS, json=document, headers=BEARER).status_code == 503
    assert client.get("/api/v1/search", params={"q": "wind"}).status_code == 200
    memory.release(other)
    assert client.get(f"{DOCUMENTS}/fr/large").status_code == 200


def test_an_encoded_body_is_not_unpacked(serving, index):
    client = serving(index, token=TOKEN)
    answer = client.put(DOCUMENTS, content=b"\x1f\x8b" + b"\0" * 100, headers={**BEARER, "Content-Encoding": "gzip"})
    assert (answer.status_code, "Content-Encoding" in answer.json()["error"]["message"]) == (415, True)
